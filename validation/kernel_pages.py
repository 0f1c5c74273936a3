"""Write the predicted profile into the page of each bundled kernel, ``docs/kernels/KERNEL.md``.

    python validation/kernel_pages.py [--only gemm,softmax]

A page's prose is written by hand; the tables between its two markers are written here, from ``kprof.analyze`` with the
installed Triton. Two or three cases are compiled with the configurations that kprof ships. No GPU is used.
"""

import argparse
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any

from msgspec import UNSET

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / "analyzers")]

import kprof  # noqa: E402
from kprof.condition import WARM  # noqa: E402
from kprof.document import KernelReport  # noqa: E402
from kprof.hardware.machine import load_gpu  # noqa: E402
from kprof.output.quantities import duration, interval, kib  # noqa: E402
from kprof.reporters._console_text import limiter, waves  # noqa: E402
from kprof.reporters._model_text import time_words  # noqa: E402
from kprof.reporters.answer import NEGLIGIBLE, access_line, causes_of, cost_words, short_name  # noqa: E402
from kprof.targets.library import bundled, load  # noqa: E402

PAGES = ROOT / "docs" / "kernels"
PRODUCTS = ("MI300X", "MI355X")
CASES: Mapping[str, Sequence[str]] = {
    "attention_forward_backward": ("s4096_d128", "gpt_oss"),
    "attention_lean": ("s4096_d128", "s4096_d64", "gqa_bf16"),
    "attention_transposed_v": ("s4096_d128", "s4096_d64", "d256_s4096"),
    "attention_varlen": ("ragged_d128", "d256_s4096", "padded_d80"),
    "flash_attention": ("s4096_d128", "s4096_d64", "d256_s4096"),
    "gemm": ("square_8k", "square_8k_fp8", "small_c"),
    "gemm_multiply_reduce": ("row", "four_rows", "tiny"),
    "gemm_skinny_fp8": ("llama405b_qkv_m16", "llama405b_qkv_m1", "llama405b_gate_up_m32"),
    "gemm_w4a16_splitk": ("llama70b_qkv_m16", "llama70b_qkv_m1", "batch_256"),
    "layernorm": ("m4096_n4096", "m2048_n16384", "m1024_n65536"),
    "mla_decode": ("deepseek_b8_t4096", "tensor_parallel_8"),
    "mlstm_chunkwise": ("b1_s2048_h128", "b2_s4096_h128"),
    "mlstm_chunkwise_d64": ("b1_s2048_h64", "b4_s4096_h64"),
    "moe_fused": ("qwen3_30b_t4096", "qwen3_30b_t64", "mixtral_t4096"),
    "paged_decoding": ("llama70b_page16", "llama70b_page64", "mqa"),
    "rmsnorm": ("rows_8k", "llama405b_decode", "wide"),
    "rmsnorm_residual_fp8": ("m2048_n16384", "llama405b_m1", "llama405b_m256"),
    "softmax": ("rows_8k", "rows_128", "vocabulary"),
    "swiglu_fp8": ("m2048_n8192", "llama405b_m1", "llama405b_m256"),
}
"""Cases on the page of a kernel whose first three are alike or make long tables; the others show their first three."""
BEGIN, END = "<!-- profile: written by validation/kernel_pages.py -->", "<!-- end of profile -->"
PROBLEMS = "| case | problem | configuration |\n|---|---|---|"
CODE = (
    "| case | launch | grid | wavefronts | VGPRs | AGPRs | SGPRs | spilled VGPRs | LDS | waves per SIMD "
    "| limited by |\n|---|---|---|--:|--:|--:|--:|--:|--:|--:|---|"
)
TIMES = (
    "| case | launch | time | likely | of the GPU's limit | where the time goes | hot loop, or code without loops "
    "| most expensive finding |\n|---|---|--:|---|--:|---|---|---|"
)
_MATRIX = re.compile(r"v_mfma_(?:scale_)?f32_(\d+x\d+x\d+)_?(\w*)|v_mfma_i32_(\d+x\d+x\d+)_?(\w*)")


def problem_row(case: str, problem: Mapping[str, Any], config: Mapping[str, Any]) -> str:
    """Return the row with a case's sizes and its shipped configuration."""
    return _row(f"`{case}`", _values(problem), _values(config))


def code_row(case: str, kernel: KernelReport) -> str:
    """Return the row with a launch's grid, registers, LDS and occupancy."""
    used, held = kernel.resources, kernel.occupancy
    assert used is not UNSET
    assert held is not UNSET
    assert held is not None
    grid = kernel.launch["grid"] if kernel.launch is not UNSET else []
    return _row(
        f"`{case}`",
        f"`{short_name(kernel)}`",
        "x".join(f"{axis:,}" for axis in grid),
        *map(_count, (used.num_warps, used.vgpr, used.agpr, used.sgpr, used.vgpr_spills)),
        kib(used.lds_bytes) if isinstance(used.lds_bytes, int) else "not known",
        f"{waves(held.waves_per_simd)} of {held.max_waves_per_simd}",
        limiter(held.limiter, held.waves_per_simd),
    )


def time_row(case: str, kernel: KernelReport) -> str:
    """Return the row with a launch's predicted time, its causes, its hot loop and its most expensive finding."""
    model = kernel.model
    time = likely = limit = words = "not known"
    if model is not UNSET and model.time_us is not None:
        time, words = duration(model.time_us), ", ".join(time_words(model.shares).split("   "))
        if model.low_us is not None and model.high_us is not None:
            likely = interval(model.low_us, model.high_us)
        if model.speed_of_light_percent is not None:
            limit = f"{model.speed_of_light_percent:.0f} %"
    return _row(f"`{case}`", f"`{short_name(kernel)}`", time, likely, limit, words, _accesses(kernel), _finding(kernel))


def cases_of(kernel: kprof.Kernel) -> Sequence[str]:
    """Return the cases on a kernel's page."""
    return CASES.get(kernel.name) or list(kernel.shapes)[:3]


def profile(name: str) -> Iterator[str]:
    """Yield the lines of a kernel's profile: a heading and three tables for each GPU."""
    clocks, tables = [], []
    for product in PRODUCTS:
        rows: dict[str, list[str]] = {PROBLEMS: [], CODE: [], TIMES: []}
        for case in cases_of(load(name)):
            rows[PROBLEMS].append(problem_row(case, *shipped(load(name), product, case)))
            result = kprof.analyze(name, arch=product, case=case, condition=WARM.name, try_cures=False)
            rows[CODE] += [code_row(case, kernel) for kernel in result.kernels]
            rows[TIMES] += [time_row(case, kernel) for kernel in result.kernels]
            for job in result.document.jobs:
                likely = "not known" if job.low_us is None or job.high_us is None else interval(job.low_us, job.high_us)
                total = "not known" if job.time_us is None else duration(job.time_us)
                rows[TIMES].append(_row(f"`{case}`", "all launches", total, likely, "", "", "", ""))
            model = result.kernels[0].model
        clock = None if model is UNSET else model.clock_mhz
        clocks.append(f"{'not known' if clock is None else f'{clock:,.0f} MHz'} on an {product}")
        tables += [f"### {product}", ""]
        for head, found in rows.items():
            tables += [*head.split("\n"), *found, ""]
    yield (
        f"Compiled with Triton {version('triton')} and the configurations that kprof ships. Predicted for a kernel "
        f"that is {WARM.text} ({WARM.short}), at {' and '.join(clocks)}. Nothing was measured."
    )
    yield from ("", *tables)


def shipped(kernel: kprof.Kernel, product: str, case: str) -> tuple[Mapping[str, Any], Mapping[str, Any]]:
    """Return a case's problem on a GPU, and the configuration that kprof ships for it."""
    problem = kernel.problem(load_gpu(product)[0].name, case)
    return problem, kernel.configure(product, None, problem)


def with_profile(page: str, lines: Sequence[str]) -> str:
    """Return a page with the lines between its markers.

    Raises:
        ValueError: the page does not have each marker once.
    """
    if page.count(BEGIN) != 1 or page.count(END) != 1:
        raise ValueError(f"the page needs the lines {BEGIN} and {END} once")
    before, _, rest = page.partition(BEGIN)
    return f"{before}{BEGIN}\n" + "\n".join(lines).rstrip() + f"\n{END}{rest.partition(END)[2]}"


def _accesses(kernel: KernelReport) -> str:
    """Return the matrix instructions and the widths of memory accesses of the hot loop, or of code without loops."""
    hot = next((loop for loop in kernel.loops if loop.hot), None)
    counts = dict(hot.matrix) if hot is not None else {}
    if not kernel.loops:
        for mnemonic, count in kernel.instructions.items():
            if found := _MATRIX.match(mnemonic):
                shape = " ".join(filter(None, found.groups())).replace("_", " ")
                counts[shape] = counts.get(shape, 0) + count
    parts = [f"{count:,} MFMA {shape}" for shape, count in counts.items()]
    return "; ".join(filter(None, [*parts, *access_line(kernel).split("   ")]))


def _finding(kernel: KernelReport) -> str:
    """Return the finding that costs most, with a link to its rule; "none" if no finding has a measurable cost."""
    for cause in causes_of(kernel):
        if cause.gain is not None and cause.gain.share >= NEGLIGIBLE:
            found = kernel.findings[cause.findings[0]]
            return f"[{found.rule}](../rules/{found.rule}-{found.name}.md) {found.name}: {cost_words(cause.gain)}"
    return "none"


def _values(values: Mapping[str, Any]) -> str:
    return " ".join(f"{name}={value}" for name, value in values.items() if value is not None)


def _count(value: Any) -> str:
    return f"{value:,}" if isinstance(value, int) else "not known"


def _row(*cells: str) -> str:
    return f"| {' | '.join(cells)} |"


def main() -> int:
    """Write the profiles of the pages."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default="", metavar="KERNELS", help="only these kernels, comma-separated")
    names = list(filter(None, parser.parse_args().only.split(","))) or sorted(bundled())
    if unknown := sorted(set(names) - set(bundled())):
        print(f"error: no bundled kernel {', '.join(unknown)}; kprof list kernels lists them", file=sys.stderr)
        return 2
    for name in names:
        path = PAGES / f"{name}.md"
        lines = list(profile(name))
        path.write_text(with_profile(path.read_text(encoding="utf-8"), lines), encoding="utf-8")
        print(f"{path.relative_to(ROOT)} written", flush=True)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
