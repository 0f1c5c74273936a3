"""Compare bundled kernels with AITER's Triton operators for the same job, by predicted times.

    git clone https://github.com/ROCm/aiter
    nice python validation/parity.py aiter [--python PYTHON] [--only gemm,softmax] [--gpu MI300X] [--again]
    python validation/parity.py --ours [--only gemm,softmax]
    python validation/parity.py --page

Each row is a case of a bundled kernel on a GPU. AITER's operator is called by its own Python function, which chooses
its configuration, in a program that ``kprof capture`` records: ``validation/programs/aiter_pairs.py``. ``--python``
names an interpreter with torch, Triton and kprof; the one that runs this is used by default. Each row is stored in
docs/validation/parity.json immediately, and a run skips stored rows unless ``--again`` is given. ``--ours`` only
predicts bundled kernels whose configuration has changed, without AITER. ``--page`` only writes
docs/validation/parity.md.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / "analyzers")]

RESULTS = ROOT / "docs" / "validation" / "parity.json"
PAGE = ROOT / "docs" / "validation" / "parity.md"
PROGRAM = Path(__file__).with_name("programs") / "aiter_pairs.py"
GPUS = ("MI300X", "MI355X")
LIMIT = 1.05
"""From this ratio of the bundled kernel's time to AITER's on, the page gives a reason."""
TIME_LIMIT = 600
"""Time limit of one recording in seconds."""


class Pair(NamedTuple):
    """A bundled kernel and AITER's operator for the same job.

    Attributes:
        operator: AITER's function, below ``aiter.ops.triton``.
        cases: compared cases of the bundled kernel, or sizes ``K=V,...`` that replace those of its first case.
        note: difference between the two operations, or "".
        kernel: name of the bundled kernel if it differs from the pair's name.
    """

    operator: str
    cases: tuple[str, ...]
    note: str = ""
    kernel: str = ""


_TUNED_BF16 = ("M=64,N=5120,K=2880,dtype=bf16,out=bf16", "M=2048,N=5120,K=2880,dtype=bf16,out=bf16")
"""Products with a tuned file of AITER for the MI355X; for the MI300X there is no 16-bit file."""
_TUNED_FP8 = ("M=16,N=256,K=4096", "M=16,N=2112,K=7168")
"""Products with a tuned file of AITER for the MI300X and for the MI355X."""
_FULL_ATTENTION = (
    "causal=False",
    "causal=False,D=64",
    "causal=False,B=1,H=64,HK=8,SQ=8192,SK=8192",
    "causal=False,SQ=1024,SK=1024",
    "causal=False,B=16,D=64,SQ=512,SK=512",
    "causal=False,B=1,SQ=16384,SK=16384",
    "causal=False,HK=4,SQ=2048,SK=2048",
)
"""Attention without a mask, for operators whose causal loops cannot be counted."""
_LLAMA_405B = tuple(f"llama405b_m{rows}" for rows in (1, 4, 16, 64, 128, 512))
_ROWS = ("M=32768,N=1024", "M=8192,N=2048", "M=8192,N=5120,dtype=bf16", "M=16384,N=4096", "M=1024,N=8192")
PAIRS: Mapping[str, Pair] = {
    "attention_forward_backward": Pair(
        "attention.mha.flash_attn_func, backward",
        ("s4096_d128", "s4096_d64", "d256_s1024", "d256_s2048", "d256_s4096", "llama_gqa", "full", "window", "dropout"),
    ),
    "attention_fp8": Pair(
        "attention.mha_v3.flash_attn_func",
        ("s4096_d128", "llama_gqa", "full", *_FULL_ATTENTION),
        "AITER writes 32-bit results and its scales are for a group of heads",
    ),
    "attention_int8": Pair(
        "attention.fav3_sage.fav3_sage_func",
        ("qkpv_s4096_d128", "full", "qkv_s4096_d128", *(f"form=qkpv,{case}" for case in _FULL_ATTENTION)),
        "AITER's second product is of 8-bit floats instead of 8-bit integers; neither quantises its inputs",
    ),
    "attention_persistent": Pair(
        "attention.lean_atten.persistent_lean_attention",
        ("s2048_d128", "full"),
        "AITER's inputs keep the heads of a token together; its public function asks a module for what is in another "
        "one, so the function behind it is called",
    ),
    "attention_persistent_not": Pair(
        "attention.mha.flash_attn_func",
        ("s2048_d128", "s1024_d64", "s4096_d128", "d256_s512", "d256_s1024", "d256_s4096", "full", "llama_gqa"),
        "AITER's workgroups are not persistent, and it writes the log-sum-exp",
        "attention_persistent",
    ),
    "attention_varlen": Pair(
        "attention.mha.flash_attn_varlen_func",
        (
            "ragged_d128",
            "d256_s512",
            "d256_s1024",
            "d256_s2048",
            "d256_s4096",
            "padded_d80",
            "mqa_bf16",
            "alibi",
            "bias",
        ),
        "AITER writes the log-sum-exp as well",
    ),
    "flash_attention": Pair(
        "attention.mha.flash_attn_func",
        ("s4096_d128", "d256_s4096", "llama_gqa", "full", "padded_d80", "window", "gpt_oss", "dropout"),
        "AITER always writes the log-sum-exp, and with dropout the mask and the scores",
    ),
    "flash_decoding": Pair(
        "attention.mha.flash_attn_with_kvcache",
        ("llama70b_n8192", "llama70b_n131072", "llama8b_b64", "mha_n4096", "mqa_n16384", "ragged", "d64", "d256"),
    ),
    "gemm": Pair(
        "gemm.basic.gemm_a16w16.gemm_a16w16, gemm.basic.gemm_a8w8.gemm_a8w8",
        (
            "square_8k",
            "square_8k_bf16",
            "square_8k_fp8",
            "odd",
            "llama_up",
            "llama_down",
            "small_c",
            "biased",
            *_TUNED_BF16,
        ),
        "AITER's 8-bit product multiplies by a scale for each row and each column",
    ),
    "gemm_skinny_fp8": Pair(
        "gemm.basic.gemm_a8w8.gemm_a8w8",
        (
            "llama405b_qkv_m1",
            "llama405b_qkv_m8",
            "llama405b_qkv_m16",
            "llama405b_gate_up_m16",
            "llama405b_down_m16",
            "per_channel",
            *_TUNED_FP8,
        ),
        "AITER's scales are for each row and each column",
    ),
    "gemm_streamk": Pair(
        "gemm.basic.gemm_a16w16.gemm_a16w16, gemm.basic.gemm_a8w8.gemm_a8w8",
        ("square_8k", "square_4k", "square_5k_bf16", "deep", "fp8", "int8", "nn", "odd_biased", *_TUNED_BF16[1:]),
        "AITER has no stream-K schedule; its 8-bit products write bf16 and multiply by scales",
    ),
    "layernorm": Pair(
        "normalization.norm.layer_norm", ("m4096_n4096", "m4096_n8192", "m2048_n16384", "m1024_n65536", *_ROWS)
    ),
    "layernorm_backward": Pair(
        "normalization.norm.layer_norm, backward", ("m4096_n4096", "m4096_n8192", "m2048_n16384", *_ROWS)
    ),
    "mla_decode": Pair(
        "gemm.batched.batched_gemm_bf16, attention.mla.mla_decode_fwd, gemm.batched.batched_gemm_bf16",
        (
            "deepseek_b8_t4096",
            "deepseek_b1_t16384",
            "deepseek_b32_t8192",
            "deepseek_two_tokens",
            "tensor_parallel_8",
            "published",
            "B=64,T=2048",
            "B=128,T=4096",
            "B=16,H=64,T=8192",
        ),
        "AITER's attention takes absorbed queries: the products before and after it are counted; its cache is paged",
    ),
    "moe_fused": Pair(
        "moe.moe_op_silu_fused.fused_moe_silu, moe.moe_op.fused_moe",
        (
            "qwen3_30b_t4096",
            "qwen3_30b_t64",
            "qwen3_30b_skewed",
            "mixtral_t4096",
            "mixtral_t32",
            "T=256",
            "T=1024",
            "T=8192",
        ),
        "the bundled kernel also sums the experts of a token, which AITER leaves to a kernel in HIP",
    ),
    "paged_decoding": Pair(
        "attention.pa_decode.paged_attention_decode",
        (
            "llama70b_page16",
            "llama70b_page64",
            "llama70b_page256",
            "llama8b_b64",
            "long",
            "mqa",
            "ragged",
            "gpt_oss",
            "B=128,H=32,HK=8,N=1024",
            "B=8,H=32,HK=8,N=16384,PAGE=32",
        ),
    ),
    "paged_decoding_unified": Pair(
        "attention.unified_attention.unified_attention",
        (
            "llama70b_page16",
            "llama70b_page64",
            "llama8b_b64",
            "long",
            "mqa",
            "ragged",
            "gpt_oss",
            "B=32,H=32,HK=32,N=2048,PAGE=32",
        ),
        "AITER's pages keep the heads of a token together",
        "paged_decoding",
    ),
    "rmsnorm": Pair(
        "normalization.rmsnorm.rms_norm",
        ("rows_8k", "llama405b", "llama405b_decode", "llama8b", "head_norm", "wide", "training", "fp32", "gemma"),
        "AITER always writes the reciprocal root mean square",
    ),
    "rmsnorm_backward": Pair(
        "normalization.rmsnorm.rms_norm, backward", ("m4096_n4096", "m4096_n8192", "m2048_n16384", *_ROWS)
    ),
    "rmsnorm_residual_fp8": Pair(
        "quant.fused_fp8_quant.fused_rms_fp8_per_tensor_static_quant",
        ("m2048_n16384", *_LLAMA_405B, "llama70b_m256"),
    ),
    "softmax": Pair(
        "softmax.softmax",
        ("rows_8k", "rows_128", "rows_1k", "odd", "vocabulary", "fp32", "M=65536,N=2048", "M=8192,N=32768,dtype=bf16"),
    ),
    "swiglu_fp8": Pair(
        "quant.fused_fp8_quant.fused_silu_mul_fp8_per_tensor_static_quant",
        ("m2048_n8192", *_LLAMA_405B, "tp8_m256"),
    ),
}
"""Pairs by name: the bundled kernel's name, with a suffix for a second pair of the same kernel."""

ALONE: Mapping[str, str] = {
    "attention_lean": "it reads V transposed, without masks: no operator of AITER's does",
    "attention_transposed_v": "it reads V transposed: no operator of AITER's does",
    "flash_decoding_int4": "AITER's decoding has no 4-bit cache with scales and zeros for these GPUs",
    "gemm_multiply_reduce": "AITER has no operator that sums products along a row",
    "gemm_w4a16_splitk": "AITER's 4-bit weights are floats with shared exponents, not integers with zeros",
    "memory_copy": "it measures the memory",
    "memory_read": "it measures the memory",
    "memory_write": "it measures the memory",
    "mlstm_chunkwise": "AITER has no mLSTM",
    "mlstm_chunkwise_d64": "AITER has no mLSTM",
}
"""Bundled kernels without a counterpart in AITER, with the reasons."""

MISSING: Mapping[str, str] = {
    "attention.unified_attention": "prefill from a paged cache; its decoding is compared above",
    "conv, kimi_delta_attn, gated_delta_net": "convolutions and delta attention",
    "gemm.basic.gemm_a8w8_blockscale": "8-bit product with a scale for each block of 128 x 128",
    "gemm.basic.gemm_afp4wfp4, gemm_a8wfp4, gemm_a16wfp4": "products with 4-bit floats",
    "moe.moe_op_gemm_*, moe.moe_op_mxfp4": "mixtures of experts with 8-bit and 4-bit weights",
    "quant.fused_fp8_quant.fused_rms_fp8_group_quant": "RMS norm with a scale for each group of 128",
    "rope.rope": "rotary embeddings",
    "topk": "the largest values of a row",
}
"""Some of AITER's operators without a corresponding bundled kernel."""

REASONS: Mapping[tuple[str, str, str], str] = {}
"""Map pair, case and GPU ("" for any) to the reason why the bundled kernel is predicted to be over 5 % slower."""


def matches(pattern: tuple[str, str, str], place: tuple[str, str, str]) -> bool:
    """Return whether a key of :data:`REASONS` applies to a row's pair, case and GPU."""
    return all(wanted in {"", name} for wanted, name in zip(pattern, place, strict=True))


def reason(pair: str, case: str, gpu: str) -> str:
    """Return why a row is slower, or "" if no reason is known."""
    return next((why for pattern, why in REASONS.items() if matches(pattern, (pair, case, gpu))), "")


class Row(NamedTuple):
    """A case on a GPU.

    Attributes:
        pair, case, gpu: the compared pair, case and GPU.
        found: the row of the results.
    """

    pair: str
    case: str
    gpu: str
    found: Mapping[str, Any]

    @property
    def place(self) -> str:
        """The first cells of the row."""
        return f"{kernel_of(self.pair)} | {self.operator} | {self.case} | {self.gpu}"

    @property
    def operator(self) -> str:
        """Name of AITER's function; of several, the first that is not a matrix product."""
        paths = PAIRS[self.pair].operator.split(", ")
        if self.pair.startswith("gemm"):
            return "gemm_a16w16" if self.found["shape"]["dtype"] in {"fp16", "bf16"} else "gemm_a8w8"
        paths = [path for path in paths if not path.startswith("gemm.")]
        return paths[0].rpartition(".")[2] + (", backward" if "backward" in paths else "")

    @property
    def why(self) -> str:
        """Reason why there is no ratio, or ""."""
        found = self.found
        return next((found[side]["why"] for side in ("ours", "theirs") if "why" in found[side]), "")

    @property
    def ratio(self) -> float:
        """Time of the bundled kernel over that of AITER's operator."""
        return float(self.found["ours"]["us"] / self.found["theirs"]["us"])

    def line(self) -> str:
        """The row of the table."""
        ours, theirs = self.found["ours"], self.found["theirs"]
        cells = [self.place, features(self.found["shape"])]
        cells += [f"{ours['us']:,.4g}", f"{theirs['us']:,.4g}", f"{self.ratio:.2f}"]
        cells += [f"{side['spills']}" for side in (ours, theirs)]
        cells += ["" if side["share"] is None else f"{side['share']:.0f} %" for side in (ours, theirs)]
        return f"| {' | '.join(cells)} |"


def rows_of(kept: Mapping[str, Any]) -> list[Row]:
    """Return the rows of some results."""
    found = []
    for key, row in kept.items():
        pair, case, gpu = key.split(" | ")
        found.append(Row(pair, case, gpu, row))
    return found


def kernel_of(pair: str) -> str:
    """Return the bundled kernel of a pair."""
    return PAIRS[pair].kernel or pair


def features(shape: Mapping[str, Any]) -> str:
    """Return the requirements of a case besides sizes, in a few words."""
    found = ["fp8" if shape["dtype"].startswith("fp8") else str(shape["dtype"])]
    if "form" in shape:
        found.append(f"int8 {shape['form']}")
    if "causal" in shape:
        found.append("causal" if shape["causal"] else "full")
    if shape.get("HK", shape.get("H")) != shape.get("H"):
        found.append("MQA" if shape["HK"] == 1 else "GQA")
    named = {"window": f"window {shape.get('window')}", "dropout": f"dropout {shape.get('dropout')}"}
    named |= {"PAGE": f"pages of {shape.get('PAGE')}", "lse": "log-sum-exp", "per_channel": "scale by channel"}
    named |= {name: name for name in ("sinks", "ragged", "alibi", "bias")}
    found += [text for name, text in named.items() if shape.get(name)]
    if shape.get("lengths") == "ragged":
        found.append("ragged")
    return ", ".join(found)


def predicted(kernels: Sequence[Any], counts: Sequence[int]) -> dict[str, Any]:
    """Return one side of a row: sums over the launches of a call.

    Args:
        kernels: reports of the kernels that the call launches.
        counts: launches of each.
    """
    pairs = list(zip(kernels, counts, strict=True))
    lacking = [kernel for kernel in kernels if kernel.time_us is None]
    if lacking:
        notes = [*lacking[0].notes, *(lacking[0].model.notes if lacking[0].model else []), "the model has none"]
        return {"why": f"no time of {lacking[0].name}: {notes[0].removeprefix('wide range: ')}"}
    limits = [kernel.model.speed_of_light_us for kernel in kernels]
    time = sum(count * kernel.time_us for kernel, count in pairs)
    limit = None if None in limits else sum(count * us for us, count in zip(limits, counts, strict=True))
    return {
        "us": round(time, 3),
        "low_us": round(sum(count * kernel.model.low_us for kernel, count in pairs), 3),
        "high_us": round(sum(count * kernel.model.high_us for kernel, count in pairs), 3),
        "spills": sum(kernel.resources.vgpr_spills or 0 for kernel in kernels),
        "share": None if limit is None else round(100 * limit / time, 1),
        "clock_mhz": kernels[0].model.clock_mhz,
        "condition": kernels[0].model.condition,
        "launches": [_described(kernel, count) for kernel, count in pairs],
    }


def _described(kernel: Any, count: int) -> dict[str, Any]:
    """Return the description of a launch: name, configuration and time."""
    made = kernel.specialization
    names = ("num_warps", "num_stages", "waves_per_eu", "matrix_instr_nonkdim", "kpack")
    config = {name: value for name, value in made.constexprs.items() if name.isupper() and type(value) is int}
    config |= {name: made.options[name] for name in names if made.options.get(name) is not None}
    said = {"kernel": kernel.name, "us": round(kernel.time_us, 3), "bound": kernel.model.bound, "config": config}
    return said | ({"launches": count} if count > 1 else {}) | ({"autotuned": True} if kernel.autotuned else {})


def ours(kernel: str, case: str, gpu: str) -> dict[str, Any]:
    """Predict a bundled kernel with its shipped configuration: one side of a row."""
    import kprof
    from kprof.errors import KprofError

    try:
        given = sizes(case)
        chosen: dict[str, Any] = {"shape": given} if given else {"case": case}
        report = kprof.analyze(kernel, arch=gpu, **chosen, try_cures=False, keep_programs=False)
    except KprofError as error:
        return {"why": _first_line(error.message)}
    return predicted(report.kernels, [1] * len(report.kernels)) | {"config": dict(shipped(kernel, case, gpu))}


def theirs(pair: str, shape: Mapping[str, Any], gpu: str, checkout: Path, python: str) -> dict[str, Any]:
    """Record AITER's operator and predict what it launches: one side of a row."""
    import kprof
    from kprof.captures.reader import read as read_capture
    from kprof.errors import KprofError
    from kprof.targets.captured import analysed

    with tempfile.TemporaryDirectory() as folder:
        where = f"{folder}/capture"
        command = [sys.executable, "-m", "kprof", "capture", "--arch", gpu, "-o", where, "--keep-values", "65536"]
        command += ["--no-arithmetic", "--", python, str(PROGRAM), pair, json.dumps(shape)]
        path = os.pathsep.join([str(ROOT), str(ROOT / "analyzers")])
        environment = {**os.environ, "AITER_SOURCE": str(checkout), "PYTHONPATH": path}
        try:
            ran = subprocess.run(
                command, env=environment, capture_output=True, text=True, timeout=TIME_LIMIT, check=False
            )
        except subprocess.TimeoutExpired:
            return {"why": f"the recording took over {TIME_LIMIT} s"}
        failed = [line for line in ran.stdout.splitlines() if line.startswith("failed: ")]
        if failed:
            error = failed[-1].removeprefix("failed: ").removeprefix("NoCounterpartError: ")
            return {"why": error.replace(f"{checkout}/", "")}
        try:
            capture = read_capture(where)
            launched = [one for one in analysed(capture, "") if one.launches or one.refused]
            broken = [one for one in launched if not one.ok or one.refused]
            if broken:
                return {"why": f"{broken[0].name} does not compile: {_first_line(broken[0].error or 'too much LDS')}"}
            report = kprof.analyze(where, arch=gpu, try_cures=False, keep_programs=False)
        except KprofError as error:
            return {"why": _first_line(error.message)}
        if len(report.kernels) != len(launched):
            return {"why": f"{len(launched)} kernels were launched and {len(report.kernels)} analysed"}
        several = [one.name for one in launched if len(one.grids) > 1]
        if several:
            return {"why": f"{several[0]} is launched with several grids"}
        return predicted(report.kernels, [one.launches for one in launched])


def _first_line(text: str) -> str:
    return (text.strip() or "-").splitlines()[0][:200]


def sizes(case: str) -> Mapping[str, Any]:
    """Return the sizes that a case of the table gives, none where it is a name."""
    from kprof.inputs.assignments import assignments

    return assignments([case], "case") if "=" in case else {}


def problem(kernel: str, case: str, gpu: str) -> Mapping[str, Any]:
    """Return the sizes of a case, completed with all defaults."""
    from kprof.hardware.machine import load_gpu
    from kprof.targets.library import bundled
    from kprof.targets.without_triton import described

    given = sizes(case)
    return dict(described(bundled()[kernel]).problem(load_gpu(gpu)[0].name, None if given else case, given))


def shipped(kernel: str, case: str, gpu: str) -> Mapping[str, Any]:
    """Return the configuration that kprof ships for a case."""
    from kprof.hardware.machine import load_gpu
    from kprof.targets.library import bundled
    from kprof.targets.without_triton import described

    spec = described(bundled()[kernel])
    found: Mapping[str, Any] = spec.configure(load_gpu(gpu)[0].name, None, problem(kernel, case, gpu))
    return found


def keys(pairs: Sequence[str], gpus: Sequence[str]) -> Iterator[tuple[str, str, str]]:
    """Return pair, case and GPU of each row."""
    for pair in pairs:
        for case in PAIRS[pair].cases:
            for gpu in gpus:
                yield pair, case, gpu


def measure(pairs: Sequence[str], gpus: Sequence[str], options: argparse.Namespace) -> None:
    """Predict missing rows; every row is written immediately."""
    from kprof.compiler.versions import installed

    command = ["git", "-C", str(options.aiter), "rev-parse", "--short=10", "HEAD"]
    commit = subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()
    for pair, case, gpu in keys(pairs, gpus):
        key = f"{pair} | {case} | {gpu}"
        if key in read() and not options.again:
            continue
        print(key, file=sys.stderr, flush=True)
        shape = problem(kernel_of(pair), case, gpu)
        row = {
            "shape": shape,
            "triton": installed().version,
            "aiter": commit,
            "ours": ours(kernel_of(pair), case, gpu),
            "theirs": theirs(pair, shape, gpu, options.aiter.resolve(), options.python),
        }
        write(key, row)


def predict_ours(pairs: Sequence[str], gpus: Sequence[str]) -> None:
    """Predict bundled kernels again whose shipped configuration differs from the results'."""
    for pair, case, gpu in keys(pairs, gpus):
        key, kernel = f"{pair} | {case} | {gpu}", kernel_of(pair)
        row = read().get(key)
        if row is not None and row["ours"].get("config") != shipped(kernel, case, gpu):
            print(key, file=sys.stderr, flush=True)
            write(key, {**row, "ours": ours(kernel, case, gpu)})


def write(key: str, row: Mapping[str, Any]) -> None:
    """Add a row to the results."""
    # Read and replace the file immediately, because another run, for another GPU, may write rows at the same time.
    lines = [f"{json.dumps(name)}: {json.dumps(one)}" for name, one in sorted({**read(), key: row}.items())]
    text = "{\n" + ",\n".join(lines) + "\n}\n"
    new = RESULTS.with_name(f"{RESULTS.name}.{os.getpid()}")
    new.write_text(text)
    new.replace(RESULTS)


def read() -> dict[str, Any]:
    """Return the stored results."""
    return dict(json.loads(RESULTS.read_text())) if RESULTS.is_file() else {}


TITLE = """\
# Bundled kernels and AITER's Triton operators

Written by `validation/parity.py`. Each row is a case of a bundled kernel with the configuration that kprof ships, and
the operator of AITER that does the same job. AITER's own Python function chooses its configuration for the GPU, and
`kprof capture` records what it launches. Times are predicted microseconds of everything that a call launches; nothing
was measured. *Ratio* is the bundled kernel's time over AITER's: below 1 the bundled kernel is faster. *Spills* are
vector registers of all launches. *Limit* is the speed of light as a share of the time: the model's least time for the
matrix operations or the bytes of the launches.

"""
COLUMNS = """
| kernel | operator | case | GPU | job | time | AITER's | ratio | spills | AITER's | limit | AITER's |
|---|---|---|---|---|--:|--:|--:|--:|--:|--:|--:|
"""


def page(kept: Mapping[str, Any], kernels: Sequence[str]) -> str:
    """Return the page of some results."""
    from kprof.condition import CONDITIONS

    rows = rows_of(kept)
    compared = [row for row in rows if not row.why]
    slower = [row for row in compared if row.ratio > LIMIT]
    faster = [row for row in compared if row.ratio < 1 / LIMIT]
    facts = {
        "AITER": ", ".join(sorted({row.found["aiter"] for row in rows})),
        "Triton": ", ".join(sorted({row.found["triton"] for row in rows})),
        "clock": ", ".join(sorted({f"{row.gpu} {row.found['ours']['clock_mhz']:,.0f} MHz" for row in compared})),
        "condition": ", ".join(sorted({CONDITIONS[row.found["ours"]["condition"]].text for row in compared})),
        "bundled kernels, with a counterpart": f"{len(kernels)}, {len(set(map(kernel_of, PAIRS)))}",
        "rows, a case on a GPU": len(rows),
        "not compared": len(rows) - len(compared),
        "bundled kernel over 5 % faster": len(faster),
        "within 5 %": len(compared) - len(faster) - len(slower),
        "bundled kernel over 5 % slower": len(slower),
    }
    text = TITLE + "| | |\n|---|---|\n" + "".join(f"| {name} | {value} |\n" for name, value in facts.items())
    text += COLUMNS + "".join(f"{row.line()}\n" for row in compared)
    text += "\n## Operators\n\n| kernel | AITER's operator | what differs |\n|---|---|---|\n"
    for name, pair in PAIRS.items():
        text += f"| {kernel_of(name)} | `{pair.operator}` | {pair.note or 'nothing'} |\n"
    if slower:
        text += "\n## Over 5 % slower\n\n| kernel | operator | case | GPU | ratio | why |\n|---|---|---|---|--:|---|\n"
        for row in slower:
            why = reason(row.pair, row.case, row.gpu) or "not known"
            text += f"| {row.place} | {row.ratio:.2f} | {why} |\n"
    text += "\n## Not compared\n\n| kernel | operator | case | GPU | why |\n|---|---|---|---|---|\n"
    text += "".join(f"| {row.place} | {row.why} |\n" for row in rows if row.why)
    text += "".join(f"| {name} | none | all | all | {why} |\n" for name, why in ALONE.items())
    text += "\nOperators of AITER for which no kernel is bundled, among others:\n\n"
    return text + "".join(f"- `{name}`: {what}\n" for name, what in MISSING.items()) + NOTES


NOTES = """
AITER's tuned files have few shapes of matrix products. For the others its functions use the default of the GPU, which
depends on the number of rows only and does not split K in 16 bits. Cases written as sizes have a tuned file on one of
the two GPUs. AITER's own tests of `mla_decode_fwd` skip the MI300X.
"""


def main() -> int:
    """Record and predict, and write the page."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("aiter", nargs="?", type=Path, help="a checkout of ROCm/aiter")
    parser.add_argument("--python", default=sys.executable, help="interpreter that runs AITER")
    parser.add_argument("--only", default="", help="names of pairs, with commas")
    parser.add_argument("--gpu", choices=GPUS)
    parser.add_argument("--again", action="store_true", help="predict also what is there")
    parser.add_argument("--ours", action="store_true", help="only predict bundled kernels whose configuration changed")
    parser.add_argument("--page", action="store_true", help="only write the page")
    options = parser.parse_args()
    from kprof.targets.library import bundled

    wanted = list(filter(None, options.only.split(","))) or list(PAIRS)
    gpus = [options.gpu] if options.gpu else GPUS
    if options.ours:
        predict_ours(wanted, gpus)
    elif not options.page:
        if options.aiter is None:
            parser.error("name a checkout of AITER, or use --ours or --page")
        measure(wanted, gpus, options)
    PAGE.write_text(page(read(), sorted(bundled())))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
