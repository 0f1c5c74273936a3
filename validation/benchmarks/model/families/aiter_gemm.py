"""AITER's Triton matrix products: published winners for buckets of M, and sweeps or single times of its kernels.

Winners have no times. The searched space is that of AITER's tuning script (``screen.py`` next to its kernels): its
defaults, its rules for dropping configurations before timing, and additionally three stages, which many winners
have. A random sample with fixed seeds is compiled, shared by all problems of a kernel and architecture.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import product
from random import Random
from typing import Any

from validation.benchmarks.model.compiling import Point, in_a_row
from validation.benchmarks.model.data import Row, UnusableError, each
from validation.benchmarks.model.problem import Candidate, Family, Problem

PROBLEMS = 8
"""Number of problems drawn for each kernel and architecture."""
TILES = 12
"""Number of compiles drawn for each height of a tile."""
WAYS = 2
"""Number of pairs of GROUP_M and split to try with each compile."""
_NAMES = {f"BLOCK_SIZE_{side}": f"BLOCK_{side}" for side in "MNK"}
_NAMES |= {"GROUP_SIZE_M": "GROUP_M", "NUM_KSPLIT": "SPLIT_K", "KSPLIT": "SPLIT_K", "cache_modifier": "MODIFIER"}
_KNOBS = {"BLOCK_M", "BLOCK_N", "BLOCK_K", "GROUP_M", "SPLIT_K", "MODIFIER", "num_warps", "num_stages", "waves_per_eu"}
_KNOBS |= {"matrix_instr_nonkdim", "kpack"}
_IGNORED = {"SPLITK_BLOCK_SIZE", "GROUP_K", "GROUP_N", "NUM_XCDS", "label", "tag", "name", "layout", "EVEN_K"}
_IGNORED |= {"num_ctas", "instruction_sched_variant", "schedule_hint", "NUM_SMS"}
_LDS = {"gfx950": 163840}


@dataclass(frozen=True)
class Kind:
    """A kind of matrix product.

    Attributes:
        kernel: our kernel.
        dtype: type of the operands; ``fp8`` is the architecture's type, and ``fp4`` has its own kernel.
        scales: scales as in ``gemm_split``.
        xcds: 1 if tiles are not numbered by XCD.
        bits: bits of an element.
    """

    kernel: str
    dtype: str
    scales: str
    xcds: int
    bits: int


KINDS = {
    "A16W16": Kind("gemm_split", "bf16", "none", 8, 16),
    "A8W8": Kind("gemm_split", "fp8", "rows", 8, 8),
    "A8W8_BLOCKSCALE": Kind("gemm_split", "fp8", "blocks", 1, 8),
    "AFP4WFP4": Kind("gemm_fp4", "fp4", "blocks", 8, 4),
}
"""Map AITER's name to the kind of product."""


def config_of(row: Row) -> dict[str, Any]:
    """Return a published configuration with our names.

    Raises:
        UnusableError: a block size is missing.
    """
    ours = row.knobs(_NAMES, _KNOBS, _IGNORED)
    if missing := {"BLOCK_M", "BLOCK_N", "BLOCK_K"} - set(ours):
        raise UnusableError(f"no {', '.join(sorted(missing))}")
    modifier = ours.get("MODIFIER") or ""
    if isinstance(modifier, int) or not re.fullmatch(r"(\.[a-z]+)?", modifier):
        raise UnusableError("a cache modifier that is not known")
    numbers = {name: int(value) for name, value in ours.items() if name != "MODIFIER"}
    fixed = {"GROUP_M": max(1, numbers.get("GROUP_M", 1)), "SPLIT_K": max(1, numbers.get("SPLIT_K", 1))}
    # 0 stages in old Triton is the software pipeline of two stages today.
    return {**numbers, **fixed, "num_stages": numbers.get("num_stages") or 2, "MODIFIER": modifier}


@dataclass(frozen=True)
class Product:
    """A matrix product to compute: sizes, kind, GPU; ``along`` says whether the weights are read along K."""

    m: int
    n: int
    k: int
    kind: Kind
    gpu: str
    batch: int = 1
    along: bool = True
    atomic: bool = False

    @property
    def arch(self) -> str:
        """The GPU's architecture."""
        from kprof.hardware.machine import products

        return products()[self.gpu]

    def points(self, config: Mapping[str, Any]) -> tuple[Point, ...]:
        """Return the launches; if parts of K are stored separately, another launch adds them."""
        kind = self.kind
        shape: dict[str, Any] = {"M": self.m, "N": self.n, "K": self.k, "xcds": kind.xcds}
        dtype = ("fp8e4b8" if self.arch.startswith("gfx94") else "fp8e4nv") if kind.dtype == "fp8" else kind.dtype
        whole = {**shape, "batch": self.batch, "dtype": dtype, "out": "fp32" if self.atomic else "bf16"}
        whole |= {"trans_b": self.along, "scales": kind.scales, "atomic": self.atomic}
        first = Point(kind.kernel, shape if kind.dtype == "fp4" else whole, dict(config), self.gpu)
        if config.get("SPLIT_K", 1) == 1 or self.atomic:
            return (first,)
        # The parts have just been written, so the second launch finds them in the Infinity Cache if they fit.
        parts = 4.0 * config["SPLIT_K"] * self.batch * self.m * self.n
        return first, Point(
            "gemm_split::reduce", whole, dict(config), self.gpu, condition=in_a_row(parts, written=True)
        )

    def problem(self, name: str, candidates: Sequence[Candidate]) -> Problem:
        """Return the problem with its minimum work."""
        m, n, k, batch, bits = self.m, self.n, self.k, self.batch, self.kind.bits
        moved = batch * ((m * k + k * n) * bits / 8 + m * n * 2)
        rate = {"fp16": "fp16", "bf16": "bf16", "fp32": ""}.get(self.kind.dtype, self.kind.dtype)
        sides = ((m, n, k, batch, max(1, bits // 8)),)
        return Problem(name, tuple(candidates), 2.0 * m * n * k * batch, moved, rate, self.gpu, sides)


def _winner(row: Row) -> tuple[Product, dict[str, Any]]:
    """Return the problem of a published winner; its M, for which it was tuned, is the bucket's upper end."""
    name = re.fullmatch(r"GEMM-([A-Z0-9_]+?)(?:-N=\d+-K=\d+)?", row.kernel)
    if name is None or name.group(1) not in KINDS:
        raise UnusableError("a kernel that we did not write")
    bucket = re.fullmatch(r"M_LEQ_(\d+)", str(row.shape.get("bucket", "")))
    if bucket is None:
        raise UnusableError("M is not known (a bucket without an upper end)")
    try:
        n, k = int(row.shape["N"]), int(row.shape["K"])
    except KeyError:
        raise UnusableError("N and K are not known (the default of a kernel)") from None
    return Product(int(bucket.group(1)), n, k, KINDS[name.group(1)], row.product), config_of(row)


@cache
def _tiles(kind: Kind, arch: str) -> tuple[dict[str, Any], ...]:
    """Return the sample of compiles of a kernel, equally many for each height of a tile."""
    found: list[dict[str, Any]] = []
    depths = (128,) if kind.scales == "blocks" and kind.dtype == "fp8" else (128, 256, 512, 1024)
    for height in (4, 8, 16, 32, 64, 128, 256):
        legal = [
            {"BLOCK_M": height, "BLOCK_N": n, "BLOCK_K": k, "num_warps": warps, "num_stages": stages,
             "waves_per_eu": waves, "matrix_instr_nonkdim": 16, "MODIFIER": modifier}
            for n, k, warps, stages, waves, modifier in product(
                (16, 32, 64, 128, 256), depths, (1, 4, 8), (1, 2, 3), (1, 2, 4, 6, 8), ("", ".cg")
            )
            # Accumulators must fit the registers, and tiles the LDS: other configurations are slow and compile for
            # minutes.
            if height * n <= 64 * 256 * warps
            and (height + n) * k * kind.bits // 8 * max(1, stages - 1) <= _LDS.get(arch, 65536)
        ]  # fmt: skip
        found += Random(f"{kind.kernel} {kind.dtype} {kind.scales} {arch} {height}").sample(legal, TILES)
    return tuple(found)


def _space(what: Product) -> Iterator[dict[str, Any]]:
    """Return the sampled space of one problem."""
    draw = Random(f"{what.m} {what.n} {what.k}")
    splits = [1, *(s for s in (3, 4, 7, 8, 14, 16, 28) if what.k % s == 0)]
    for tile in _tiles(what.kind, what.arch):
        if tile["BLOCK_M"] > max(8, what.m) or tile["BLOCK_N"] > max(16, what.n) or tile["BLOCK_K"] > max(128, what.k):
            continue
        ways = [(group, split) for split in splits for group in (1, 4, 8) if _kept(tile, what.k, group, split)]
        for group, split in draw.sample(ways, min(WAYS, len(ways))):
            yield {**tile, "GROUP_M": group, "SPLIT_K": split}


def _kept(tile: Mapping[str, Any], k: int, group: int, split: int) -> bool:
    """Return whether the script keeps a configuration: a pipeline needs more than one block of K, one block none."""
    part = k // split
    if tile["BLOCK_K"] >= 2 * part or (split > 1 and group > 1):
        return False
    return bool((tile["BLOCK_K"] >= part) == (tile["num_stages"] == 1))


def winners(rows: Sequence[Row], quick: bool) -> list[Problem]:
    """Return sampled winners of each kernel and architecture."""
    known: dict[tuple[str, str], list[tuple[Row, Product, dict[str, Any]]]] = {}
    chosen = (r for r in rows if r.kind == "tuned_best" and r.time_us is None and re.match("GEMM-", r.kernel))
    for row, (what, config) in each(rows, chosen, _winner):
        kind = next(name for name, kind in KINDS.items() if kind is what.kind)
        known.setdefault((kind, what.arch), []).append((row, what, config))
    found = []
    for (kind, arch), rows_of in sorted(known.items()):
        rows_of.sort(key=lambda entry: entry[0].problem)
        draw = Random(f"{kind} {arch}")
        for row, what, winner in draw.sample(rows_of, min(2 if quick else PROBLEMS, len(rows_of))):
            space = [config for config in _space(what) if config != winner]
            candidates = [Candidate(what.points(winner), row.config, winner=True, triton=row.triton)]
            candidates += [Candidate(what.points(config), config) for config in space]
            found.append(what.problem(f"{kind} {arch} {what.m}x{what.n}x{what.k}", candidates))
    return found


FAMILIES = (
    Family(
        "aiter",
        "AITER GEMM winners",
        "winner",
        "GROUP_M, the split and the sizes are launch arguments; no bias",
        winners,
        f"{PROBLEMS} problems drawn of each kernel (A16W16, A8W8 with a scale for rows and columns, A8W8 with block "
        "scales, MXFP4) and architecture that names N, K and an upper end of M, which is taken for the M that was "
        "tuned. The space is that of AITER's tuning script with its defaults and pruning, and three stages; "
        f"{TILES} compiles of each height of a tile are drawn, each with {WAYS} pairs of GROUP_M and split. Parts of "
        "K are added by a second launch, whose time counts. The winners were tuned with Tritons from 3.4 to 3.8.",
        packages=("aiter",),
        drawn=24,
    ),
)
