"""Create small files of each kind for the commands of ``validation/sources.toml``; ``other/`` has other contents."""

import json
import sys
from pathlib import Path

from validation.source_rows import ROOT

_UNFUSED_NORM = """
import torch

rows, columns = 2048, 16384
hidden = torch.randn(rows, columns, dtype=torch.float16, device="cuda")
residual = torch.randn(rows, columns, dtype=torch.float16, device="cuda")
weight = torch.randn(columns, dtype=torch.float16, device="cuda")
scale = torch.ones((), dtype=torch.float32, device="cuda")


def norm(hidden, residual):
    residual = hidden + residual
    wide = residual.float()
    wide = wide * torch.rsqrt(wide.pow(2).mean(-1, keepdim=True) + 1e-5)
    scaled = weight * wide.half() * scale
    return residual, scaled.clamp(-240, 240).to(torch.float8_e4m3fnuz)


with torch.profiler.record_function("step"):
    norm(hidden, residual)
"""
_UNFUSED_SWIGLU = """
import torch

both = torch.randn(2048, 2 * 8192, dtype=torch.float16, device="cuda")
scale = torch.ones((), dtype=torch.float32, device="cuda")
with torch.profiler.record_function("step"):
    gate, up = both.chunk(2, dim=-1)
    out = torch.nn.functional.silu(gate) * up
    out = (out * scale).clamp(-240, 240).to(torch.float8_e4m3fnuz)
"""


def make_files(folder: Path) -> None:
    """Write the files, most of which are samples of the tests."""
    sys.path.insert(0, str(ROOT))
    other = folder / "other"
    other.mkdir(parents=True)
    _results(folder, other)
    _intermediate(folder, other)
    _traces(folder, other)
    _counters(folder, other)
    _machines(folder, other)
    programs = {"norm.py": _UNFUSED_NORM, "swiglu.py": _UNFUSED_SWIGLU}
    programs["compiled.py"] = _UNFUSED_NORM.replace("def norm", "@torch.compile\ndef norm")
    for name, text in programs.items():
        (folder / name).write_text(text)
        (other / name).write_text(text.replace("2048", "64"))
    _tuned_file(folder / "configs", BLOCK_M=64, num_warps=4)
    _tuned_file(other / "configs", BLOCK_M=48, num_warps=3)


def _results(folder: Path, other: Path) -> None:
    """Write outputs of the libraries' own tools, and a second output of each with other numbers."""
    from tests.inputs.results import test_gemm_bench as bench
    from tests.inputs.results import test_miopen as miopen
    from tests.inputs.results.test_reading import SAMPLES

    def sample(words: str, *changes: tuple[str, str]) -> tuple[str, str]:
        text = changed = next(text for key, text in SAMPLES.items() if words in key)
        for before, after in changes:
            if before not in changed:
                raise ValueError(f"the sample of {words} has no {before!r}")
            changed = changed.replace(before, after)
        return text, changed

    gelu = bench.line(64, 64, 64, 8.0).replace(",none,0,", ",gelu,1,")
    find = f"{miopen.FORWARD}={miopen.ALGORITHM}Direct:A,1.0,0,x,y;{miopen.ALGORITHM}Winograd:B,0.4,4096,x,y\n"
    tuning = f"Git Version: 3b3d59eb\n{bench.NAMES},solution_index\n{{}},7\n"
    texts = {
        "bench.log": (f"{bench.NAMES}\n{gelu}\n", f"{bench.NAMES}\n{bench.line(128, 64, 64, 4.0)}\n"),
        "tuned.csv": sample("tuned", ("1,2,3,False", "4,5,6,False"), ("rocblas,1,0,0.1", "hipblaslt,2,0,0.3")),
        "rccl.log": sample("rccl", ("161.14", "80.57"), ("92.08", "46.04"), ("91.10", "182.20")),
        "gfx942.fdb.txt": (find, find.replace("0.4", "1.6").replace("1.0", "2.0")),
        "gfx942.updb.txt": sample("perf-db", ("ConvAsm1x1U:1,8,2", "ConvOclDirectFwd1x1:1,128")),
        "logic.yaml": sample("library logic", ("Equality", "GridBased"), ("gfx942", "gfx90a"), ("1.5]", "2.5]")),
        "00_Final.csv": sample("Tensile benchmark", ("8, 8, 1, 8, 1, 1,", "16, 8, 1, 8, 0.512, 4,")),
        "rocblas.yaml": sample("calls", ("sgemm", "dgemm"), ("call_count: 2", "call_count: 5")),
        "wall_clock.txt": sample("table", ("13.36026", "26.00000"), ("0.14001", "0.28002")),
        "wall_clock.json": sample("JSON", ("1.0", "2.0")),
        "agent.txt": sample("Debug Agent", ("scale.py:", "other.py:"), ("store_dword v[0:1]", "store_dword v[4:5]"),
                            ("<scale(", "<other("), ("function scale(", "function other(")),
        "tuning.txt": (tuning.format(bench.line(64, 64, 64, 8.0)), tuning.format(bench.line(128, 64, 64, 4.0))),
        "tunableop.csv": (_tunableop(0.5, 0.25), _tunableop(0.5, 0.5)),
    }  # fmt: skip
    for name, (text, changed) in texts.items():
        (folder / name).write_text(text)
        (other / name).write_text(changed)


def _tunableop(default: float, fastest: float) -> str:
    head = "Validator,GCN_ARCH_NAME,gfx942\nGemmTunableOp_Half_TN,tn_128_64_32,"
    return f"{head}Default,{default}\n{head.splitlines()[1]}Gemm_Hipblaslt_1,{fastest}\n"


def _intermediate(folder: Path, other: Path) -> None:
    """Write IR as printed by ``MLIR_ENABLE_DUMP``: of one pass and of two, with and without allocated buffers."""
    artefacts = ROOT / "tests/artifacts/mlir"
    ttgir = (artefacts / "matmul.gfx942.stages2.triton-3.9.ttgir").read_text()
    first = (artefacts / "matmul.triton-3.9.ttir").read_text()
    head = "// -----// IR Dump Before {} ({}) ('builtin.module' operation) //----- //\n"
    dump = head.format("A", "convert-triton-to-tritongpu") + first + "\n" + head.format("B", "pipeline") + ttgir
    (folder / "dump.log").write_text(dump)
    eight = ttgir.replace('"ttg.num-warps" = 4', '"ttg.num-warps" = 8')
    (other / "dump.log").write_text(head.format("B", "pipeline") + eight)
    placed = ttgir.replace('"ttg.num-warps" = 4', '"ttg.num-warps" = 4 : i32, ttg.shared = 8192', 1)
    (folder / "placed.ttgir").write_text(placed)
    (other / "placed.ttgir").write_text(placed.replace("ttg.shared = 8192", "ttg.shared = 65536"))


def _traces(folder: Path, other: Path) -> None:
    """Write timelines of torch's profiler, of Omnitrace, and of one block of a model that decodes in a graph."""
    from tests.artifacts.kineto.builder import Builder
    from tests.inputs import test_perfetto
    from validation.damage_readers import TRACE

    (folder / "trace.json").write_text(TRACE)
    changed = TRACE.replace("5.25", "2.5").replace('"world_size": 2', '"world_size": 1')
    changed = changed.replace("Cijk_A", "softmax_k").replace("ncclDevKernel_AllReduce", "flash_attn_fwd")
    (other / "trace.json").write_text(changed)
    (folder / "omnitrace.pftrace").write_bytes(test_perfetto.counted())
    (other / "omnitrace.pftrace").write_bytes(test_perfetto.counted(2))
    block = ("rms_norm", "Cijk_A", "rotary_embedding", "flash_attn_fwd", "Cijk_B", "rms_norm", "Cijk_C", "silu_and_mul")
    for place, names in ((folder, (*block, "Cijk_D")), (other, block[:2])):
        builder = Builder()
        correlation = builder.launch(10.0, 20.0, api="hipGraphLaunch")
        for at, name in enumerate(names):
            builder.kernel(name, 100.0 + 10 * at, 5.0, correlation, kind="Dispatch Task")
        builder.write(place / "decode.json")


def _counters(folder: Path, other: Path) -> None:
    """Write a rocprofv3 recording with every counter that a roofline needs."""
    from tests.analyzers.profiles.counters.test_identity import collection
    from tests.analyzers.profiles.counters.test_roofline import counters

    for place, flop, ns in ((folder, 128_000.0, 1000), (other, 16_000.0, 500)):
        collection(place / "roofline/counters.csv", {"name": "gemm_kernel", "ns": ns, **counters(flop32=flop)})


def _machines(folder: Path, other: Path) -> None:
    """Write the files of two nodes: one of eight MI300X, one with settings that AMD's guide would change."""
    from tests.doctor.conftest import Tree, good_files
    from tests.doctor.test_settings import GPU as DEVICE
    from tests.doctor.test_settings import with_acs
    from tests.inputs.test_gpu_report import CPU, GPU

    access_control = {f"{DEVICE.format(number + 1)}/config": with_acs(0) for number in range(8)}
    Tree(folder / "node").write(good_files(8) | access_control).link()
    worse = good_files(4) | {
        f"{DEVICE.format(1)}/config": with_acs(1),
        "/proc/sys/kernel/numa_balancing": "1",
        "/proc/cmdline": "root=/dev/sda1",
    }
    for cpu in range(4):
        worse[f"/sys/devices/system/cpu/cpu{cpu}/cpufreq/scaling_governor"] = "powersave"
        worse[f"/sys/devices/system/cpu/cpu{cpu}/cpuidle/state2/disable"] = "0"
    Tree(other / "node").write(worse).link()
    (folder / "rocminfo.txt").write_text(CPU + GPU)
    (other / "rocminfo.txt").write_text((CPU + GPU).replace("304(0x130)", "80(0x50)").replace("MI300X", "MI308X"))


def _tuned_file(folder: Path, **knobs: int) -> None:
    folder.mkdir(parents=True)
    rest = {"BLOCK_N": 32, "PRELOAD_V": True, "waves_per_eu": 2, "num_ctas": 1, "num_stages": 1}
    text = json.dumps({"fwd": {"default": knobs | rest}}, indent=2)
    (folder / "gfx942-MHA-DEFAULT.json").write_text(text)
