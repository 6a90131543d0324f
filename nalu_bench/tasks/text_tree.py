"""Texts as a tree of their prefixes, so that what several texts begin with is read once."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Level:
    """All different prefixes of one length.

    Attributes:
        tokens: the last token of every prefix.
        parents: the place of the prefix without it, in the level before; 0 in the first level.
        ends: the number of prefixes that are whole texts. They come first.
    """

    tokens: Sequence[int]
    parents: Sequence[int]
    ends: int


def tree(tokens: np.ndarray, absent: int) -> tuple[list[Level], np.ndarray]:
    """The levels of different texts, and the order of the texts in it: level by level, as their ends come.

    Args:
        tokens: (texts, length), filled up with `absent`.

    >>> levels, order = tree(np.array([[4, 5], [4, -1], [6, 5]]), -1)
    >>> [(level.tokens, level.parents, level.ends) for level in levels], order.tolist()
    ([([4, 6], [0, 0], 1), ([5, 5], [0, 1], 2)], [1, 0, 2])
    """
    texts = {tuple(int(token) for token in row if token != absent): place for place, row in enumerate(tokens)}
    levels, order = list[Level](), list[int]()
    before: list[tuple[int, ...]] = [()]
    for length in range(1, max(map(len, texts)) + 1):
        prefixes = dict.fromkeys(text[:length] for text in texts if len(text) >= length)
        here = sorted(prefixes, key=lambda prefix: prefix not in texts)  # whole texts first, else as they come
        ends = [texts[prefix] for prefix in here if prefix in texts]
        parents = {prefix: place for place, prefix in enumerate(before)}
        levels.append(Level([prefix[-1] for prefix in here], [parents[prefix[:-1]] for prefix in here], len(ends)))
        order += ends
        before = here
    return levels, np.array(order)
