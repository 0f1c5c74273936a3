"""The formulas of an architecture, from the files in ``formulas/``."""

import sys
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from kprof.errors import InputError
from kprof_analyzers.profiles.counters import formula_language

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

_FOLDER = Path(__file__).parent / "formulas"


@dataclass(frozen=True)
class Formula:
    """How a metric is computed.

    Attributes:
        id: stable name.
        title: for people.
        group: heading under which it is shown.
        unit: of the result.
        formulas: the preferred one first; the next ones need other counters.
        source: where the formula is published.
        bounds: a value outside is flagged.
        at_most: constant of the GPU that the value cannot exceed.
        note: what to keep in mind.
        alternative_note: what is different when not the first formula is used.
    """

    id: str
    title: str
    group: str
    unit: str
    formulas: tuple[str, ...]
    source: str
    bounds: tuple[float, float] | None = None
    at_most: str = ""
    note: str = ""
    alternative_note: str = ""


@cache
def formulas_of(arch: str) -> dict[str, Formula]:
    """Every formula of an architecture by id.

    Raises:
        KprofError: there is no file for it, or the file is wrong.
    """
    for path in sorted(_FOLDER.glob("*.toml")):
        content = _load(path)
        if arch in content.get("archs", []):
            return _complete(content, str(content.get("ea", "")))
    known = ", ".join(sorted(architectures()))
    raise InputError(f"no counter formulas for {arch}", hint=f"there are some for {known}")


def architectures() -> set[str]:
    """Architectures that have formulas."""
    return {arch for path in _FOLDER.glob("*.toml") for arch in _load(path).get("archs", [])}


def _complete(content: dict[str, Any], ea: str) -> dict[str, Formula]:
    found: dict[str, Formula] = {}
    if base := content.get("extends"):
        found.update(_complete(_load(_FOLDER / f"{base}.toml"), ea))
    for name, entry in content.get("metrics", {}).items():
        found[name] = _formula(name, entry, ea)
    return found


def _formula(name: str, entry: dict[str, Any], ea: str) -> Formula:
    texts = tuple(text.replace("{ea}", ea) for text in (entry["formula"], *entry.get("alternatives", [])))
    for text in texts:
        formula_language.parse(text)
    bounds = entry.get("bounds")
    return Formula(
        name,
        entry["title"],
        entry["group"],
        entry["unit"],
        texts,
        _sources().get(entry["source"], entry["source"]),
        (float(bounds[0]), float(bounds[1])) if bounds else None,
        entry.get("at_most", ""),
        entry.get("note", ""),
        entry.get("alternative_note", ""),
    )


@cache
def _sources() -> dict[str, str]:
    found: dict[str, str] = {}
    for path in sorted(_FOLDER.glob("*.toml")):
        found.update(_load(path).get("sources", {}))
    return found


@cache
def _load(path: Path) -> dict[str, Any]:
    return tomllib.loads(path.read_text(encoding="utf-8"))
