"""Templates of programs: expressions of letters, +, - and one conditional, read token by token.

A template such as `(c if a < b else d)` stands for all programs with integers in place of its letters. Its value is

    t = y·n  if  l·n < r·n  else  z·n

for the integers n in the order in which they are read, with coefficients in y, z, l and r. A sum without a condition
has l = r = 0, and is z·n.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from nalu_bench.errors import UsageError

OPERATORS = ("+", "-", "if", "<", ">", "else")
"""The tokens that are no integers, in the order of their indicators."""

MOST_TOKENS = 9
"""The longest program has so many tokens."""

ALLOWED = "letters, +, -, parentheses and one `x if y < z else w`, such as '(c if a < b else d)'"

Sum = dict[str, int]
"""Letter -> its coefficient."""


@dataclass(frozen=True)
class Template:
    """A program with letters in place of integers.

    Attributes:
        text: as it is written, a Python expression.
        tokens: its letters and operators in the order in which they are read; parentheses are not read.
        letters: its letters in the same order.
        coefficients: (4, letters): the rows y, z, l and r of the value.
    """

    text: str
    tokens: tuple[str, ...]
    letters: tuple[str, ...]
    coefficients: np.ndarray

    def rendered(self, integers: Iterable[int]) -> str:
        """The text of the program with these integers, one for each letter in the order in which they are read.

        >>> parse("(c if a < b else d)").rendered([5, 1, 2, 7])
        '(5 if 1 < 2 else 7)'
        """
        given = dict(zip(self.letters, integers, strict=True))
        return re.sub(r"\b[a-z]\b", lambda letter: str(given[letter.group()]), self.text)

    def reading(self) -> tuple[str, ...]:
        """What a reader sees of all its programs: `n` for every integer, and the operators."""
        return tuple(token if token in OPERATORS else "n" for token in self.tokens)


@dataclass(frozen=True)
class _Value:
    """`yes` if the sum left < right, else `no`; without a condition both are one sum."""

    yes: Sum
    no: Sum
    test: tuple[Sum, Sum] | None = None


def parse(text: str) -> Template:
    """The template of an expression.

    Raises:
        UsageError if it is no expression of letters, +, - and at most one conditional, if it has no operator or more
            than nine tokens, and if a letter comes twice.
    """
    tokens = tuple(token for token in re.findall(r"\w+|[^\s\w]", text) if token not in "()")
    if len(tokens) > MOST_TOKENS:
        raise UsageError(f"a template must have at most {MOST_TOKENS} tokens, got {len(tokens)} in {text!r:.60}.")
    try:
        value = _value(ast.parse(text, mode="eval").body, text)
    except SyntaxError:  # also for parentheses that are nested deeply
        raise _refused(text) from None
    letters = tuple(token for token in tokens if token not in OPERATORS)
    if len(letters) == len(tokens):
        raise UsageError(f"a template must have an operator ({', '.join(OPERATORS)}), got {text!r}.")
    if len({*letters}) < len(letters):
        raise UsageError(f"every letter of a template must stand for an integer of its own, got {text!r}.")
    left, right = value.test or ({}, {})
    rows = [[sum_.get(letter, 0) for letter in letters] for sum_ in (value.yes, value.no, left, right)]
    return Template(text, tokens, letters, np.array(rows, np.float32))


def check_readings(templates: Iterable[Template]) -> None:
    """Raise UsageError for two templates that a reader cannot tell apart, because parentheses are not read."""
    seen: dict[tuple[str, ...], str] = {}
    for template in templates:
        other = seen.setdefault(template.reading(), template.text)
        if other != template.text:
            raise UsageError(
                f"templates must differ in what is read of them, without parentheses, and {other!r} and "
                f"{template.text!r} do not; leave one of them out."
            )


def grouped(groups: Iterable[Iterable[str]]) -> list[tuple[Template, float]]:
    """Every template with its probability: a group is as likely as another, and so are the templates of one group."""
    parsed = [[parse(text) for text in texts] for texts in groups]
    return [(template, 1 / len(parsed) / len(group)) for group in parsed for template in group]


def _value(node: ast.expr, text: str) -> _Value:
    """The value of an expression."""
    if isinstance(node, ast.Name) and re.fullmatch("[a-z]", node.id):
        return _Value({node.id: 1}, {node.id: 1})
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add | ast.Sub):
        one, other = _value(node.left, text), _value(node.right, text)
        if one.test and other.test:
            raise _refused(text)
        sign = 1 if isinstance(node.op, ast.Add) else -1
        return _Value(_added(one.yes, other.yes, sign), _added(one.no, other.no, sign), one.test or other.test)
    if isinstance(node, ast.IfExp) and isinstance(node.test, ast.Compare) and len(node.test.ops) == 1:
        sides = [_plain(side, text) for side in (node.test.left, node.test.comparators[0])]
        if isinstance(node.test.ops[0], ast.Gt):
            sides.reverse()
        elif not isinstance(node.test.ops[0], ast.Lt):
            raise _refused(text)
        return _Value(_plain(node.body, text), _plain(node.orelse, text), (sides[0], sides[1]))
    raise _refused(text)


def _plain(node: ast.expr, text: str) -> Sum:
    """The value of an expression without a condition."""
    value = _value(node, text)
    if value.test:
        raise _refused(text)
    return value.no


def _added(one: Sum, other: Sum, sign: int) -> Sum:
    return {letter: one.get(letter, 0) + sign * other.get(letter, 0) for letter in one | other}


def _refused(text: str) -> UsageError:
    return UsageError(f"a template must be made of {ALLOWED}, got {text!r}.")
