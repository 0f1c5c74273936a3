"""Compare the recommendation of ``kprof advise`` with all compiled configurations, its start, and ``kprof tune``.

    nice python validation/validate_advice.py [--compiles 16] [--seconds 250] [-j 2] [--only gemm,softmax]

From each starting point, a search with a fixed number of configurations runs, because a time limit would depend on
the machine's load. Then ``kprof tune`` runs for ``--seconds``, once per problem; the page has its number of
configurations. Each result is stored in ``--results`` immediately, and another run continues from there; ``--page``
only writes the page from it. The exit code is 1 if a compiled configuration is more than 1 % faster than a
recommendation, or a recommendation is slower than its start.
"""

import argparse
import json
import platform
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import geometric_mean, median
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from kprof.tuning.trials import Trials

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / "analyzers")]
RESULTS = ROOT / "docs" / "validation" / "advice.json"
PAGE = ROOT / "docs" / "validation" / "advice.md"
NEAR = 1.01
GPU = "MI300X"


class Start(NamedTuple):
    """A starting point: a kernel, a problem and knobs on top of the kernel's own."""

    kernel: str
    shape: Mapping[str, Any] | str
    config: Mapping[str, Any]

    @property
    def problem(self) -> str:
        """The problem as named on the page."""
        return self.shape if isinstance(self.shape, str) else _text(self.shape)


def _text(values: Mapping[str, Any]) -> str:
    return " ".join(f"{name}={value}" for name, value in values.items())


SQUARE = {"M": 4096, "N": 4096, "K": 4096}
STARTS = (
    Start("gemm", SQUARE, {"BLOCK_M": 128, "BLOCK_N": 128, "BLOCK_K": 64, "num_warps": 4, "matrix_instr_nonkdim": 32}),
    Start("gemm", SQUARE, {"BLOCK_M": 64, "BLOCK_N": 64, "BLOCK_K": 32, "num_warps": 4}),
    Start("gemm", SQUARE, {"BLOCK_M": 256, "BLOCK_N": 256, "BLOCK_K": 64, "num_warps": 4}),
    Start("gemm", {"M": 64, "N": 4096, "K": 8192}, {"BLOCK_M": 64, "BLOCK_N": 64, "BLOCK_K": 64, "num_warps": 4}),
    Start("gemm", "small_c", {"BLOCK_M": 128, "BLOCK_N": 128, "SPLIT_K": 1, "num_warps": 4}),
    Start("flash_attention", "d256_s512", {"BLOCK_M": 64, "BLOCK_N": 32}),
    Start("flash_attention", "d256_s512", {"BLOCK_M": 128, "BLOCK_N": 64}),
    Start("flash_attention", "d256_s4096", {"BLOCK_M": 128, "BLOCK_N": 64}),
    Start("flash_attention", "d256_s4096", {"BLOCK_M": 64, "BLOCK_N": 16}),
    Start("flash_attention", "s4096_d128", {"BLOCK_M": 64, "BLOCK_N": 64, "num_warps": 8}),
    Start("attention_transposed_v", "s4096_d128", {"BLOCK_M": 128, "BLOCK_N": 128}),
    Start("attention_transposed_v", "d256_s1024", {"BLOCK_M": 128, "BLOCK_N": 64}),
    Start("attention_lean", "s4096_d128", {"BLOCK_M": 256, "BLOCK_N": 128}),
    Start("attention_lean", "s1024_d128", {"BLOCK_M": 128, "BLOCK_N": 32, "num_warps": 4}),
    Start("attention_persistent", "s2048_d128", {"BLOCK_M": 64, "BLOCK_N": 64}),
    Start("attention_varlen", "ragged_d128", {"BLOCK_M": 128, "BLOCK_N": 64}),
    Start("attention_varlen", "padded_d80", {"BLOCK_M": 32, "BLOCK_N": 32}),
    Start("attention_int8", "qkv_s4096_d128", {"BLOCK_M": 64, "BLOCK_N": 32}),
    Start("attention_int8", "kv_s4096_d64", {"BLOCK_M": 256, "BLOCK_N": 128}),
    Start("attention_forward_backward", "s4096_d64", {"BLOCK_M": 64, "BLOCK_N": 64}),
    Start("flash_decoding", "llama70b_n8192", {"BLOCK_N": 32, "SPLITS": 1}),
    Start("flash_decoding", "mha_n4096", {"BLOCK_N": 128, "num_warps": 8}),
    Start("flash_decoding_int4", "llama70b_n8192", {"BLOCK_N": 128, "num_warps": 4}),
    Start("mla_decode", "deepseek_b8_t4096", {"BLOCK_M": 16, "BLOCK_N": 16, "SPLITS": 1}),
    Start("mla_decode", "deepseek_b1_t16384", {}),
    Start("gemm_streamk", "square_4k", {"BLOCK_M": 128, "BLOCK_N": 128}),
    Start("gemm_skinny_fp8", "llama405b_qkv_m16", {"BLOCK_N": 128, "SPLIT_K": 1}),
    Start("gemm_skinny_fp8", "llama405b_qkv_m1", {"BLOCK_M": 16, "BLOCK_N": 32}),
    Start("gemm_w4a16_splitk", "llama70b_qkv_m16", {"BLOCK_N": 32, "SPLIT_K": 1}),
    Start("gemm_multiply_reduce", "row", {"BLOCK_K": 128, "num_warps": 4}),
    Start("mlstm_chunkwise", "b1_s2048_h128", {}),
    Start("mlstm_chunkwise", "b1_s2048_h64", {"CHUNK": 128}),
    Start("mlstm_chunkwise_d64", "b1_s2048_h64", {"CHUNK": 16}),
    Start("layernorm", "m2048_n16384", {"BLOCK_N": 1024, "num_warps": 16}),
    Start("layernorm", "m1024_n65536", {"BLOCK_N": 16384, "num_warps": 2}),
    Start("layernorm_backward", "m4096_n4096", {"GROUPS": 152}),
    Start("rmsnorm", "llama8b", {"BLOCK": 16384, "num_warps": 16}),
    Start("rmsnorm", "rows_8k", {"BLOCK": 1024, "num_warps": 1}),
    Start("rmsnorm_backward", "m4096_n8192", {"GROUPS": 1216, "COLUMNS": 32}),
    Start("rmsnorm_residual_fp8", "m2048_n16384", {"num_warps": 2}),
    Start("softmax", "rows_128", {"BLOCK": 16384, "num_warps": 16}),
    Start("softmax", "vocabulary", {"BLOCK": 1024, "num_warps": 4}),
    Start("swiglu_fp8", "m2048_n8192", {"BLOCK_N": 8192, "num_warps": 1}),
    Start("memory_copy", "gib1", {"BLOCK": 1024, "TILES": 8, "num_warps": 8}),
    Start("memory_read", "gib1", {"BLOCK": 1024, "num_warps": 16}),
    Start("memory_write", "mib64", {"BLOCK": 16384, "num_warps": 2}),
)


def climbed(start: Start, gpu: str, compiles: int, jobs: int) -> "Trials | str":
    """Search from a starting point; return the result, or the reason why the model has no time for it."""
    from kprof.deadline import Deadline
    from kprof.hardware.machine import load_gpu
    from kprof.options.groups import CompileOptions
    from kprof.targets.jobs import jobs_of
    from kprof.targets.library import load
    from kprof.tuning.executors.local import LocalExecutor
    from kprof.tuning.request import judge
    from kprof.tuning.trials.analysed import analysed_start
    from kprof.tuning.trials.climb import climb

    case, shape = (start.shape, {}) if isinstance(start.shape, str) else (None, dict(start.shape))
    options = CompileOptions(config=dict(start.config), case=case, shape=shape, jobs=jobs)
    kernel, (machine, product) = load(start.kernel), load_gpu(gpu)
    (job,) = jobs_of(kernel, machine, options)
    config = kernel.configure(machine.name, options.config, job.problem)
    begun = analysed_start(job, config, use_cache=options.use_cache)
    return climb(
        kernel, machine, options, begun, product=product, problem=job.problem, deadline=Deadline(3600),
        executor=LocalExecutor(judge(), jobs or None), most=compiles,
    )  # fmt: skip


def advised(start: Start, compiles: int, jobs: int) -> dict[str, Any]:
    """Search from a starting point and return the row of the table."""
    found = climbed(start, GPU, compiles, jobs)
    if isinstance(found, str):
        return {"why": found}
    times = [trial.time_us for trial in found.all if trial.time_us is not None]
    best = found.best[0] if found.best else None
    return {
        "start_us": found.start.time_us,
        "told_us": best.time_us if best is not None else found.start.time_us,
        "change": dict(best.change) if best is not None else {},
        "fastest_us": min([*times, *filter(None, [found.start.time_us])], default=None),
        "compiled": found.tried,
        "seconds": round(found.seconds, 1),
    }


def tuned(start: Start, budget: float, jobs: int) -> dict[str, Any]:
    """Return the best configuration that ``kprof tune`` finds for the problem, including the kernel's own one."""
    from kprof.api.tune import tune

    case, shape = ((start.shape,), ()) if isinstance(start.shape, str) else ((), (start.shape,))
    found = tune(start.kernel, case=case, shape=shape, budget=budget, jobs=jobs).document
    problem = found.problems[0]
    known = [*problem.ranking[:1], *([problem.own] if problem.own is not None else [])]
    best = min(known, key=lambda one: one.time_us, default=None)
    return {
        "us": None if best is None else best.time_us,
        "config": {} if best is None else best.config,
        "compiled": found.search.looked_at,
        "seconds": found.search.seconds,
    }


def measure(starts: Sequence[Start], kept: dict[str, Any], options: argparse.Namespace) -> None:
    """Run missing searches, and store every row immediately."""
    from kprof.errors import KprofError

    steps = [("starts", start, f"{start.kernel} | {start.problem} | {_text(start.config)}") for start in starts]
    # Run one problem of each kernel before the second problem of any kernel.
    order = sorted(starts, key=lambda start: [other for other in starts if other.kernel == start.kernel].index(start))
    steps += [("problems", start, f"{start.kernel} | {start.problem}") for start in order if options.seconds]
    for kind, start, key in steps:
        if key in kept[kind]:
            continue
        print(kind, key, file=sys.stderr, flush=True)
        try:
            if kind == "starts":
                row = advised(start, options.compiles, options.jobs)
            else:
                row = tuned(start, options.seconds, options.jobs)
        except KprofError as error:
            row = {"error": error.message}
        kept[kind][key] = row
        options.results.write_text(json.dumps(kept, indent=1) + "\n")


class Row(NamedTuple):
    """Results for a starting point."""

    key: str
    found: Mapping[str, Any]
    longer: Mapping[str, Any]

    @property
    def ratio(self) -> float | None:
        """Time of the recommendation divided by that of the longer search; below 1 the recommendation is faster."""
        return self.found["told_us"] / self.longer["us"] if self.longer.get("us") else None

    @property
    def beaten(self) -> bool:
        """Whether a compiled configuration is faster by more than 1 %."""
        return bool(self.found["told_us"] > NEAR * self.found["fastest_us"])

    @property
    def slower(self) -> bool:
        """Whether the recommendation is slower than the start."""
        return bool(self.found["told_us"] > self.found["start_us"])

    def line(self) -> str:
        """The row of the table."""
        kernel, problem, config = self.key.split(" | ")
        start, proposed = self.found["start_us"], self.found["told_us"]
        name = f"{kernel} *" if self.found.get("earlier") else kernel
        cells = [name, problem, config or "its own", f"{start:,.4g}", _text(self.found["change"]) or "nothing"]
        cells += [
            f"{proposed:,.4g}",
            f"{start / proposed:.2f}",
            f"{self.found['fastest_us']:,.4g}",
            self.found["compiled"],
        ]
        cells += [_or(self.longer.get("us"), ",.4g"), self.longer.get("compiled", ""), _or(self.ratio, ".2f")]
        return f"| {' | '.join(map(str, cells))} |"


TITLE = """\
# Advice against what it compiled, and against longer searches

Written by `validation/validate_advice.py`. Times are predicted microseconds: this says how well `kprof advise`
searches, not how well the model predicts ([that page](model.md)).

Triton {triton}, {gpu}; {compiles} configurations a search beside the start, {tune_seconds:g} seconds for `kprof tune`,
once a problem, on {cores} cores that others used too.
"""
COLUMNS = """
\\*: of an earlier run, before masked bytes and the search's order changed, kept with four digits; so are all of `tune`.

`fastest`: of everything that the search compiled, the start among it. `tune`: the best of the longer search, which
knows nothing of the start; under 1 the recommendation is faster than that. `tried`: configurations predicted.

| kernel | problem | start | µs | change | µs | gain | fastest | tried | tune | tried | ratio |
|---|---|---|--:|---|--:|--:|--:|--:|--:|--:|--:|
"""


def page(kept: Mapping[str, Any]) -> tuple[str, bool]:
    """Return the page, and whether all its conditions hold."""
    rows, failed = [], []
    for key, found in kept["starts"].items():
        kernel, problem, _ = key.split(" | ")
        if found.get("start_us") is None or found.get("told_us") is None:
            failed.append(f"| {key} | {found.get('error') or found.get('why')} |")
        else:
            rows.append(Row(key, found, kept["problems"].get(f"{kernel} | {problem}", {})))
    ratios = [row.ratio for row in rows if row.ratio is not None]
    longer = [row for row in rows if row.ratio is not None]
    more = [row.longer["compiled"] / row.found["compiled"] for row in longer]
    tenfold = [row.ratio for row, times in zip(longer, more, strict=True) if row.ratio is not None and times >= 10]
    kernels = {row.key.split(" | ")[0] for row in rows}
    facts = {
        "starting points": f"{len(rows)} of {len(STARTS)} in the script, over {len(kernels)} kernels",
        "not judged": len(failed),
        "a compiled configuration beats the recommendation by more than 1 %": sum(row.beaten for row in rows),
        "the recommendation is slower than the start": sum(row.slower for row in rows),
        "the longer search predicted so many times as many, median": _or(median(more) if more else None, ".1f"),
        "gain, geometric mean": f"{geometric_mean(row.found['start_us'] / row.found['told_us'] for row in rows):.2f}",
        "recommendation over the longer search, geometric mean": _or(geometric_mean(ratios) if ratios else None, ".3f"),
        "the same, worst": _or(max(ratios, default=None), ".2f"),
        "the same, where it predicted ten times as many": f"{_or(geometric_mean(tenfold) if tenfold else None, '.3f')} "
        f"of {len(tenfold)}",
        "at most 5 % slower than the longer search": f"{sum(ratio <= 1.05 for ratio in ratios)} of {len(ratios)}",
    }
    text = TITLE.format(**kept["about"]) + "\n| | |\n|---|---|\n"
    text += "".join(f"| {name} | {value} |\n" for name, value in facts.items())
    text += COLUMNS + "".join(f"{row.line()}\n" for row in rows)
    if failed:
        text += "\nNot judged:\n\n| kernel | problem | start | why |\n|---|---|---|---|\n" + "\n".join(failed) + "\n"
    return text, not any(row.beaten or row.slower for row in rows)


def _or(value: float | None, form: str) -> str:
    return "" if value is None else format(value, form)


def main() -> int:
    """Run the searches and write the page."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--compiles", type=int, default=16, help="configurations of a search")
    parser.add_argument("--seconds", type=float, default=250.0, help="of tune; 0: not at all")
    parser.add_argument("--jobs", "-j", type=int, default=0)
    parser.add_argument("--only", default="", help="kernels")
    parser.add_argument("--results", type=Path, default=RESULTS)
    parser.add_argument("--page", action="store_true", help="only write the page")
    options = parser.parse_args()
    kept: dict[str, Any] = {"about": {}, "starts": {}, "problems": {}}
    if options.results.is_file():
        kept = json.loads(options.results.read_text())
    if not options.page:
        import os

        from kprof.compiler.versions import installed

        kept["about"] = {
            "triton": installed().version,
            "python": platform.python_version(),
            "gpu": GPU,
            "cores": len(os.sched_getaffinity(0)),
            "compiles": options.compiles,
            "tune_seconds": options.seconds,
        }
        wanted = set(filter(None, options.only.split(",")))
        measure([start for start in STARTS if not wanted or start.kernel in wanted], kept, options)
    text, good = page(kept)
    PAGE.write_text(text)
    return 0 if good else 1


if __name__ == "__main__":
    raise SystemExit(main())
