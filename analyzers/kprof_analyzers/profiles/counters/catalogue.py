"""Load the formulas of counter metrics from ``formulas/``. Each hardware file gives the name of its formula file."""

import sys
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from kprof.errors import InputError
from kprof.hardware.machine import Architecture, architectures, load
from kprof_analyzers.profiles.counters import formula_language

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

_FOLDER = Path(__file__).parent / "formulas"


@dataclass(frozen=True)
class Formula:
    """A counter metric: how it is computed from counters, and how it is shown.

    Attributes:
        id: stable name.
        title: title for users.
        group: heading under which the metric is shown.
        unit: unit of the result.
        formulas: alternative formulas in order of preference, which use different counters.
        source: publication that the formula is from.
        bounds: valid range; values outside of it are flagged.
        at_most: name of the GPU constant that is the upper limit of the value; "" for no limit.
        note: caveat of the metric.
        alternative_note: caveat that replaces ``note`` if an alternative formula is used instead of the first one.
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


def formulas_of(arch: Architecture) -> dict[str, Formula]:
    """Return all formulas of an architecture by id.

    Raises:
        KprofError: if the hardware file gives no formula file, or the formula file is missing or invalid.
    """
    if not arch.counter_formulas:
        known = ", ".join(name for name in architectures() if load(name).counter_formulas)
        raise InputError(f"no counter formulas for {arch.name}", hint=f"Architectures with formulas: {known}.")
    return _formulas(arch.counter_formulas)


@cache
def _formulas(name: str) -> dict[str, Formula]:
    path = _FOLDER / f"{name}.toml"
    if not path.is_file():
        files = ", ".join(sorted(each.stem for each in _FOLDER.glob("*.toml")))
        raise InputError(f"there are no counter formulas called {name!r}", hint=f"there are {files}")
    content = _load(path)
    return _complete(content, str(content.get("ea", "")))


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
