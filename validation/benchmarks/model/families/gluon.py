"""AMD's Gluon products on CDNA 4 by tile: times, and the utilisation of matrix units in thread traces."""

from collections.abc import Sequence

from validation.benchmarks.model.compiling import Point
from validation.benchmarks.model.data import Row, UnusableError, each
from validation.benchmarks.model.problem import Candidate, Family, Problem, gemm_bytes

KIND = "gluon_tiles"
_DESIGNS = {
    "v5_local_prefetch": "ahead",
    "v6_loop_unroll": "unrolled",
    "v7_sliceN": "halves",
    "v8_sliceMN": "quarters",
}
"""Map a kernel of the table to the design of our kernel."""
_SINCE = "3.9.0"
"""Earlier Gluon versions accept no linear layout for the addresses that tiles are fetched from."""


def _launch(row: Row) -> Point:
    if row.kernel not in _DESIGNS:
        raise UnusableError("a kernel that we did not write")
    if row.config["variant"] != "base":
        raise UnusableError("scheduled by a plug-in of the compiler that Triton does not have")
    tile = {name: int(row.config[name]) for name in ("BLOCK_M", "BLOCK_N", "BLOCK_K")}
    shape = {side: row.number(side) for side in "MNK"}
    return Point("gluon_gemm", shape, tile | {"DESIGN": _DESIGNS[row.kernel], "num_warps": 4}, row.product)


def problems(rows: Sequence[Row], quick: bool) -> list[Problem]:
    """Return a problem with one launch for each tile of each kernel."""
    chosen = [row for row in rows if row.kind == KIND and row.time_us is not None]
    found = []
    for row, point in each(rows, chosen, _launch):
        m, n, k = (point.shape[side] for side in "MNK")
        share = row.config["matrix_share"]
        full = float(share) / 100 if share else None
        candidate = Candidate((point,), row.config, row.time_us, matrix_share=full, triton=row.triton)
        tile = "x".join(str(point.config[name]) for name in ("BLOCK_M", "BLOCK_N", "BLOCK_K"))
        found.append(
            Problem(
                f"{row.kernel} {tile}",
                (candidate,),
                2.0 * m * n * k,
                gemm_bytes(m, n, k, 2),
                "fp16",
                point.product,
                ((m, n, k, 1, 2),),
            )
        )
    return found[::4] if quick else found


FAMILY = Family(
    "gluon",
    "Gluon GEMM, tile by tile",
    "tile",
    "written anew to the design of the kernels that are described; Triton 3.9 gives other numbers of registers than "
    "the measured one, a branch of Triton's that is not on PyPI",
    problems,
    "256 workgroups, fp16, as the stock compiler makes them (`base`). *matrix share*: cycles of the loop "
    "that a wavefront's matrix instructions fill, in a thread trace, and by the simulation of the same loop at "
    "1,250 MHz. The clock under the trace is not published; at this one a full vector cache moves, a cycle, the "
    "bytes that the bandwidth-bound tiles move in their timed runs (from 1,200 to 1,400 MHz the mean error is 1.6 to "
    "3.2 points). *closed form*: AMD's, which is for loops that spread their loads evenly; these do not. *order*: of "
    "two kernels with the same tile, how often the fuller one is. What L2 gives a CU was chosen "
    "on the scheduled variants of these kernels, which are not among the rows.",
    private=True,
    triton=_SINCE,
)
