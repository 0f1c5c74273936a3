"""Rank the configurations of AITER's gated delta rule in FlyDSL, and compare them with AITER's tuned file.

    git clone https://github.com/ROCm/aiter
    pip install flydsl==0.3.1                 # the release that the checkout names
    python validation/flydsl_gdr_decode.py aiter --work captures

AITER publishes the fastest configuration of each shape with its time. This script compiles all configurations under
``kprof capture``, without a GPU, predicts their times for a sample of the shapes and prints how many configurations
the model puts before the published one.

Each configuration is compiled once for 4 key heads and 8 value heads. Other numbers of heads and other batches change
the grid and a few integer constants. Captures in ``--work`` are used again.
"""

import argparse
import csv
import itertools
import json
import os
import random
import re
import subprocess
import sys
import types
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace
from functools import cache, partial
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Any

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "analyzers")]

if TYPE_CHECKING:
    from kprof.targets.loaded import LoadedKernel

Config = tuple[int, int, int]
"""Blocks of the value dimension, wavefronts of a workgroup, lanes of the key dimension in a wavefront."""
KEY_HEADS, VALUE_HEADS, DIMENSION = 4, 8, 128
STATES = ("float32", "bfloat16")
PRODUCTS = {"gfx942": "MI308X", "gfx950": "MI355X"}
"""GPUs of the published times. Those of gfx942 rise by a step with every 80 workgroups, the CUs of an MI308X."""
BLOCKS, WARPS, LANES = (1, 2, 4, 8), (1, 2, 4), (4, 8, 16, 32)
"""Values of the search space that the tuned file was made with."""
TABLE = "aiter/ops/flydsl/gdr_decode_tuned.csv"
_NAME = re.compile(r"_(\d+)w\d+x(\d+)_vs(\d+)")


def configs(state: str) -> list[Config]:
    """Return the configurations that the kernel accepts, those with the least code first."""
    lane_bytes = 16 // (4 if state == "float32" else 2)
    found = []
    for blocks, warps, lanes in itertools.product(BLOCKS, WARPS, LANES):
        rows, columns = warps * 64 // lanes, lanes * lane_bytes
        if DIMENSION % columns == 0 and DIMENSION // blocks % rows == 0:
            found.append((DIMENSION // blocks // rows * (DIMENSION // columns), (blocks, warps, lanes)))
    return [config for _, config in sorted(found)]


def launch_all(checkout: Path, state: str) -> None:
    """Launch the kernel in every configuration; runs under ``kprof capture``."""
    for name in ("aiter", "aiter.ops", "aiter.ops.flydsl"):
        # AITER's own packages need a GPU when they are imported, its kernels do not.
        sys.modules[name] = types.ModuleType(name)
        sys.modules[name].__path__ = [str(checkout / name.replace(".", "/"))]
    import torch
    from aiter.ops.flydsl.kernels.gdr_decode import create_vk_gdr_decode_kernel
    from aiter.ops.flydsl.kernels.tensor_shim import _run_compiled

    def empty(*shape: int, dtype: Any = torch.bfloat16) -> Any:
        return torch.empty(*shape, dtype=dtype, device="cuda")

    batch = 64
    query, key = (empty(batch, 1, KEY_HEADS, DIMENSION) for _ in range(2))
    value, out = (empty(batch, 1, VALUE_HEADS, DIMENSION) for _ in range(2))
    a, b, bias = empty(batch, 1, VALUE_HEADS), empty(batch, 1, VALUE_HEADS), empty(VALUE_HEADS)
    decay, slots = empty(VALUE_HEADS, dtype=torch.float32), empty(batch, dtype=torch.int32)
    states = empty(batch, VALUE_HEADS, DIMENSION, DIMENSION, dtype=getattr(torch, state))
    strides = [one.stride() for one in (query, key, value, states, a, b)]
    sizes = "f32" if state == "float32" else "bf16", 1, KEY_HEADS, VALUE_HEADS, DIMENSION, DIMENSION
    for blocks, warps, lanes in configs(state):
        kernel = create_vk_gdr_decode_kernel(
            "bf16", "f32", *sizes, *strides, True,
            NUM_BLOCKS_PER_V_DIM=blocks, NUM_WARPS=warps, WARP_THREADS_K=lanes,
        )  # fmt: skip
        tensors = query, key, value, a, b, bias, decay, slots, slots, states, out
        _run_compiled(kernel, *tensors, batch, torch.cuda.current_stream())


def capture(checkout: Path, arch: str, state: str, work: Path) -> Path:
    """Return a folder with all configurations; an existing one is used again."""
    folder = work / f"{arch}_{state}"
    if not folder.exists():
        path = os.pathsep.join(filter(None, [str(ROOT), str(ROOT / "analyzers"), os.environ.get("PYTHONPATH")]))
        command = [sys.executable, "-m", "kprof", "capture", "--arch", arch, "-o", str(folder), "--"]
        command += [sys.executable, __file__, "--launch", str(checkout.resolve()), state]
        subprocess.run(command, check=True, env={**os.environ, "PYTHONPATH": path})
    return folder


@dataclass(frozen=True)
class Shape:
    """A row of the tuned file."""

    arch: str
    state: str
    batch: int
    key_heads: int
    value_heads: int
    winner: Config
    us: float


def shapes(table: Path, count: int, seed: int) -> list[tuple[bool, Shape]]:
    """Return a sample of the tuned file's shapes for each GPU, the second half of it marked as held out."""
    found: dict[str, list[Shape]] = {arch: [] for arch in PRODUCTS}
    with table.open(newline="", encoding="utf-8") as file:
        for row in csv.DictReader(file):
            numbers = [int(row[name]) for name in ("b", "num_k_heads", "num_v_heads")]
            winner = int(row["NUM_BLOCKS_PER_V_DIM"]), int(row["NUM_WARPS"]), int(row["WARP_THREADS_K"])
            state = row["state_dtype"].removeprefix("torch.")
            found[row["arch"]].append(Shape(row["arch"], state, *numbers, winner, float(row["duration"])))
    chosen = [(arch, random.Random(seed).sample(rows, min(count, len(rows)))) for arch, rows in found.items()]
    return [(n >= len(rows) // 2, shape) for _, rows in chosen for n, shape in enumerate(rows)]


def predicted(kernels: dict[Config, "LoadedKernel"], shape: Shape) -> dict[Config, float]:
    """Return the predicted time of each configuration, with the state not in the caches."""
    from kprof.condition import FLUSHED
    from kprof_analyzers.model.kernel import predict
    from kprof_analyzers.pipeline import facts_of

    size = 4 if shape.state == "float32" else 2
    heads = 2 * shape.key_heads + 2 * shape.value_heads
    moved = shape.batch * DIMENSION * (shape.value_heads * DIMENSION * size + 2 * heads)
    times = {}
    for config, kernel in kernels.items():
        grid = (shape.batch * shape.value_heads * config[0], 1, 1)
        facts, _ = facts_of(replace(kernel, grid=grid, tensor_bytes=moved))
        time = predict(replace(facts, condition=replace(FLUSHED, events=False))).time_us
        assert time is not None
        times[config] = time
    return times


@cache
def loaded(folder: Path, product: str) -> dict[Config, "LoadedKernel"]:
    """Return the configurations of a capture."""
    from kprof.hardware.machine import load
    from kprof.targets.captured import load_capture

    kernels = {}
    for kernel in load_capture(folder):
        name = _NAME.search(kernel.name)
        assert name is not None
        config = int(name[3]), int(name[1]), int(name[2])
        kernels[config] = replace(kernel, product=load(kernel.arch.name).products[product])
    return kernels


Judged = tuple[bool, Shape, dict[Config, float]]


def judge(work: Path, one: tuple[bool, Shape]) -> Judged:
    """Return the predicted times of a shape's configurations."""
    held_out, shape = one
    return held_out, shape, predicted(loaded(work / f"{shape.arch}_{shape.state}", PRODUCTS[shape.arch]), shape)


def figures(rows: Sequence[tuple[Shape, dict[Config, float]]]) -> Iterator[str]:
    """Yield the cells of a table's row: shapes, winners in the top 5 %, ..., Spearman."""
    from validation.benchmarks.model.metrics import percentile, spearman

    shares, common = [], Counter(shape.winner for shape, _ in rows).most_common(1)[0]
    for shape, times in rows:
        others = [us for config, us in times.items() if config != shape.winner]
        shares.append(percentile(times[shape.winner], others))
    best = [times[shape.winner] / min(times.values()) for shape, times in rows]
    ratios = [times[shape.winner] / shape.us for shape, times in rows]
    yield str(len(rows))
    yield f"{sum(share <= 0.05 for share in shares) / len(rows):.0%}"
    yield f"{median(shares):.1%}"
    yield f"{sum(one <= 1.05 for one in best) / len(rows):.0%}"
    yield f"{median(best):.2f}"
    yield f"{common[1] / len(rows):.0%}"
    yield f"{median(ratios):.2f}"
    order = spearman([times[shape.winner] for shape, times in rows], [shape.us for shape, _ in rows])
    yield "" if order is None else f"{order:.3f}"


def main() -> None:
    """Capture, predict and print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("aiter", type=Path, help="AITER's checkout")
    parser.add_argument("--work", type=Path, default=Path("gdr_decode"), help="folder of the captures")
    parser.add_argument("--rows", type=Path, help="tuned file; default: the checkout's own")
    parser.add_argument("--shapes", type=int, default=40, help="shapes of each GPU")
    parser.add_argument("--processes", type=int, default=os.cpu_count())
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--json", type=Path, help="file for the times of all configurations")
    asked = parser.parse_args()
    sys.path.insert(0, str(ROOT))
    asked.work.mkdir(parents=True, exist_ok=True)
    sample = shapes(asked.rows or asked.aiter / TABLE, asked.shapes, asked.seed)
    for arch, state in itertools.product(PRODUCTS, STATES):
        capture(asked.aiter, arch, state, asked.work)
    with ProcessPoolExecutor(asked.processes) as pool:
        judged = list(pool.map(partial(judge, asked.work), sample))
    names = "shapes", "in the top 5 %", "median percentile", "within 5 % of the first", "over the first"
    names += "most common winner", "predicted / published", "Spearman"
    print(f"| GPU | state | half | {' | '.join(names)} |")
    print("|---|---|---|" + "---:|" * len(names))
    for arch, state, half in itertools.product(PRODUCTS, (*STATES, ""), (False, True)):
        rows = [(s, t) for h, s, t in judged if s.arch == arch and state in {s.state, ""} and h is half]
        if rows:
            cells = PRODUCTS[arch], state or "both", "held out" if half else "looked at", *figures(rows)
            print(f"| {' | '.join(cells)} |")
    if asked.json:
        every = [{**vars(s), "held_out": h, "times": [[*c, us] for c, us in t.items()]} for h, s, t in judged]
        asked.json.write_text(json.dumps(every), encoding="utf-8")


if __name__ == "__main__":
    if sys.argv[1:2] == ["--launch"]:
        launch_all(Path(sys.argv[2]), sys.argv[3])
    else:
        main()
