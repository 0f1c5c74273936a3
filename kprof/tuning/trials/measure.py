"""Score a compiled configuration by its resources and its hot loop, without a predicted time."""

from dataclasses import dataclass
from math import inf

from kprof.document import KernelReport, LoopFacts, Occupancy
from kprof.hardware.machine import Architecture
from kprof_analyzers.rules import launch_rules


@dataclass(frozen=True)
class Measure:
    """The figures by which trials are compared.

    Attributes:
        launchable: whether LDS and workgroup size are within the hardware's limits.
        vgpr_spills: VGPRs spilled.
        scratch: scratch accesses in one iteration of the hot loop, or in the whole kernel without loops.
        vgprs: VGPRs allocated.
        lds_bytes: LDS per workgroup.
        waves: wavefronts per SIMD; 0 if the kernel cannot be launched.
        loads: number of global loads in the hot loop by their bytes per lane, e.g. ``{16: 8}``.
        full_waits: number of waits in the hot loop until no load is outstanding.
        instructions: instructions in the hot loop.
        work: useful floating-point operations per iteration and wavefront, or bytes loaded if there is no matrix work;
            ``None`` without a loop. Work that several wavefronts duplicate counts once.
        is_flops: True if ``work`` counts operations, False if it counts bytes.
        issue: lower bound of the issue cycles of one iteration; ``None`` without a loop, or if kprof does not know the
            architecture's issue rates.
        bytes: bytes that a wavefront loads from global memory in one iteration.
        workgroups: workgroups resident on a CU. If there is only one, a barrier stalls the whole CU.
    """

    launchable: bool
    vgpr_spills: int
    scratch: int
    vgprs: int
    lds_bytes: int
    waves: float
    loads: dict[int, int]
    full_waits: int
    instructions: int
    work: int | None
    is_flops: bool
    issue: float | None
    bytes: int
    workgroups: int = 0

    @property
    def issue_per_work(self) -> float:
        """Issue cycles per 1,000 operations (or bytes): the minimum cost of the instruction stream."""
        return 1000 * self.issue / self.work if self.issue is not None and self.work else inf

    @property
    def bytes_per_work(self) -> float:
        """Bytes loaded per 1,000 operations: smaller tiles load the same data more often."""
        return 1000 * self.bytes / self.work if self.work else inf

    @property
    def scratch_per_work(self) -> float:
        """Scratch accesses per million operations (or bytes)."""
        if not self.scratch:
            return 0.0
        return 1e6 * self.scratch / self.work if self.work else float(self.scratch)

    def dominates(self, other: "Measure") -> bool:
        """Whether this measure is at least as good in every respect, and better in one."""
        mine, theirs = self.vector(), other.vector()
        return mine != theirs and all(a <= b for a, b in zip(mine, theirs, strict=True))

    def rank(self) -> tuple[bool, float, float, float]:
        """Return a sort key, best first: launchability, spill traffic, issue cycles, occupancy."""
        # With fewer than two wavefronts per SIMD, nothing hides the latency.
        lonely = self.waves < 2
        return (
            not self.launchable,
            round(self.scratch_per_work, 1),
            self.issue_per_work * (1.25 if lonely else 1),
            -self.waves,
        )

    def vector(self) -> tuple[float, ...]:
        """Return the figures for :meth:`dominates`; smaller is better for each."""
        return (
            not self.launchable,
            self.scratch_per_work,
            self.issue_per_work,
            self.bytes_per_work,
            -self.waves,
            -min(self.workgroups, 2),
        )


def measure(report: KernelReport, arch: Architecture, replication: float = 1.0) -> Measure:
    """Return the figures of one analysed kernel.

    Args:
        report: the kernel.
        arch: architecture.
        replication: number of times that its matrix work is repeated, see :mod:`kprof_analyzers.memory.replication`.
    """
    resources, occupancy = report.resources, report.occupancy
    hot = next((loop for loop in report.loops if loop.hot), None)
    over = {f.rule for f in report.findings} & launch_rules()
    work, is_flops = _work(hot, replication)
    return Measure(
        launchable=not over,
        vgpr_spills=_count(resources, "vgpr_spills"),
        scratch=hot.spill_accesses if hot else sum(n for k, n in report.instructions.items() if "scratch" in k),
        vgprs=_count(resources, "vgpr_allocated"),
        lds_bytes=_count(resources, "lds_bytes"),
        waves=occupancy.waves_per_simd if isinstance(occupancy, Occupancy) else 0.0,
        loads=_loads(hot.instructions if hot else report.instructions),
        full_waits=sum(n for wait, n in hot.waits.items() if wait.endswith("(0)")) if hot else 0,
        instructions=sum(hot.instructions.values()) if hot else sum(report.instructions.values()),
        work=work,
        is_flops=is_flops,
        issue=_issue(hot, arch) if hot else None,
        bytes=_loaded(hot) if hot else 0,
        workgroups=occupancy.workgroups_per_cu if isinstance(occupancy, Occupancy) else 0,
    )


def _count(resources: object, name: str) -> int:
    value = getattr(resources, name, None)
    return value if isinstance(value, int) else 0


def _loaded(loop: LoopFacts) -> int:
    return sum(n for path, n in loop.bytes_per_wave.items() if path in {"global_load", "flat_load", "global_to_lds"})


def _work(loop: LoopFacts | None, replication: float) -> tuple[int | None, bool]:
    if loop is None:
        return None, False
    return (round(loop.flops / replication), True) if loop.flops else (_loaded(loop) or None, False)


def _issue(loop: LoopFacts, arch: Architecture) -> float | None:
    """Return the cycles that the busiest pipe needs for one iteration of one wavefront."""
    if arch.issue is None:
        return None
    known = ((arch.matrix_instruction(name), count) for name, count in loop.instructions.items())
    matrix = sum(one.cycles * count for one, count in known if one is not None)
    vector = arch.issue.valu_cycles(arch.wavefront_size) * loop.classes.get("valu", 0)
    others = sum(n for name, n in loop.classes.items() if name not in {"valu", "matrix"})
    return max(matrix + vector, arch.issue.cycles * others)


def _loads(instructions: dict[str, int]) -> dict[int, int]:
    """Count global loads by bytes per lane, which are known from the instruction names."""
    found: dict[int, int] = {}
    for name, count in instructions.items():
        if name.startswith(("global_load", "buffer_load")):
            width = _WIDTHS.get(name.rsplit("_", 1)[-1])
            if width:
                found[width] = found.get(width, 0) + count
    return dict(sorted(found.items(), reverse=True))


_WIDTHS = {
    "dwordx4": 16,
    "b128": 16,
    "dwordx3": 12,
    "b96": 12,
    "dwordx2": 8,
    "b64": 8,
    "dword": 4,
    "b32": 4,
    "ushort": 2,
    "u16": 2,
    "sshort": 2,
    "i16": 2,
    "b16": 2,
    "hi": 2,
    "ubyte": 1,
    "sbyte": 1,
    "u8": 1,
    "i8": 1,
}
