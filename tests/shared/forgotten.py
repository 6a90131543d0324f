"""What a process keeps of files and packages for its life, forgotten, so that a test can bring others."""

import functools

from nalu_bench import registry
from nalu_bench.plan import config_groups, configuration, folders, unit_files
from nalu_bench.registry import Registry

CACHES = (
    config_groups._composed, config_groups.with_units, config_groups._register_schemas, configuration._keys_of,
    folders.installed, folders._refuse_one_name, folders.values, unit_files._read,
)  # fmt: skip


def forget() -> None:
    """Empty the caches of names, files and schemas."""
    kept = [name for name, value in vars(Registry).items() if isinstance(value, functools.cached_property)]
    for kind in vars(registry).values():
        if isinstance(kind, Registry):
            for name in kept:
                vars(kind).pop(name, None)
    for cache in CACHES:
        cache.cache_clear()
