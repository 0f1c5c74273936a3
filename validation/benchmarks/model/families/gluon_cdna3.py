"""AMD's Gluon products on CDNA 3 with four and with eight wavefronts: times, and cycles of a traced iteration."""

from collections.abc import Sequence

from validation.benchmarks.model.compiling import Point
from validation.benchmarks.model.data import Row, UnusableError, each
from validation.benchmarks.model.problem import Candidate, Family, Problem, gemm_bytes

KIND = "gluon_cdna3"
_WARPS = {"intra_wave(4 warps)": 4, "inter_wave(8 warps)": 8}
_ACCUMULATORS = {4: "amdgpu-agpr-alloc=256", 8: "amdgpu-agpr-alloc=0"}
"""AGPRs available to the compiler: all for sums if a SIMD has one wavefront, none if it has two."""
_PHASE = 2
"""Number of LDS rows that share an order of their parts, at the table's commit with its conflicts."""
_TRITON = "3.8.0"
"""Version string of the measured compiler."""
_TRACED = "att"


def _launch(row: Row) -> Point:
    if row.kernel not in _WARPS:
        raise UnusableError("time of a library")
    warps = _WARPS[row.kernel]
    config = {"GROUP_SIZE_M": int(row.config["GROUP_SIZE_M"]), "PHASE": _PHASE, "num_warps": warps}
    shape = {side: row.number(side) for side in "MNK"}
    return Point("gluon_gemm_cdna3", shape, config | {"llvm_fn_attrs": _ACCUMULATORS[warps]}, row.product)


def _problem(name: str, point: Point, candidates: Sequence[Candidate]) -> Problem:
    m, n, k = (point.shape[side] for side in "MNK")
    return Problem(
        name, tuple(candidates), 2.0 * m * n * k, gemm_bytes(m, n, k, 2), "fp16", point.product, ((m, n, k, 1, 2),)
    )


def problems(rows: Sequence[Row], quick: bool) -> list[Problem]:
    """Return a problem for each size and table: both kernels, with the orders of tiles as variants."""
    chosen = [row for row in rows if row.kind == KIND and row.time_us is not None]
    known: dict[str, list[tuple[Row, Point]]] = {}
    for row, point in each(rows, chosen, _launch):
        size = "x".join(str(point.shape[side]) for side in "MNK")
        name = size if row.config["table"] == "shapes" else f"{size} by GROUP_SIZE_M"
        known.setdefault(name, []).append((row, point))
    found = [
        _problem(name, timed[0][1], [Candidate((point,), point.config, row.time_us) for row, point in timed])
        for name, timed in known.items()
    ]
    return found[::2] if quick else found


def traces(rows: Sequence[Row], quick: bool) -> list[Problem]:
    """Return a problem with one launch for each traced kernel."""
    del quick
    chosen = [row for row in rows if row.kind == KIND and row.config["table"] == _TRACED]
    found = []
    for row, point in each(rows, chosen, _launch):
        warps = point.config["num_warps"]
        traced = Candidate((point,), {"ordered": warps == 4}, loop_cycles=float(row.config["cycles_per_iter_wave"]))
        found.append(_problem(f"{warps} wavefronts", point, [traced]))
    return found


_DIFFERS = (
    "written anew to the design that is described, with the published numbers of registers, matrix instructions and "
    "accesses to LDS; of four wavefronts Triton 3.8 makes another order of instructions than the measured build"
)

FAMILIES = (
    Family(
        "gluon_cdna3",
        "Gluon GEMM by four and eight wavefronts",
        "order",
        _DIFFERS,
        problems,
        "fp16, 304 workgroups, one a CU. AMD's page: power holds the MI300X back in these loops, the clock falls from "
        "2.03 to 1.52 GHz, and what was run before decides how far.",
        triton=_TRITON,
    ),
    Family(
        "gluon_traces",
        "Gluon GEMM, cycles of an iteration in thread traces",
        "loop",
        _DIFFERS,
        traces,
        "4096 x 4864 x 8256, fp16; traces ran at 1.44 GHz. *in the published order*: our loop's instructions in the "
        "order that AMD published of the traced loop of four wavefronts.",
        triton=_TRITON,
    ),
)
