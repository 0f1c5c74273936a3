"""Write ``kprof/tuning/choice/shipped.json``, which ``kprof select`` uses if nothing can or may be compiled.

    nice python validation/predict_shipped.py [-j 2] [--kernel gemm] [--product MI300X] [--results FILE]
    nice python validation/predict_shipped.py [-j 2] --changed     # only what has another configuration now or no time

The table has every case of every bundled kernel, and for the most important kernels a grid of sizes. Neighbouring sizes
differ by at most a factor of four, so any size in between is near one of them (within a factor of two). Each problem is
predicted for every bundled kernel that solves it, with its own defaults and all its launches together. The installed
Triton is used.

Each result is stored in ``--results`` immediately, and another run continues from there. The package's file is
written when all results are complete, or with ``--only-write``. It is part of kprof's content hash, by which workers
check that they belong to the same kprof, so the checkout must not be changed during a run.
"""

import argparse
import json
import subprocess
import sys
import time
from collections.abc import Iterable, Iterator
from itertools import product as combinations
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / "analyzers")]

from kprof.condition import FLUSHED  # noqa: E402

PRODUCTS = ("MI300X", "MI355X", "MI250X")

ROWS = (1, 4, 16, 64, 256, 1024, 4096, 16384)
"""Tokens of a step, from decoding to prefill."""
SIZES = (1024, 4096, 16384)
HEADS = ((32, 32), (32, 8), (64, 8))
"""Query and key heads: without groups, of 8B models, of 70B models."""
HALVES = ("fp16", "bf16")
GRIDS: dict[str, list[dict[str, Any]]] = {
    "gemm": [
        {"M": m, "N": n, "K": k, "dtype": dtype, "out": out}
        for m, n, k in combinations(ROWS, SIZES, SIZES)
        for dtype, out in (("fp16", "fp16"), ("bf16", "bf16"), ("fp8_e4m3", "bf16"))
    ],
    "flash_attention": [
        {"B": b, "H": h, "HK": hk, "SQ": s, "SK": s, "D": 128, "dtype": dtype}
        for b, (h, hk), s, dtype in combinations((1, 4), HEADS, SIZES, HALVES)
    ],
    "rmsnorm": [{"M": m, "N": n, "dtype": dtype} for m, n, dtype in combinations(ROWS, SIZES, HALVES)],
}
GRIDDED = {"MI300X": tuple(GRIDS), "MI355X": ("gemm",), "MI250X": ()}
"""Kernels that have their grid on a product; others only have their cases there, which keeps the file small."""


def main() -> int:
    """Predict all problems, and write the file."""
    options = argparse.ArgumentParser(description="Make the table that kprof select answers from without a compiler.")
    options.add_argument("-j", "--jobs", type=int, default=1)
    options.add_argument("--kernel", action="append")
    options.add_argument("--product", action="append")
    options.add_argument("--results", type=Path, action="append", help="the first is written, all are read")
    options.add_argument("--only-write", action="store_true", help="the file, from the results that there are")
    options.add_argument("--changed", action="store_true", help="predict what has another configuration now")
    asked = options.parse_args()
    if asked.changed:
        return _changed(asked.jobs)
    from kprof.compiler.versions import installed
    from kprof.targets.library import bundled
    from kprof.tuning.choice.shipped import FILE, ShippedTable, written
    from kprof.version import __version__

    table = ShippedTable(installed().version, __version__, _revision())
    places: list[Path] = asked.results or [Path("predicted_shipped.json")]
    for before in (ShippedTable.read(place) for place in places if place.exists()):
        if (before.triton, before.kprof) != (table.triton, table.kprof):
            print(f"the results are of Triton {before.triton} and kprof {before.kprof}: begin with others")
            return 1
        table.revision = before.revision
        for name, rows in before.kernels.items():
            table.kernels.setdefault(name, []).extend(rows)
    for gpu, name in () if asked.only_write else combinations(asked.product or PRODUCTS, asked.kernel or bundled()):
        known = table.kernels.setdefault(name, [])
        if any(row.product == gpu for row in known):
            continue
        start = time.monotonic()
        known += _rows(name, gpu, asked.jobs)
        places[0].write_text(written(table), encoding="utf-8")
        count = sum(row.product == gpu for row in known)
        print(f"{gpu} {name}: {count} problems, {time.monotonic() - start:.0f} s", flush=True)
    if not asked.only_write and (asked.kernel or asked.product):
        return 0
    FILE.write_text(written(table), encoding="utf-8")
    print(f"{FILE.stat().st_size / 1000:.0f} kB, {sum(map(len, table.kernels.values()))} rows")
    return 0


def _rows(name: str, gpu: str, jobs: int) -> Iterator[Any]:
    """Return the predictions for a kernel's problems on a product, without problems that no kernel can solve there."""
    from kprof.errors import KprofError
    from kprof.hardware.machine import load_gpu
    from kprof.targets.library import load
    from kprof.tuning.choice.predicting import bundled, predictions
    from kprof.tuning.choice.shipped import ShippedRow

    machine, product = load_gpu(gpu)
    kernel = load(name)
    problems: dict[str, dict[str, Any]] = {}
    for given in (*kernel.shapes.values(), *(GRIDS[name] if name in GRIDDED[gpu] else ())):
        try:
            shape = kernel.problem(machine.name, None, given)
        except KprofError:
            continue
        problems[json.dumps(shape, sort_keys=True)] = shape
    shapes = list(problems.values())
    forms = [bundled(kernel, shape, machine.name, gpu) for shape in shapes]
    found = predictions(list(zip(forms, shapes, strict=True)), machine, product, jobs, FLUSHED.name)
    for shape, candidates in zip(shapes, found, strict=True):
        if times := _times(candidates, machine):
            yield ShippedRow(gpu, shape, times)


def _times(candidates: Iterable[Any], machine: Any) -> dict[str, Any]:
    """Return the times of candidates with a time, without the timing events of the condition."""
    from kprof.tuning.choice.shipped import ShippedTime

    events = machine.model["events_ns"] / 1e6
    return {
        one.implementation: ShippedTime(
            *(ms - events for ms in (one.ms, one.low_ms, one.high_ms)), one.config, one.reason
        )
        for one in candidates
        if one.ms is not None and one.low_ms is not None and one.high_ms is not None
    }


def _changed(jobs: int) -> int:
    """Predict again the implementations in the package's file without a time or with a changed configuration."""
    from kprof.hardware.machine import load_gpu
    from kprof.targets.library import load
    from kprof.tuning.choice.predicting import bundled, predictions
    from kprof.tuning.choice.shipped import FILE, ShippedTable, written

    table = ShippedTable.read(FILE)
    for gpu in PRODUCTS:
        machine, product = load_gpu(gpu)
        stale = []
        for name, rows in table.kernels.items():
            kernel = load(name)
            for row in rows:
                if row.product == gpu:
                    forms = bundled(kernel, row.shape, machine.name, gpu)
                    others = [
                        form
                        for form in forms
                        if form[1].usable
                        and (
                            (before := row.times.get(form[1].implementation)) is None or before.config != form[1].config
                        )
                    ]
                    stale += [(row, others)] * bool(others)
        print(f"{gpu}: {sum(len(forms) for _, forms in stale)} forms of {len(stale)} rows", flush=True)
        found = predictions([(forms, row.shape) for row, forms in stale], machine, product, jobs, FLUSHED.name)
        for (row, forms), candidates in zip(stale, found, strict=True):
            for _, form in forms:
                row.times.pop(form.implementation, None)
            row.times.update(_times(candidates, machine))
    FILE.write_text(written(table), encoding="utf-8")
    return 0


def _revision() -> str:
    """Return the last commit that changed the model or the kernels."""
    command = ["git", "-C", str(ROOT), "log", "-1", "--format=%h", "--abbrev=10", "--", "analyzers", "kernels"]
    return subprocess.run(command, capture_output=True, text=True, check=False).stdout.strip()


if __name__ == "__main__":
    sys.exit(main())
