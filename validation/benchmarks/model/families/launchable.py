"""Configurations that were tried on hardware: some ran, others exceeded the LDS."""

from collections.abc import Sequence
from typing import Any

from validation.benchmarks.model.compiling import Point
from validation.benchmarks.model.data import Row, UnusableError, drawn, each
from validation.benchmarks.model.problem import Candidate, Family, Problem

KERNEL = "attn_qk_int8_per_block"
DRAWN = 96
"""Number of rows drawn; one wavefront with a tile of 256 x 256 compiles for minutes."""
_NAMES = {"BLOCK_SIZE_M": "BLOCK_M", "BLOCK_SIZE_N": "BLOCK_N"}
_KNOBS = {"BLOCK_M", "BLOCK_N", "num_warps", "num_stages", "waves_per_eu"}
_ASIDE = {"stage"}
"""Knobs that are passed to the kernel but not used there."""
_UNRELEASED = 4
"""Numbers of stages for which no release generates the code that was tried."""


def _launch(row: Row) -> Point:
    if row.kernel != KERNEL:
        raise UnusableError("a kernel that we did not write")
    config: dict[str, Any] = row.knobs(_NAMES, _KNOBS, _ASIDE)
    shape = {side: row.number(side) for side in "BHSD"}
    return Point("attention_int8", shape, config, row.product)


def problems(rows: Sequence[Row], quick: bool) -> list[Problem]:
    """Return a problem with one configuration for each drawn row."""
    chosen = [row for row in rows if row.kind == "validity"]
    found = []
    for row, point in each(rows, drawn(rows, chosen, 12 if quick else DRAWN, "validity"), _launch):
        candidate = Candidate((point,), row.config, valid=row.valid, lds=row.lds, triton=row.triton)
        name = " ".join(f"{knob}={value}" for knob, value in point.config.items())
        batch, heads, length, size = (point.shape[side] for side in "BHSD")
        flops = 4.0 * batch * heads * length * length * size
        moved = float(batch * heads * length * size * (1 + 1 + 2 + 2))
        part = "four stages" if point.config["num_stages"] == _UNRELEASED else "other stages"
        found.append(Problem(name, (candidate,), flops, moved, "fp16", point.product, part=part))
    return found


FAMILIES = (
    Family(
        "validity",
        "Which configurations launch: attention in int8",
        "validity",
        "whole rows of keys without a causal mask; LDS, which decides, does not depend on it",
        problems,
        f"{DRAWN} of 723 configurations drawn with a fixed seed. Those that did not launch say how many bytes of LDS "
        "they asked for. They were tried in AMD's container of November 2025, with a build of Triton's 3.5. *Four "
        "stages*: "
        "no release makes the code that was tried. Two products in a row get a schedule of their own there, in which "
        "3.5 and 3.6 remove a load whose result is still used (triton-lang/triton issue 9815): the releases check that "
        "and stop, the container's build went on; 3.7 mends it, and asks for other bytes (102,400 for 114,944). kprof "
        "says that these do not compile; they count as wrong where the configuration ran, and as not exact where LDS "
        "is told. "
        "So do those whose compile took longer than the run allowed.",
        private=True,
    ),
)
