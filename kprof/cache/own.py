"""Hash kprof's own files for the keys of results that kprof computes, so another version of kprof never finds them."""

import sys
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from kprof.cache.content import of_folders
from kprof.cache.keys import key


def derived_key(*parts: Any) -> str:
    """Return a key for a result that depends on ``parts`` and on all files of kprof and its plug-ins."""
    return key(of_kprof(), sys.implementation.name, list(sys.version_info), *parts)


@cache
def of_kprof() -> str:
    """Return the SHA-256 of all files of kprof, its analyzers and its plug-ins.

    Computed once per process, because loaded modules do not change.
    """
    from kprof.analysis import providers
    from kprof.plug_ins import packages

    return key(of_package(), [[module, of_folders(_places(module))] for module in (*providers(), *packages())])


@cache
def of_package(*parts: str) -> str:
    """Return the SHA-256 of all files of kprof, or of some of its subpackages and modules."""
    package = Path(__file__).parent.parent
    return of_folders([package / name for name in parts] or [package])


def _places(module: str) -> list[Path]:
    """Return the location of the files of a module's distribution: its top-level package, or its only file."""
    top, *rest = module.partition(":")[0].split(".")
    try:
        spec = find_spec(top)
    except (ImportError, ValueError):
        return []
    if spec is None:
        return []
    if spec.origin is not None:
        origin = Path(spec.origin)
        return [origin.parent if spec.submodule_search_locations is not None else origin]
    return [_first_package(Path(folder), rest) for folder in spec.submodule_search_locations or ()]


def _first_package(folder: Path, names: list[str]) -> Path:
    """Return the first regular package below a namespace folder, which may also contain other distributions."""
    for name in names:
        if (folder / "__init__.py").is_file():
            break
        folder /= name
    single = folder.with_name(f"{folder.name}.py")
    return single if single.is_file() else folder
