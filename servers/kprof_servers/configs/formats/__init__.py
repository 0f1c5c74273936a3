"""The readers. A format is one file here; the folder is the registry."""

from functools import lru_cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from kprof_servers.configs.formats.interface import ConfigFormat


@lru_cache(maxsize=1)
def formats() -> "tuple[ConfigFormat, ...]":
    """One instance of each format, those that are the pickiest about a name first."""
    from importlib import import_module
    from pkgutil import iter_modules

    from kprof_servers.configs.formats.interface import ConfigFormat

    for module in iter_modules(__path__, prefix=f"{__name__}."):
        import_module(module.name)
    return tuple(sorted((cls() for cls in ConfigFormat.__subclasses__()), key=lambda f: f.order))
