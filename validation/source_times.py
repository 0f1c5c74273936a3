"""Compare published times with predictions, for the page of ``validation/try_sources.py``."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from validation.source_rows import ROOT, Row, run

_PUBLISHED = {"hf-rocm-kernels", "stock Triton", "aiter"}
# The configurations of the attention report. It does not name the matrix instruction, so the compiler chooses it.
_DEFAULT = "BLOCK_M=128,BLOCK_N=64,matrix_instr_nonkdim=0"
_TUNED = "BLOCK_M=64,BLOCK_N=32,PRE_LOAD_V=True,matrix_instr_nonkdim=0"
_REASONS = {
    "xlstm": "the number of heads is not published (8 here), nor is what a call launches: only ratios compare",
    "attention": "AITER's kernel is another one: the table below predicts it",
    "custom": "another implementation of the kernel, in HIP",
}
# This kernel's table was measured with several sets of weights, which are not in the caches, and a device graph.
_MEASURED_COLD = {"gemm_skinny_fp8"}
_ASSUMED_COLD = "the text does not say what is in the caches: flushed is assumed, as for the products"
# The times of the attention report include the launch from Python and synchronisation. The shortest one is 162.
_HOST_US = 110.0
# Maximum factor between a predicted and a published gain that counts as agreement.
_GAIN = 1.5
_AITER = ROOT / "docs/validation/aiter_attention.json"


def predicted(folder: Path) -> Iterator[Row]:
    """Compare each published time of a bundled kernel with the predicted range."""
    sources = {"Creating custom": "custom", "Flash Attention": "attention"}
    attention: dict[str, list[tuple[float, float]]] = {}
    for one in _published():
        document = next((key for words, key in sources.items() if words.lower() in one["source"].lower()), None)
        if document is None or one["provider"] not in _PUBLISHED:
            continue
        after = "after tuning" in one["source"]
        how = "--condition flushed" if document == "custom" else f"-c {_TUNED if after else _DEFAULT}"
        command = f"kprof analyze kernel {one['kernel']} --case {one['case']} --arch gfx942 {how}"
        times = _predicted_us(command, folder)
        what = f"table: {one['kernel']} {one['case']}{', tuned' if after else ''}, {one['provider']}"
        remark = "" if one["kernel"] in _MEASURED_COLD or document != "custom" else _ASSUMED_COLD
        yield _compared(document, what, command, times, 1e3 * one["ms"], remark=remark)
        if document == "attention":
            attention.setdefault(one["case"], []).append((times[0], 1e3 * one["ms"]))
    for case, ((before, was), (after_us, became)) in attention.items():
        gain, published = before / after_us, was / became
        off = max(gain / published, published / gain)
        command = f"kprof analyze kernel flash_attention --case {case} --arch gfx942"
        why = (
            ""
            if off <= _GAIN
            else f"{off:.2f} times too high; the table below predicts AITER's own kernel, which is closer"
        )
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


def _predicted_us(command: str, folder: Path) -> list[float]:
    """Return the predicted time of all launches and its range, without the overhead of timing events."""
    document = _document(command, folder)
    model = document["kernels"][0]["model"]
    total = next(iter(document["jobs"]), model)
    return [total[key] - model["events_us"] for key in ("time_us", "low_us", "high_us")]


def _document(command: str, folder: Path) -> dict[str, Any]:
    """Run a command and return the document that it writes.

    Raises:
        RuntimeError: the command writes no document. An old document must not be used instead.
    """
    place = folder / "one.json"
    place.unlink(missing_ok=True)
    printed = run(f"{command} --json {place}", folder)
    if not place.exists():
        raise RuntimeError(f"{command} writes no document:\n{printed[-1500:]}")
    found: dict[str, Any] = json.loads(place.read_text(encoding="utf-8"))
    return found


def _published() -> list[dict[str, Any]]:
    text = (ROOT / "kprof/bench/published.json").read_text(encoding="utf-8")
    found: list[dict[str, Any]] = json.loads(text)["results"]
    return found


def _compared(document: str, what: str, command: str, times: list[float], published: float, *, remark: str = "") -> Row:
    own, low, high = times
    host = _HOST_US if document == "attention" else 0.0
    took = published - host
    state = "works" if low <= took <= high else "partly" if low / 2 <= took <= 2 * high else "not"
    without = f"{host:g} us of the host's launch and synchronisation taken off" if host else ""
    outside = f"published {took:.4g} us is outside, {took / own:.2g} times the prediction"
    parts = [without, remark] if state == "works" else [outside, without, remark, _REASONS[document]]
    printed = f"{own:.4g} us, {low:.4g} to {high:.4g}"
    lacks = "fact" if state != "works" and (remark or document == "xlstm") else ""
    return Row(document, f"{what}: {published:.4g} us", command, printed, state, "; ".join(filter(None, parts)), lacks)


def _forms(folder: Path) -> Iterator[Row]:
    """Compare both forms of mLSTM, with all their launches, with their published times and with each other."""
    general, special = "mlstm_chunkwise", "mlstm_chunkwise_d64"
    cases: dict[str, list[dict[str, Any]]] = {}
    for one in _published():
        if one["kernel"] == general:
            cases.setdefault(one["case"], []).append(one)
    for case, each in cases.items():
        sizes = ",".join(f"{key}={size}" for key, size in _problem(case).items())
        command = f"kprof select {general} --arch MI300X --shape {sizes}"
        own = _predictions(command, {one.get("implementation", general) for one in each}, folder)
        timed = {one.get("implementation", general): one["ms"] for one in each}
        for one in each:
            name = one.get("implementation", general)
            times = [1e3 * own[name][key] for key in ("ms", "low_ms", "high_ms")]
            yield _compared("xlstm", f"table: {name} {case}, {one['provider']}", command, times, 1e3 * one["ms"])
        if special in timed:
            published, predicted = timed[special] / timed[general], own[special]["ms"] / own[general]["ms"]
            agree = (published > 1) == (predicted > 1)
            what = f"the form for heads of 64 over the general one, {case}: {published:.2f}"
            why = "" if agree else "the model has the other form ahead"
            yield Row("xlstm", what, command, f"{predicted:.2f}", "works" if agree else "not", why)


def _predictions(command: str, names: set[str], folder: Path) -> dict[str, dict[str, Any]]:
    """Return the candidates of a ``kprof select`` that have a predicted time, by name.

    Args:
        command: the command.
        names: kernels that must have a time.
        folder: folder of the example files.

    Raises:
        RuntimeError: a kernel has no time. For example, compile workers refuse to work if a file of kprof changes
            while the script runs.
    """
    candidates = _document(command, folder)["candidates"]
    found = {one["implementation"]: one for one in candidates if one["basis"] == "predicted"}
    for name in sorted(names - found.keys()):
        reasons = [one["reason"] for one in candidates if one["implementation"] == name and one["basis"] == "unknown"]
        raise RuntimeError(f"{command} predicts no time for {name}: {'; '.join(reasons)}")
    return found


def _problem(case: str) -> dict[str, int]:
    """Return the sizes of a case such as ``b1_s2048_h64``."""
    batch, length, head = (int(part[1:]) for part in case.split("_"))
    return {"B": batch, "S": length, "DQK": head, "DV": head}


def aiter_table() -> list[str]:
    """Return a table of published and predicted times of AITER's own kernel, compiled by each Triton."""
    published: dict[str, list[float]] = {}
    for one in _published():
        if one["kernel"] == "flash_attention" and one["provider"] == "aiter":
            published.setdefault(one["case"].removeprefix("d256_s"), []).append(1e3 * one["ms"])
    columns = ["Triton", "S", "128x64 published", "predicted", "spilled", "64x32 published", "predicted", "range"]
    columns += ["spilled", "gain published", "predicted", "off by"]
    lines = [
        "",
        "AITER's own kernel of the report's day (commit 9b9164d562), unmodified, recorded and predicted without a GPU",
        "by `validation/aiter_attention.py`: the file's tile of 128x64, and 64x32 with V loaded ahead, in",
        "microseconds.",
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
