"""Registry of the readers. Each format is one file in this package."""

from functools import lru_cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from kprof_servers.configs.formats.interface import ConfigFormat


@lru_cache(maxsize=1)
def formats() -> "tuple[ConfigFormat, ...]":
    """Return one instance of each format, ordered from the strictest file name pattern to the loosest."""
    from importlib import import_module
    from pkgutil import iter_modules

    from kprof_servers.configs.formats.interface import ConfigFormat

    for module in iter_modules(__path__, prefix=f"{__name__}."):
        import_module(module.name)
    return tuple(sorted((cls() for cls in ConfigFormat.__subclasses__()), key=lambda f: f.order))
