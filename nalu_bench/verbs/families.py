"""Names that begin alike, folded into families, so that a list of many fits on a page."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Family:
    """Names with the same first part.

    Attributes:
        first: that part. sign: what follows it. members: the names; the first part may be one of them.
    """

    first: str
    sign: str
    members: Sequence[str]

    @property
    def pattern(self) -> str:
        """All of them in a word or two: `image_*`, or `nac, nac_*`."""
        rest = f"{self.first}{self.sign}*"
        return f"{self.first}, {rest}" if self.first in self.members else rest


def folded(names: Collection[str], fewest: int) -> tuple[list[str], list[Family]]:
    """The names that stand for themselves, and the families of at least so many.

    >>> alone, families = folded(["mlp", "nac", "nac_mul", "nac_mul_nmu", "rnn_nac"], 3)
    >>> alone, [family.pattern for family in families]
    (['mlp', 'rnn_nac'], ['nac, nac_*'])
    """
    families = [
        Family(first, sign, [name for name in names if name == first or name.startswith(f"{first}{sign}")])
        for first, sign in dict.fromkeys(map(_beginning, names))
        if sign
    ]
    families = [family for family in families if len(family.members) >= fewest]
    within = {name for family in families for name in family.members}
    return [name for name in names if name not in within], families


def _beginning(name: str) -> tuple[str, str]:
    """The first part of a name and the sign behind it: of a paper's table the paper, else up to the first `_`."""
    first, sign, _ = name.partition("/" if "/" in name else "_")
    return first, sign
