"""Read an architecture's TOML file into the records of :mod:`kprof.hardware.model`."""

import sys
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

from kprof.errors import HardwareError
from kprof.hardware.code import IssueRules, LlvmFacts, TritonFacts
from kprof.hardware.model import (
    Architecture,
    FigureSource,
    Lanes,
    LdsRules,
    MatrixInstruction,
    MemoryLevel,
    OccupancyRules,
    Product,
    VgprFile,
)

Table = Mapping[str, Any]
_ABOUT_SOURCES = {"source", "sources"}
_UNKNOWN = "?"


def read(path: Path, sources: Path, common: Path | None = None) -> Architecture:
    """Read one architecture.

    Args:
        path: the architecture's file.
        sources: the file with the citations.
        common: the file with default model parameters, which apply where the architecture's file sets none.

    Raises:
        KprofError: a file is missing or is not TOML, or a figure is missing or has a wrong type.
    """
    data = _toml(path)
    try:
        if common is not None:
            data = {**data, "model": _merged(_toml(common)["model"], data.get("model", {}))}
        return _architecture(data, _sources(sources))
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise HardwareError(f"not a valid description of an architecture: {error!r}", path=str(path)) from error


def _architecture(data: Table, sources: Mapping[str, FigureSource]) -> Architecture:
    occupancy = _occupancy(data["occupancy"])
    memory = _memory(data.get("memory", {}))
    return Architecture(
        name=data["name"],
        family=data["family"],
        generation=data["generation"],
        counter_formulas=data.get("counter_formulas", ""),
        wavefront_size=data["wavefront_size"],
        wavefront_sizes=tuple(data["wavefront_sizes"]),
        occupancy=occupancy,
        lds=_lds(data["lds"]),
        wait_counters=_figures(data["wait_counters"]),
        rates=_figures(data.get("rates", {})),
        matrix_instructions=_matrix(data.get("matrix", {}), occupancy.simds_per_cu),
        memory=memory,
        latencies={k: (v[0], v[1]) for k, v in _figures(data.get("latencies", {})).items()},
        hazards=_figures(data.get("hazards", {})),
        model=_figures(data.get("model", {})),
        issue=IssueRules(**_figures(data["issue"])) if "issue" in data else None,
        packed_conversions=_figures(data["packed_conversions"]) if "packed_conversions" in data else None,
        types=_figures(data.get("types", {})),
        triton=_triton(_figures(data.get("triton", {}))),
        products={n: _product(n, data["name"], t, memory) for n, t in data.get("products", {}).items()},
        llvm=LlvmFacts(**_figures(data["llvm"])),
        sources=sources,
        data=data,
    )


def common_model(path: Path) -> dict[str, float]:
    """Return the default parameters of the performance model from their file."""
    return _figures(_toml(path)["model"])


def _merged(common: Table, own: Table) -> dict[str, Any]:
    """Merge common figures with those of an architecture, which take precedence; each figure keeps its source."""
    cited = dict.fromkeys(_figures(common), common["source"]) | common.get("sources", {})
    source = own.get("source", common["source"])
    cited |= dict.fromkeys(_figures(own), source) | own.get("sources", {})
    return {**_figures(common), **own, "source": source, "sources": cited}


def _occupancy(table: Table) -> OccupancyRules:
    figures = _figures(table)
    files = {int(size): VgprFile(**_figures(t)) for size, t in figures.pop("vgprs").items()}
    optional: dict[str, Any] = dict.fromkeys(
        ("simds_per_wgp", "sgprs_total", "max_workgroups_per_wgp", "scratch_waves_per_cu")
    )
    return OccupancyRules(vgprs=files, **(optional | figures))


def _lds(table: Table) -> LdsRules:
    figures = _figures(table)
    phases = {k: tuple(_lanes(g) for g in v) for k, v in _figures(figures.pop("phases", {})).items()}
    cycles = {int(k[1:]): float(v) for k, v in _figures(figures.pop("read64_cycles", {})).items()}
    return LdsRules(phases=phases, read64_cycles=cycles, **({"bytes_per_wgp": None} | figures))


def _lanes(text: str) -> Lanes:
    """Parse lane numbers such as ``"0-3,20-23"``."""
    lanes: list[int] = []
    for part in text.split(","):
        first, _, last = part.partition("-")
        lanes.extend(range(int(first), int(last or first) + 1))
    return tuple(lanes)


def _triton(figures: dict[str, Any]) -> TritonFacts:
    switches = figures.pop("switches", None)
    known = None if switches is None else {name: tuple(since) for name, since in _figures(switches).items()}
    lists: dict[str, Any] = {k: tuple(v) if isinstance(v, list) else v for k, v in figures.items()}
    return TritonFacts(switches=known, **lists)


def _matrix(table: Table, simds_per_cu: int) -> dict[str, MatrixInstruction]:
    columns = table.get("columns", [])
    found = {}
    for name, row in table.get("instructions", {}).items():
        figures: dict[str, Any] = {c: None if v == _UNKNOWN else v for c, v in zip(columns, row, strict=True)}
        sparse = "smfmac" in name or "swmmac" in name
        found[name] = MatrixInstruction(name=name, sparse=sparse, simds_per_cu=simds_per_cu, **figures)
    return found


def _memory(table: Table) -> dict[str, MemoryLevel]:
    return {name: MemoryLevel(name=name, **_figures(level)) for name, level in table.items()}


def _product(name: str, arch: str, table: Table, memory: Mapping[str, MemoryLevel]) -> Product:
    from dataclasses import replace

    figures = _figures(table)
    levels = dict(memory)
    for level, own in figures.pop("memory", {}).items():
        levels[level] = replace(levels.get(level, MemoryLevel(name=level)), **_figures(own))
    peaks = _figures(figures.pop("peaks", {}))
    optional = {"compute_units": None, "xcds": None, "clock_mhz": None}
    return Product(name=name, arch=arch, peaks=peaks, memory=levels, **(optional | figures))


def _figures(table: Table) -> dict[str, Any]:
    return {k: v for k, v in table.items() if k not in _ABOUT_SOURCES}


@cache
def _sources(path: Path) -> dict[str, FigureSource]:
    return {k: FigureSource(id=k, kind=t["kind"], text=t["text"]) for k, t in _toml(path).items()}


def _toml(path: Path) -> dict[str, Any]:
    if sys.version_info >= (3, 11):
        import tomllib
    else:
        import tomli as tomllib

    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError) as error:
        raise HardwareError(f"cannot read the file: {error}", path=str(path)) from error
    except tomllib.TOMLDecodeError as error:
        raise HardwareError(f"not TOML: {error}", path=str(path)) from error
