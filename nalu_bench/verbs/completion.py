"""What a shell may complete: names of configurations, experiments and keys."""

from typing import Any


def overrides(prefix: str, **_: Any) -> list[str]:
    """The words that may follow a verb, for argcomplete: `model=nmu`, `madsen2020/table1`, `seeds=`."""
    from nalu_bench.plan import experiment, folders

    group, sign, _value = prefix.partition("=")
    if sign:
        return [f"{group}={name}" for name in names(group)]
    return [*(f"{key}=" for key in (*folders.GROUPS, "unit", "experiment", "seeds", "first_seed")), *experiment.names()]


def names(group: str) -> list[str]:
    """The names that a group offers; none for a key that is no group."""
    from nalu_bench.plan import experiment, folders

    if group == "experiment":
        return experiment.names()
    return list(folders.files(group)) if group in (*folders.GROUPS, "unit") else []
