"""tritonBLAS's persistent matrix product on MI300X: 87 timed rows, bf16, three square sizes."""

from collections.abc import Sequence
from typing import Any

from benchmarks.model.compiling import Point
from benchmarks.model.data import Row
from benchmarks.model.problem import Candidate, Family, Problem, gemm_bytes, renamed

PRODUCT = "MI300X"


def problems(rows: Sequence[Row], quick: bool) -> list[Problem]:
    """One problem for each published table; ``quick`` takes every third row of the long one."""
    found: dict[str, list[Candidate]] = {}
    sizes: dict[str, int] = {}
    for row in rows:
        if row.kernel != "ws_hierarchical_matmul" or row.kind != "sweep" or row.time_us is None:
            continue
        n = int(row.shape.get("N") or row.shape["tag"].rsplit("_", 1)[1])
        name = row.problem.removeprefix("tritonBLAS-")
        sizes[name] = n
        shape = {"M": n, "N": n, "K": n}
        config = _config(row.config)
        point = Point("tritonblas", shape, config, PRODUCT)
        found.setdefault(name, []).append(Candidate((point,), row.config, row.time_us, row.suspect))
    return [
        Problem(
            name,
            tuple(candidates[::3] if quick and len(candidates) > 20 else candidates),
            2.0 * sizes[name] ** 3,
            gemm_bytes(sizes[name], sizes[name], sizes[name], 2),
            "bf16",
            PRODUCT,
            ((sizes[name], sizes[name], sizes[name], 1, 2),),
        )
        for name, candidates in found.items()
    ]


def _config(published: dict[str, Any]) -> dict[str, Any]:
    """Rows with a label only are the default tile with another division of the tiles among the XCDs."""
    label = published.get("label", "")
    fixed: dict[str, Any] = {}
    if "split=" in label:
        fixed["LOCAL_SHARE"] = int(label.split("split=")[1].split("/")[0]) / 100
        fixed["waves_per_eu"] = int(label.split("wpe=")[1].split(",")[0])
    fixed["MODIFIER"] = published.get("cache_modifier") or ""
    kept = {k: v for k, v in published.items() if k not in {"label", "layout", "cache_modifier"}}
    return renamed(kept, {}, **fixed)


FAMILY = Family(
    name="tritonblas",
    title="tritonBLAS persistent bf16 GEMM, MI300X, Triton 3.6",
    question="order",
    differs="tiles are dealt out in turn instead of drawn from atomic counters (inner loops compile alike)",
    problems=problems,
    note=(
        "The 12,288 sweep repeats configurations that compile to the same code, and seven of its 60 times are marked "
        "as disturbances by the collectors: one and the same machine code was timed at 6.9 and at 30.3 ms. `raw` has "
        "all rows; `distinct` the shortest time of each machine code with its grid and arguments; `clean` leaves out "
        "the marked rows first. GROUP_M of the phase4 rows was chosen at run time and is assumed to be 4 by the "
        "collectors; the phase5b rows name the division of tiles only and differ by 3 %, which is left out of averages."
    ),
)
