r"""Fit the share of a GPU's peaks that torch's products and convolutions reach, from sweeps over their sizes.

    python validation/fit_types.py --products sol_execbench_rocm_torch_variants.csv.gz \
        --convolutions miopen_find_db_convolutions.csv.gz --tuned bf16_tuned_gemm.csv ... [--write]

Of one type, where it differs from others: products come from eager programs of SOL-ExecBench-ROCm on an MI355X that
mostly consist of products (:data:`PROGRAMS`); the predicted time of their other operators is subtracted. Convolutions
come from MIOpen's database of an MI300X, with the fastest solver of each problem. Half of the problems, chosen by the
hash of their sizes, are held out of the fit to evaluate it.

Of products of 16-bit types on an MI355X, by size: AITER's tuned tables, where torch's own operator was the fastest, and
eager programs that are one product (:data:`SINGLE`). Half of the tables' sizes and the programs of the judging half are
held out. ``--write`` updates the parts ``types`` and ``sweeps`` of
``analyzers/kprof_analyzers/whole_step/efficiency.toml``.
"""

import argparse
import csv
import gzip
import hashlib
import json
import statistics
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from msgspec.structs import replace
from operator_fits import Row, fitted, rows_of_table, time_of

from kprof.hardware.machine import find_product, load
from kprof_analyzers.profiles.timeline.operators.arguments import Work
from kprof_analyzers.profiles.timeline.operators.rooflines import bound_of, limits_of_product
from kprof_analyzers.whole_step.efficiency import Efficiency, efficiencies, figures_by_part, operator_time
from kprof_analyzers.whole_step.kinds import kind_at, kind_of_shapes, tiles_of

sys.path.insert(0, str(Path(__file__).parents[1]))
from validation.benchmarks.model.programs.chosen import TORCH, TORCH_SET, half_of  # the path comes first

FILE = Path(__file__).parents[1] / "analyzers/kprof_analyzers/whole_step/efficiency.toml"
MARK = "# Of one type, where its share is another one, and of sweeps over sizes. Written by validation/fit_types.py.\n"
PROGRAMS_MARK = "# Of whole eager programs. Written by validation/fit_programs.py.\n"
SWEPT = "MI355X"
TYPE, UNIT, BYTES = "fp32", "matrix_fp32", 4
HIDDEN, INNER = 3072, 12288
FEWEST = 8
"""A kind with fewer rows gets the share of all types."""
ENOUGH = 20
"""The range of a kind with fewer rows is at least as wide as that of all types."""

Product = tuple[int, int, int]


def _feed_forward(axes: Mapping[str, int]) -> tuple[list[Product], int]:
    rows = axes["batch_size"] * axes["seq_len"]
    return [(rows, INNER, HIDDEN), (rows, HIDDEN, INNER)], 2 * rows * INNER


def _concatenated(axes: Mapping[str, int]) -> tuple[list[Product], int]:
    rows = axes["batch_size"] * (axes["img_seq_len"] + axes["text_seq_len"])
    return [(rows, HIDDEN, HIDDEN)], 2 * rows * HIDDEN


PROGRAMS = {
    "L1__037_flux_feedforward_gelu_approximate": _feed_forward,
    "L2__030_flux_concatenated_sequence_processing_with_split": _concatenated,
}
"""Map each problem to its products (rows, columns, depth) and the elements that its element-wise operator moves."""


SINGLE = {
    "FlashInfer-Bench__006_gemm_n2048_k4096": (2048, 4096),
    "FlashInfer-Bench__011_gemm_n28672_k4096": (28672, 4096),
}
"""Map each problem that is one product in fp16 to its columns and depth."""


def singles(path: Path) -> Iterator[Row]:
    """Yield each workload of the programs that are one product, without the time of the two events around it."""
    gpu = find_product("MI355X")
    assert gpu is not None
    limits = limits_of_product(gpu)
    events = load(gpu.arch).model["events_ns"] / 1e3
    with gzip.open(path, "rt", encoding="utf-8") as file:
        for row in csv.DictReader(file):
            known = row["problem"] in SINGLE and row["set"] == TORCH_SET and row["variant"] == TORCH["eager"]
            if not known or not row["time_us"]:
                continue
            m, (n, k) = json.loads(row["axes"])["M"], SINGLE[row["problem"]]
            work = Work(2 * m * n * k, 2 * (m * k + n * k + m * n), "matrix_fp16")
            bound, least = bound_of(work, limits)
            if least is not None:
                shapes, tiles = f"{m}x{k} {k}x{n}", tiles_of("aten::mm", [(m, k), (k, n)], work.flop)
                measured, kind = float(row["time_us"]) - events, kind_at("product", bound)
                yield Row(
                    row["problem"], row["problem"], "MI355X", "aten::mm", shapes, kind, 1, measured, least / 1e3, tiles
                )


def products(path: Path) -> Iterator[Row]:
    """Yield each workload of the programs, as one product of all its rows."""
    gpu = find_product("MI355X")
    assert gpu is not None
    limits = limits_of_product(gpu)
    with gzip.open(path, "rt", encoding="utf-8") as file:
        for row in csv.DictReader(file):
            if row["set"] != TORCH_SET or row["variant"] != TORCH["eager"]:
                continue
            if row["problem"] not in PROGRAMS or not row["time_us"]:
                continue
            parts, moved = PROGRAMS[row["problem"]](json.loads(row["axes"]))
            other = operator_time("elementwise", Work(None, BYTES * moved), limits)
            measured = (float(row["time_us"]) - (other.us if other else 0.0)) / len(parts)
            m, n, k = parts[0]
            work = Work(2 * m * n * k, BYTES * (m * k + n * k + m * n), UNIT)
            bound, least = bound_of(work, limits)
            if least is not None and bound == UNIT:
                shapes = f"{m}x{k} {k}x{n}"
                tiles = tiles_of("aten::mm", [(m, k), (k, n)], work.flop)
                kind = kind_at("product", bound)
                yield Row(row["problem"], shapes, "MI355X", "aten::mm", shapes, kind, 1, measured, least / 1e3, tiles)


def convolutions(path: Path) -> Iterator[Row]:
    """Yield each forward problem with the time of its fastest solver."""
    gpu = find_product("MI300X")
    assert gpu is not None
    limits = limits_of_product(gpu)
    best: dict[tuple[int, ...], float] = {}
    names = ("N", "C", "H", "W", "K", "R", "S", "Ho", "Wo", "groups")
    with gzip.open(path, "rt", encoding="utf-8") as file:
        for row in csv.DictReader(file):
            if (row["gpu"], row["dtype"], row["direction"]) == ("MI300X", "FP32", "F"):
                key = tuple(int(row[name]) for name in names)
                best[key] = min(best.get(key, float("inf")), float(row["time_us"]))
    for (n, c, h, w, k, r, s, ho, wo, groups), measured in best.items():
        if groups != 1:
            continue
        flop = 2 * n * k * ho * wo * c * r * s
        moved = BYTES * (n * c * h * w + k * c * r * s + n * k * ho * wo)
        bound, least = bound_of(Work(flop, moved, UNIT), limits)
        sizes = [(n, c, h, w), (k, c, r, s)]
        if least is None or bound != UNIT:
            continue
        shapes, name = " ".join("x".join(map(str, one)) for one in sizes), "aten::convolution"
        kind, tiles = kind_at(kind_of_shapes(name, sizes), bound), tiles_of(name, sizes, flop)
        yield Row(path.name, shapes, "MI300X", name, shapes, kind, 1, measured, least / 1e3, tiles)


def main() -> None:
    """Fit to one half, print the errors of the other half, and write the file."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--products", type=Path, required=True)
    parser.add_argument("--convolutions", type=Path, required=True)
    parser.add_argument("--tuned", type=Path, nargs="+", required=True)
    parser.add_argument("--write", action="store_true")
    options = parser.parse_args()
    # Figures of whole programs, which are fitted after these, must not change them.
    figures_by_part().pop("programs", None)
    rows = [*products(options.products), *convolutions(options.convolutions)]
    lines = [MARK.strip()]
    for kind, fit in sorted(_fits([row for row in rows if _half(row.shapes)]).items()):
        one = fit
        if one.rows < FEWEST:
            continue
        if one.rows < ENOUGH:
            all_types = efficiencies()[kind]
            one = replace(fit, low=min(fit.low, all_types.low), high=max(fit.high, all_types.high))
        _say(f"{kind}, {TYPE}", one, [row for row in rows if row.kind == kind and not _half(row.shapes)])
        lines += written(f'types.{TYPE}."{kind}"', one)
    tuned = [row for path in options.tuned for row in rows_of_table(path) if row.gpu == SWEPT]
    own = [*singles(options.products)]
    mine = [*(row for row in tuned if _half(row.shapes)), *(row for row in own if half_of(row.source) == "constants")]
    for kind, one in sorted(_fits(mine).items()):
        _say(f"{kind}, {SWEPT}", one, [row for row in tuned if row.kind == kind and not _half(row.shapes)])
        _say("  other programs", one, [row for row in own if row.kind == kind and half_of(row.source) == "judge"])
        lines += written(f'sweeps.{SWEPT}."{kind}"', one)
    if options.write:
        text = FILE.read_text(encoding="utf-8")
        before, after = text.partition(MARK)[0].rstrip(), "".join(text.partition(PROGRAMS_MARK)[1:])
        FILE.write_text("\n".join([before, "", *lines, "", after]), encoding="utf-8")


def _fits(rows: Sequence[Row]) -> Mapping[str, Efficiency]:
    return {kind: one for (gpu, kind), one in fitted(rows).items() if not gpu}


def written(table: str, one: Efficiency) -> list[str]:
    """Return the lines of one table."""
    lines = ["", f"[{table}]", f"share = {one.share:.3f}", f"floor_us = {one.floor_us:.1f}"]
    lines += [f"{name} = {value:g}" for name in ("filled", "columns", "depth_ns") if (value := getattr(one, name))]
    lines += [f"low = {one.low:.2f}", f"high = {one.high:.2f}", f"rows = {one.rows}"]
    return [*lines, f"gpus = {list(one.gpus)}".replace("'", '"')]


def _say(name: str, one: Efficiency, judged: Sequence[Row]) -> None:
    ratios = sorted(time_of(row, one) / row.measured for row in judged)
    print(f"{name}: share {one.share:.3f}, fitted to {one.rows}; {_said(ratios, one.low, one.high)}")


def _half(text: str) -> bool:
    """Return whether a problem is used for the fit; the others evaluate it."""
    return hashlib.sha256(text.encode()).digest()[0] % 2 == 0


def _said(ratios: Sequence[float], low: float, high: float) -> str:
    if not ratios:
        return "none left out"
    near = sum(abs(ratio - 1) <= 0.25 for ratio in ratios) / len(ratios)
    inside = sum(low <= 1 / ratio <= high for ratio in ratios) / len(ratios)
    middle = statistics.median(ratios)
    return f"left out {len(ratios)}: median {middle:.2f}, {near:.0%} within 25 %, {inside:.0%} in range"


if __name__ == "__main__":
    main()
