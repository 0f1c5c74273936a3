"""Try what the five source documents describe, row by row, and write docs/validation/sources.md.

``scripts/sources.toml`` has a command for each group of facts, tools, variables, tables and numbers, and for each of
them a pattern that its output must have. Each command runs once, in this process. A row whose pattern is not found ends
the script with 1: what the page says is no longer true. Rows of published times are made here: the prediction of each
case beside the published one.

    .venv/bin/python scripts/try_sources.py            # run and write
    .venv/bin/python scripts/try_sources.py --check    # run and compare only
"""

import argparse
import io
import json
import os
import re
import shlex
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from unittest.mock import patch

from kprof.inputs.boundary import toml_of

ROOT = Path(__file__).resolve().parents[1]
TABLE = Path(__file__).with_suffix(".toml").with_name("sources.toml")
PAGE = ROOT / "docs/validation/sources.md"
STATES = ("works", "partly", "not")
TITLES = {
    "xlstm": "AMD xLSTM Optimization",
    "kernels": "AMD Perf Kernels",
    "custom": "Creating custom kernels for the AMD MI300",
    "attention": "Flash Attention Kernel Benchmark Report",
    "guide": "AMD Instinct MI300X workload optimization",
}
_PUBLISHED = {"hf-rocm-kernels", "stock Triton", "aiter"}
_LONGEST = 110
# The report's configurations; neither names the matrix instruction, so that the compiler chooses it.
_DEFAULT = "BLOCK_M=128,BLOCK_N=64,matrix_instr_nonkdim=0"
_TUNED = "BLOCK_M=64,BLOCK_N=32,PRE_LOAD_V=True,matrix_instr_nonkdim=0"
_REASONS = {
    "xlstm": "the number of heads is not published (8 here), nor is what a call launches: only ratios compare",
    "attention": "another kernel, which the table below has",
    "custom": "another implementation of the kernel, in HIP",
}
# Of the attention report's times, the launch from Python and a synchronisation: its shortest is 162.
_HOST_US = 110.0
_GAIN = 1.5
_AITER = ROOT / "docs/validation/aiter_attention.json"


@dataclass(frozen=True)
class Row:
    """One thing that a document has.

    Attributes:
        document: key of :data:`TITLES`.
        what: the thing, in a few words.
        command: what was run; empty where there is nothing to run.
        printed: the part of its output that shows it.
        state: one of :data:`STATES`.
        why: why it is not or only partly there.
    """

    document: str
    what: str
    command: str
    printed: str
    state: str
    why: str


def run(command: str, folder: Path) -> str:
    """What a kprof command prints, with ``NAME=VALUE`` before it and ``{made}`` in it filled in."""
    from kprof.cli.app import main

    words = shlex.split(command.replace("{made}", str(folder)).replace("{root}", str(ROOT)))
    first = words.index("kprof")
    variables = dict(word.split("=", 1) for word in words[:first])
    printed = io.TextIOWrapper(io.BytesIO(), encoding="utf-8")
    with (
        patch.dict(os.environ, {**variables, "COLUMNS": "200"}),
        patch.object(sys, "argv", ["kprof", *words[first + 1 :]]),
        redirect_stdout(printed),
        redirect_stderr(printed),
    ):
        try:
            main()
        except SystemExit as stop:
            printed.write(f"\nexit code {stop.code or 0}\n")
    printed.seek(0)
    return printed.read()


def shown(output: str, pattern: str, folder: Path) -> str | None:
    """The part of a line that a pattern found, or its group; ``None`` where it is not there."""
    match = re.search(pattern, output, re.MULTILINE)
    if match is None:
        return None
    text = " ".join((match[1] if match.lastindex else match[0]).split())
    return text.replace(str(folder), "").replace(str(ROOT) + "/", "")[:_LONGEST]


def tried(folder: Path) -> Iterator[tuple[Row, str | None]]:
    """Rows of the table with what is wrong with them."""
    for group in toml_of(TABLE.read_text(encoding="utf-8"), str(TABLE))["group"]:
        command = group.get("run", "")
        output = run(command, folder) if command else ""
        for document, what, pattern, state, *why in group["rows"]:
            printed = shown(output, pattern, folder) if pattern else ""
            wrong = None if printed is not None else f"{command}: no {pattern!r} for {what!r} in\n{output[-1500:]}"
            shown_command = command.replace("{made}/", "").replace("{root}/", "")
            yield Row(document, what, shown_command, printed or "", state, " ".join(why)), wrong


def predicted(folder: Path) -> Iterator[Row]:
    """A row for each published time of a kernel that is bundled here: inside the predicted range, or how far off."""
    sources = {"Creating custom": "custom", "Flash Attention": "attention"}
    attention: dict[str, list[tuple[float, float]]] = {}
    for one in _published():
        document = next((key for words, key in sources.items() if words.lower() in one["source"].lower()), None)
        if document is None or one["provider"] not in _PUBLISHED:
            continue
        after = "after tuning" in one["source"]
        config = "" if document == "custom" else f" -c {_TUNED if after else _DEFAULT}"
        command = f"kprof analyze kernel {one['kernel']} --case {one['case']} --arch gfx942{config}"
        run(f"{command} --json {folder}/one.json", folder)
        model = json.loads((folder / "one.json").read_text(encoding="utf-8"))["kernels"][0]["model"]
        times = [model["time_us"], model["low_us"], model["high_us"]]
        what = f"table: {one['kernel']} {one['case']}{', tuned' if after else ''}, {one['provider']}"
        yield _compared(document, what, command, times, 1e3 * one["ms"])
        if document == "attention":
            attention.setdefault(one["case"], []).append((model["time_us"], 1e3 * one["ms"]))
    for case, ((before, was), (after_us, became)) in attention.items():
        gain, published = before / after_us, was / became
        off = max(gain / published, published / gain)
        command = f"kprof analyze kernel flash_attention --case {case} --arch gfx942"
        why = "" if off <= _GAIN else f"{off:.2f} times too much; with AITER's own kernel it is nearer: the table below"
        printed, state = f"{before:.4g} us over {after_us:.4g} us: {gain:.2f}", "works" if off <= _GAIN else "partly"
        yield Row(
            "attention",
            f"gain of the tuned tile, {case}: {published:.2f}",
            f"{command}, both tiles",
            printed,
            state,
            why,
        )
    yield from _forms(folder)


def _published() -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads((ROOT / "kprof/bench/published.json").read_text(encoding="utf-8"))[
        "results"
    ]
    return found


def _compared(document: str, what: str, command: str, times: list[float], published: float) -> Row:
    own, low, high = times
    host = _HOST_US if document == "attention" else 0.0
    took = published - host
    state = "works" if low <= took <= high else "partly" if low / 2 <= took <= 2 * high else "not"
    without = f"{host:g} us of the host's launch and synchronisation taken off" if host else ""
    why = without
    if state != "works":
        parts = [
            f"published {took:.4g} us is outside, {took / own:.2g} times the prediction",
            without,
            _REASONS[document],
        ]
        why = "; ".join(filter(None, parts))
    return Row(document, f"{what}: {published:.4g} us", command, f"{own:.4g} us, {low:.4g} to {high:.4g}", state, why)


def _forms(folder: Path) -> Iterator[Row]:
    """mLSTM: everything that a form launches, next to its published times; and which form is ahead."""
    general, special = "mlstm_chunkwise", "mlstm_chunkwise_d64"
    cases: dict[str, list[dict[str, Any]]] = {}
    for one in _published():
        if one["kernel"] == general:
            cases.setdefault(one["case"], []).append(one)
    for case, each in cases.items():
        sizes = ",".join(f"{key}={size}" for key, size in _problem(case).items())
        command = f"kprof select {general} --arch MI300X --shape {sizes}"
        run(f"{command} --json {folder}/one.json", folder)
        found = json.loads((folder / "one.json").read_text(encoding="utf-8"))["candidates"]
        own = {one["implementation"]: one for one in found if one["basis"] == "predicted"}
        timed = {one.get("implementation", general): one["ms"] for one in each}
        for one in each:
            name = one.get("implementation", general)
            times = [1e3 * own[name][key] for key in ("ms", "low_ms", "high_ms")]
            yield _compared("xlstm", f"table: {name} {case}, {one['provider']}", command, times, 1e3 * one["ms"])
        if special in timed:
            published, predicted = timed[special] / timed[general], own[special]["ms"] / own[general]["ms"]
            agree = (published > 1) == (predicted > 1)
            what = f"the form for heads of 64 over the general one, {case}: {published:.2f}"
            why = "" if agree else "the other form is predicted ahead"
            yield Row("xlstm", what, command, f"{predicted:.2f}", "works" if agree else "not", why)


def _problem(case: str) -> dict[str, int]:
    """``b1_s2048_h64`` as sizes."""
    batch, length, head = (int(part[1:]) for part in case.split("_"))
    return {"B": batch, "S": length, "DQK": head, "DV": head}


def aiter_table() -> list[str]:
    """What the model says of AITER's own kernel, by the Triton that compiled it."""
    published: dict[str, list[float]] = {}
    for one in _published():
        if one["kernel"] == "flash_attention" and one["provider"] == "aiter":
            published.setdefault(one["case"].removeprefix("d256_s"), []).append(1e3 * one["ms"])
    columns = ["Triton", "S", "128x64 published", "predicted", "spilled", "64x32 published", "predicted", "range"]
    columns += ["spilled", "gain published", "predicted", "off by"]
    lines = [
        "",
        "AITER's own kernel of the report's day (commit 9b9164d562), unmodified, recorded and predicted without a GPU",
        "by `scripts/aiter_attention.py`: the file's tile of 128x64, and 64x32 with V loaded ahead, in microseconds.",
        "The published times have the launch from Python and a synchronisation in them, some 110 us.",
        "",
        f"| {' | '.join(columns)} |",
        f"|{'---|' * len(columns)}",
    ]
    for triton, lengths in json.loads(_AITER.read_text(encoding="utf-8")).items():
        for length, each in lengths.items():
            (was, became), default, tuned = published[length], each["default"], each["tuned"]
            gain, measured = default["us"] / tuned["us"], was / became
            cells = [triton, length, f"{was:.0f}", f"{default['us']:.0f}", default["spilled"], f"{became:.0f}"]
            cells += [f"{tuned['us']:.0f}", f"{tuned['low']:.0f} to {tuned['high']:.0f}", tuned["spilled"]]
            cells += [f"{measured:.2f}", f"{gain:.2f}", f"{max(gain / measured, measured / gain):.2f}"]
            lines.append(f"| {' | '.join(map(str, cells))} |")
    return lines


def page(rows: list[Row]) -> str:
    """The page."""
    counts = Counter((row.document, row.state) for row in rows)
    lines = [
        "# What the source documents describe, tried",
        "",
        "kprof grew out of five public documents. Each system, tool, variable, table and number in them has a row",
        "here: the command that shows it, what that printed, and whether it works. `scripts/try_sources.py` runs every",
        "command and writes this page; a command that prints something else fails it. Times are predictions without",
        "a GPU beside the published ones: `works` means inside the predicted range, `partly` within a factor of two of",
        "it. Differences come from what was measured as from the model: the reasons stand beside them.",
        "",
        "| document | rows | works | partly | not |",
        "|---|---|---|---|---|",
    ]
    for key, title in TITLES.items():
        each = [counts[key, state] for state in STATES]
        lines.append(f"| {title} | {sum(each)} | {' | '.join(map(str, each))} |")
    total = [sum(counts[key, state] for key in TITLES) for state in STATES]
    lines.append(f"| all | {len(rows)} | {' | '.join(map(str, total))} |")
    for key, title in TITLES.items():
        lines += ["", f"## {title}", "", "| what | command | printed | | why |", "|---|---|---|---|---|"]
        for row in rows:
            if row.document == key:
                cells = (row.what, f"`{row.command}`" if row.command else "", row.printed, row.state, row.why)
                lines.append(f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in cells)} |")
        if key == "attention":
            lines += aiter_table()
    return "\n".join(lines) + "\n"


def make_files(folder: Path) -> None:
    """Small files of each kind, as the tests have them."""
    sys.path.insert(0, str(ROOT))
    from tests.inputs.results import test_gemm_bench as bench
    from tests.inputs.results.test_reading import SAMPLES

    names = {"hipblaslt": "bench.log", "tuned": "tuned.csv", "rccl": "rccl.log", "find-db": "gfx942.fdb.txt",
             "perf-db": "gfx942.updb.txt", "library logic": "logic.yaml", "Tensile benchmark": "00_Final.csv",
             "calls": "rocblas.yaml", "table": "wall_clock.txt", "JSON": "wall_clock.json"}  # fmt: skip
    for words, name in names.items():
        text = next(text for key, text in SAMPLES.items() if words in key)
        (folder / name).write_text(text)
    (folder / "tuning.txt").write_text(
        f"Git Version: 3b3d59eb\n{bench.NAMES},solution_index\n{bench.line(64, 64, 64, 8.0)},7\n"
    )
    ttgir = (ROOT / "tests/artifacts/mlir/matmul.gfx942.stages2.triton-3.9.ttgir").read_text()
    head = "// -----// IR Dump Before {} ({}) ('builtin.module' operation) //----- //\n"
    first = (ROOT / "tests/artifacts/mlir/matmul.triton-3.9.ttir").read_text()
    dump = head.format("A", "convert-triton-to-tritongpu") + first + "\n" + head.format("B", "pipeline") + ttgir
    (folder / "dump.log").write_text(dump)
    (folder / "only.ttgir").write_text(ttgir)
    (folder / "tunableop.csv").write_text(
        "Validator,GCN_ARCH_NAME,gfx942\nGemmTunableOp_Half_TN,tn_128_64_32,Default,0.5\n"
        "GemmTunableOp_Half_TN,tn_128_64_32,Gemm_Hipblaslt_1,0.25\n"
    )
    from scripts.damage_readers import TRACE

    (folder / "trace.json").write_text(TRACE)
    _decode_step(folder / "decode.json")
    configs = folder / "configs"
    configs.mkdir()
    knobs = {
        "BLOCK_M": 64,
        "BLOCK_N": 32,
        "PRELOAD_V": True,
        "waves_per_eu": 2,
        "num_warps": 4,
        "num_ctas": 1,
        "num_stages": 1,
    }
    (configs / "gfx942-MHA-DEFAULT.json").write_text(json.dumps({"fwd": {"default": knobs}}, indent=2))


def _decode_step(path: Path) -> None:
    """A trace of one block of a model that decodes under a graph."""
    from tests.artifacts.kineto.builder import Builder

    builder = Builder()
    correlation = builder.launch(10.0, 20.0, api="hipGraphLaunch")
    block = ("rms_norm", "Cijk_A", "rotary_embedding", "flash_attn_fwd", "Cijk_B", "rms_norm", "Cijk_C", "silu_and_mul")
    for at, name in enumerate((*block, "Cijk_D")):
        builder.kernel(name, 100.0 + 10 * at, 5.0, correlation, kind="Dispatch Task")
    builder.write(path)


def main() -> int:
    """Run, and write or compare."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="compare only")
    parser.add_argument("--no-times", action="store_true", help="leave the published times out")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        make_files(folder)
        found = list(tried(folder))
        rows = [row for row, _ in found] + ([] if options.no_times else list(predicted(folder)))
    failed = [wrong for _, wrong in found if wrong is not None]
    for wrong in failed:
        print(wrong)
    print(f"{len(rows)} rows, {len(failed)} do not print what they should")
    if not options.check and not options.no_times and not failed:
        PAGE.write_text(page(rows), encoding="utf-8")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
