"""``kprof.occupancy``: compute the wavefronts per SIMD, and what to reduce for more."""

import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar

from kprof.api.result import Result
from kprof.document import Occupancy
from kprof.errors import KprofError, TargetError
from kprof.hardware.default import DEFAULT_GPU
from kprof.options.kernels import OccupancyOptions
from kprof.options.keywords import keywords

if TYPE_CHECKING:
    import pandas as pd

    from kprof.reporters.occupancy import Entry
    from kprof.targets.loaded import LoadedKernel
    from kprof_analyzers.occupancy import OccupancyInput
    from kprof_analyzers.occupancy.curve import Plateau

CURVES = {"vgpr": "VGPRs", "lds": "bytes of LDS", "num-warps": "waves per workgroup"}
"""Resources that an occupancy curve can be drawn over, with their units."""


@dataclass(frozen=True)
class KernelOccupancy:
    """Occupancy of one kernel, or of given resource counts, on one architecture.

    Attributes:
        name: the kernel's name; "" for given resource counts.
        arch: architecture, such as ``gfx942``.
        product: the GPU product; "" if none was named.
        demand: resources used: registers per lane, LDS bytes and wavefronts per workgroup.
        occupancy: wavefronts per SIMD, the limiting resource, the limit by each resource alone, and what to reduce for
            one more wavefront.
        launch_problems: reasons why the kernel cannot be launched; empty if it can.
        notes: remarks on a computation method other than the hardware's.
        curve: occupancy over one resource; empty unless requested.
    """

    name: str
    arch: str
    product: str
    demand: "OccupancyInput"
    occupancy: Occupancy
    launch_problems: "Sequence[str]" = ()
    notes: "Sequence[str]" = ()
    curve: "Sequence[Plateau]" = ()


@dataclass(frozen=True, eq=False, repr=False)
class Occupancies(Result):
    """The result of :func:`occupancy`.

    Attributes:
        kernels: one entry per kernel and architecture.
        over: the resource that curves are drawn over; ``None`` without curves.
    """

    kernels: Sequence[KernelOccupancy]
    over: str | None = None
    kind: ClassVar[str] = "occupancy"

    @property
    def occupancy(self) -> Occupancy:
        """The occupancy of the only kernel on the only architecture.

        Raises:
            KprofError: there are several entries.
        """
        if len(self.kernels) != 1:
            raise KprofError(f"there are {len(self.kernels)} kernels", hint="Use one of them: .kernels[0].occupancy")
        return self.kernels[0].occupancy

    @property
    def waves_per_simd(self) -> float:
        """Wavefronts per SIMD of the only kernel on the only architecture; see :attr:`occupancy`."""
        return self.occupancy.waves_per_simd

    @property
    def limiter(self) -> str:
        """The resource that limits the wavefronts: ``vgpr``, ``lds``, ...; see :attr:`occupancy`."""
        return self.occupancy.limiter

    @property
    def ok(self) -> bool:
        """Whether every kernel can be launched; the command's exit code is then 0."""
        return not any(kernel.launch_problems for kernel in self.kernels)

    @property
    def summary(self) -> str:
        """The verdict in one line."""
        from kprof.reporters.occupancy import verdict

        return verdict(self.entries())

    @property
    def document(self) -> dict[str, Any]:
        """The JSON document that ``--json`` writes (``kprof.occupancy/1``)."""
        from kprof.version import __version__

        return {
            "schema": "kprof.occupancy/1",
            "kprof": __version__,
            "kernels": [_record(kernel, self.over) for kernel in self.kernels],
            "verdict": {"status": "ok" if self.ok else "regression", "summary": self.summary},
        }

    def to_frame(self) -> "pd.DataFrame":
        """Return one row per kernel and architecture.

        The columns are ``name``, ``arch``, ``product``, the resources (registers per lane, LDS in bytes),
        ``waves_per_simd``, ``workgroups_per_cu`` and ``limiter``.
        """
        from kprof.api.frames import KERNEL_COLUMNS, frame
        from kprof.reporters.csv_rows import OCCUPANCY_NAMES

        rows = []
        for one in self.kernels:
            known = {name: getattr(one.occupancy, name) for name in one.occupancy.__struct_fields__}
            rows.append(
                known
                | {"name": one.name, "arch": one.arch, "product": one.product or None}
                | _demand_values(one.demand)
            )
        return frame(rows, {name: KERNEL_COLUMNS[name] for name in OCCUPANCY_NAMES})

    def _repr_html_(self) -> str:
        from kprof.reporters._notebook import fragment, table
        from kprof.reporters.occupancy import rows

        headings, found = rows(self.entries())
        return fragment(self.summary, table(headings, found), notes=[n for k in self.kernels for n in k.notes])

    def entries(self) -> "list[Entry]":
        """Return the entries that the terminal shows, one per kernel."""
        from kprof.reporters.occupancy import Entry

        return [
            Entry(
                title=one.name,
                target=f"{one.arch} · {one.product}" if one.product else one.arch,
                demand=_demand_text(one.demand),
                block="WGP" if one.demand.block == "wgp" else "CU",
                occupancy=one.occupancy,
                problems=one.launch_problems,
                notes=one.notes,
                curve=one.curve,
                curve_of=CURVES[self.over] if self.over else "",
            )
            for one in self.kernels
        ]


@keywords
def occupancy(target: "str | os.PathLike[str] | None" = None, *, options: OccupancyOptions) -> Occupancies:
    """Compute the wavefronts per SIMD and their limit, for a kernel or for given resource counts. No GPU is used.

    Args:
        target: a bundled kernel, ``"file.py::function"``, an assembly file or a code object; ``None`` for given
            resource counts.
        options: how the kernel is compiled, and resource counts, which replace those of the kernel.

    Raises:
        HardwareError: an architecture is not known.
        TargetError: the target does not exist or holds no kernel.
        KprofError: a resource count is missing, or impossible on the architecture.
    """
    given = {
        "vgpr": options.vgpr,
        "agpr": options.agpr,
        "sgpr": options.sgpr,
        "lds_bytes": options.lds,
        "num_warps": options.num_warps,
        "wavefront_size": options.wavefront_size,
        "mode": options.mode,
    }
    numbers = {name: value for name, value in given.items() if value is not None}
    if target is None:
        demands = _from_numbers(options.arch or [DEFAULT_GPU], numbers)
    else:
        demands = _from_target(os.fspath(target), options, numbers)
    return Occupancies([_result(*demand, options) for demand in demands], options.curve)


def _from_numbers(archs: Sequence[str], numbers: dict[str, Any]) -> "list[tuple[str, str, OccupancyInput]]":
    from kprof.hardware.machine import load_gpu
    from kprof_analyzers.occupancy import OccupancyInput

    if "vgpr" not in numbers:
        raise KprofError("--vgpr is missing", hint="Or name a kernel: kprof occupancy flash_attention --arch gfx942")
    found = []
    for name in archs:
        machine, product = load_gpu(name)
        found.append(("", product.name if product else "", OccupancyInput(machine, **numbers)))
    return found


def _from_target(
    target: str, options: OccupancyOptions, numbers: dict[str, Any]
) -> "list[tuple[str, str, OccupancyInput]]":
    from kprof.targets.resolver import load
    from kprof_analyzers.autotuned import in_chosen_configuration

    found = []
    # load() applies the options for LDS and wavefronts to compiled code only, so they are omitted here. _demand_of
    # applies them to any target.
    for kernel in map(in_chosen_configuration, load(target, replace(options, lds=None, num_warps=None))):
        product = kernel.product.name if kernel.product is not None else ""
        found.append((kernel.name, product, _demand_of(kernel, numbers)))
    if not found:
        raise TargetError("no kernel found", path=target)
    return found


def _demand_of(kernel: "LoadedKernel", numbers: dict[str, Any]) -> "OccupancyInput":
    """Return the resources that a compiled kernel uses; ``numbers`` replace the kernel's own values."""
    from kprof_analyzers.occupancy import from_registers

    shared = kernel.metadata.get("shared", kernel.shared_bytes)
    warps = kernel.metadata.get("num_warps", kernel.num_warps)
    for name, value, option in (("LDS", shared, "lds_bytes"), ("wavefronts of a workgroup", warps, "num_warps")):
        if value is None and option not in numbers:
            flag = "--lds" if option == "lds_bytes" else "--num-warps"
            raise TargetError(f"the input does not contain the launch's {name}", path=kernel.name, hint=f"Give {flag}.")
    demand = from_registers(
        kernel.program.registers,
        kernel.arch,
        lds_bytes=numbers.get("lds_bytes", shared),
        num_warps=numbers.get("num_warps", warps),
    )
    if {"vgpr", "agpr"} & numbers.keys():
        # The padding of registers belongs to this compile and is meaningless for other register counts.
        demand = replace(demand, padded_vgpr=None, padded_sgpr=None)
    return replace(demand, **numbers)


def _result(name: str, product: str, demand: "OccupancyInput", options: OccupancyOptions) -> KernelOccupancy:
    from kprof_analyzers.occupancy import occupancy as occupancy_of
    from kprof_analyzers.occupancy.problems import launch_problems

    plateaus: Sequence[Plateau] = ()
    found = occupancy_of(demand, options.method, options.llvm)
    if options.curve:
        from kprof_analyzers.occupancy.curve import curve

        plateaus = curve(demand, options.curve)
    return KernelOccupancy(
        name=name,
        arch=demand.arch.name,
        product=product,
        demand=demand,
        occupancy=found,
        launch_problems=launch_problems(demand),
        notes=_notes(demand, options.method, options.llvm),
        curve=plateaus,
    )


def _notes(demand: "OccupancyInput", method: str, llvm: int | None) -> list[str]:
    """Return remarks on the method of computation; none for the hardware's own rule."""
    if method == "llvm":
        from kprof_analyzers.occupancy.llvm import ROUNDING_LLVM

        return [f"computed as in LLVM {llvm or ROUNDING_LLVM}, for 1 to {demand.num_warps} waves per workgroup"]
    if method != "guide":
        return []
    from kprof.reporters._console_text import waves
    from kprof_analyzers.occupancy import guide
    from kprof_analyzers.occupancy import occupancy as occupancy_of

    notes = []
    reasons = guide.differences(demand)
    if reasons:
        real = waves(occupancy_of(demand).waves_per_simd)
        notes.append(f"the hardware allows {real}: {'; '.join(reasons)}")
    ranges = [
        f"{first}-{last} VGPRs: {real} on the hardware, {said} by the guide"
        for first, last, real, said in guide.vgpr_differences(demand.arch)
    ]
    notes.append(
        f"the guide differs from the hardware for {'; '.join(ranges)}"
        if ranges
        else "the guide's VGPR rounding agrees everywhere"
    )
    return notes


def _demand_text(demand: "OccupancyInput") -> str:
    parts = [f"{demand.vgpr} VGPR"]
    if demand.vgpr_allocated > max(demand.vgpr, demand.vgpr_total):
        parts[0] += f" ({demand.vgpr_allocated} allocated)"
    parts += [f"{demand.agpr} AGPR"] if demand.agpr else []
    parts += [f"{demand.sgpr} SGPR"] if demand.sgpr else []
    parts.append(f"{demand.lds_bytes:,} B LDS")
    waves = "wave" if demand.num_warps == 1 else "waves"
    parts.append(f"{demand.num_warps} {waves} of {demand.size} lanes a workgroup")
    if len(demand.arch.occupancy.modes) > 1:
        parts.append(f"{demand.block.upper()} mode")
    return ", ".join(parts)


def _record(kernel: KernelOccupancy, over: str | None) -> dict[str, Any]:
    """Return a kernel's entry in the JSON document."""
    demand = kernel.demand
    record = {
        **({"name": kernel.name} if kernel.name else {}),
        "arch": kernel.arch,
        **({"product": kernel.product} if kernel.product else {}),
        "resources": {
            **_demand_values(demand),
            "lds_limit_bytes": demand.arch.lds.bytes_per_workgroup,
            "mode": demand.block,
        },
        "occupancy": kernel.occupancy,
        "launch_problems": kernel.launch_problems,
        "notes": kernel.notes,
    }
    if over:
        points = [
            {"first": p.first, "last": p.last, "waves_per_simd": p.waves_per_simd, "limiter": p.limiter}
            for p in kernel.curve
        ]
        record["curve"] = {"over": over, "points": points}
    return record


def _demand_values(demand: "OccupancyInput") -> dict[str, int]:
    return {
        "vgpr": demand.vgpr,
        "agpr": demand.agpr,
        "sgpr": demand.sgpr,
        "vgpr_allocated": demand.vgpr_allocated,
        "lds_bytes": demand.lds_bytes,
        "num_warps": demand.num_warps,
        "wavefront_size": demand.size,
    }
