"""List every figure of an architecture, with its unit and whether its source is reliable enough for a verdict."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Any

from kprof.hardware.model import Architecture

# Units by pattern of a figure's path; the first matching pattern applies. Texts such as names and scopes have no unit.
_UNITS = (
    ("wavefront_size*", "lanes"),
    ("occupancy.max_waves_per_simd", "wavefronts"),
    ("occupancy.scratch_waves_per_cu", "wavefronts"),
    ("occupancy.simds_per_*", "SIMDs"),
    ("occupancy.max_workgroup_size", "work-items"),
    ("occupancy.max_workgroups_per_*", "workgroups"),
    ("occupancy.vgprs.*", "registers per lane"),
    ("occupancy.*vgprs*", "registers per lane"),
    ("occupancy.max_agprs", "registers per lane"),
    ("occupancy.accum_granule", "registers per lane"),
    ("occupancy.*sgpr*", "registers"),
    ("lds.banks", "banks"),
    ("lds.phases.*", "lanes"),
    ("lds.read64_cycles.*", "cycles"),
    ("lds.*", "bytes"),
    ("wait_counters.*", "outstanding"),
    ("rates.matrix_sparse_factor", "times"),
    ("rates.*_bytes", "bytes per cycle and CU"),
    ("rates.*", "operations per cycle and CU"),
    ("*.launch_overhead_ns", "ns"),
    ("*.latency_ns", "ns"),
    ("*.latency_cycles", "cycles"),
    ("*_mhz", "MHz"),
    ("*_gbs", "GB/s"),
    ("*_per_cycle", "bytes per cycle"),
    ("*.channels", "channels"),
    ("model.l?_unit_bytes", "bytes per cycle and CU"),
    ("*_bytes", "bytes"),
    ("latencies.*", "cycles"),
    ("hazards.*", "wait states"),
    ("model.branch", "cycles"),
    ("model.lds_store*", "share"),
    ("model.lds_*", "cycles"),
    ("model.*_queue", "cycles"),
    ("model.loaded_latency", "times"),
    ("model.*_latency", "cycles"),
    ("model.lane_addresses", "lanes per cycle"),
    ("model.overlap", "exponent"),
    ("model.saturated", "times"),
    ("model.short_run_most", "times"),
    ("model.*_ns", "ns"),
    ("model.*", "share"),
    ("issue.cycles", "cycles"),
    ("issue.valu_lanes", "lanes per cycle and SIMD"),
    ("packed_conversions.*", "instruction"),
    ("triton.max_num_ctas", "workgroups"),
    ("triton.switches.*", "release of Triton"),
    ("triton.*", "values"),
    ("*.least_workgroups", "workgroups"),
    ("llvm.elf_machine", "e_flags value"),
    ("llvm.sgpr_extra", "registers"),
    ("llvm.oldest_objdump", "major version"),
    ("products.*.compute_units", "CUs"),
    ("products.*.xcds", "dies"),
    ("products.*.pci_device", "PCI device id"),
    ("products.*.peaks.*", "1e12 operations per second"),
    ("matrix.instructions.*", "see matrix.columns"),
)
_NOT_FIGURES = {
    "source", "sources", "columns", "name", "family", "generation", "counter_formulas", "note", "scope", "default_mode",
}  # fmt: skip


@dataclass(frozen=True)
class Figure:
    """One hardware figure of an architecture.

    Attributes:
        key: path in the TOML file.
        value: value as in the file.
        unit: unit of the value; ``None`` for yes-or-no facts.
        sources: identifiers of its sources.
        firm: whether its sources are reliable enough for a verdict.
    """

    key: str
    value: Any
    unit: str | None
    sources: tuple[str, ...]
    firm: bool


def figures(arch: Architecture) -> Iterator[Figure]:
    """Return all figures in the order of the file."""
    for key, value in _leaves(arch.data, ""):
        unit = None if isinstance(value, bool) else unit_of(key)
        yield Figure(key, value, unit, arch.source_of(key), arch.is_sourced(key))


def unit_of(key: str) -> str | None:
    """Return the unit of the figure with this path; ``None`` if the path is not known or the figure has no unit."""
    return next((unit for pattern, unit in _UNITS if fnmatchcase(key, pattern)), None)


def _leaves(table: Mapping[str, Any], prefix: str) -> Iterator[tuple[str, Any]]:
    for name, value in table.items():
        if name in _NOT_FIGURES:
            continue
        if isinstance(value, Mapping):
            yield from _leaves(value, f"{prefix}{name}.")
        else:
            yield f"{prefix}{name}", value
