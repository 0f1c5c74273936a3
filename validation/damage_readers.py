"""Readers for :mod:`damage`: for each a command, and the files that it reads."""

import json
import re
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
ARTEFACTS = ROOT / "tests" / "artifacts"
SAMPLES = ROOT.parent / "shared" / "samples"


@dataclass(frozen=True)
class Reader:
    """One reader of kprof, with the files to damage.

    Attributes:
        command: command to run; ``{}`` is the damaged file, or its folder if ``around`` is given.
        files: patterns of files below the artefacts; with ``samples``, also samples.
        around: files next to the damaged one, by the name that they get; ``name`` is the damaged file's own name.
        made: contents defined here, for readers without an artefact.
    """

    command: tuple[str, ...]
    files: tuple[str, ...] = ()
    samples: tuple[str, ...] = ()
    around: dict[str, str] = field(default_factory=dict)
    name: str = ""
    made: tuple[str, ...] = ()


_MLIR = ("mlir/matmul.gfx942.*.ttgir", "mlir/matmul.gfx950.*.ttgir")
_LAYOUT = (
    "#ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [8, 8], warpsPerCTA = [4, 1], order = [1, 0]}>",
    "#ttg.amd_mfma<{version = 3, warpsPerCTA = [2, 2], instrShape = [16, 16, 16], isTransposed = true}>",
    "#ttg.linear<{register = [[0, 1], [0, 2]], lane = [[1, 0], [2, 0], [4, 0], [8, 0], [0, 4], [0, 8]], warp = [], block = []}>",
    "#ttg.swizzled_shared<{vec = 8, perPhase = 1, maxPhase = 8, order = [1, 0]}>",
    "#ttg.slice<{dim = 1, parent = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [64], warpsPerCTA = [4], order = [0]}>}>",
)
CONFIG = """[tool.kprof]
[tool.kprof.budget]
max_vgpr_spills = 0
[[tool.kprof.kernel]]
target = "k.amdgcn"
arch = ["gfx942"]
[tool.kprof.kernel.budget]
max_vgpr_allocated = 128
"""
_CATEGORIES = '[[category]]\nname = "mine"\nkernel = ["gemm", "^Cijk"]\n[patterns]\ngemm = ["gemm"]\n'
_VLLM = (
    '{"1": {"BLOCK_SIZE_M": 16, "BLOCK_SIZE_N": 64, "GROUP_SIZE_M": 1, "num_warps": 4, "num_stages": 2, "kpack": 1}}'
)
_TUNABLE = (
    "Validator,PT_VERSION,2.6.0\nValidator,ROCM_VERSION,6.3\n"
    "GemmTunableOp_Half_TN,tn_128_64_32_ld_32_32_128,Gemm_Hipblaslt_1,0.0123\n"
    "GemmStridedBatchedTunableOp_Half_NN,nn_128_64_32_B_4,Default,0.5\n"
)
_RESULTS = (
    "gfx,cu_num,M,N,K,libtype,solidx,us,kernelName,tflops\ngfx942,304,64,256,5120,asm,5,7.9,k,21.19\n",
    "transA,transB,batch_count,m,n,k,hipblaslt-Gflops,us,soulution_index\nT,N,1,64,64,64,65.536,8.0,7\n",
    "# size count type redop root time algbw busbw #wrong\n 8388608 2097152 float sum -1 91.10 92.08 161.14 0\n",
    "3-9-9-3x3-4-9-9-1-1x1-1x1-1x1-0-NCHW-FP32-F=miopenConvolutionFwdAlgoGEMM:S,0.5,0,miopenConvolutionFwdAlgoGEMM,-\n",
    "3-9-9-3x3-4-9-9-1-1x1-1x1-1x1-0-NCHW-FP32-F=ConvAsm1x1U:1,8,2;Other:3\n",
    '- { rocblas_function: "rocblas_sgemm", M: 8, call_count: 2 }\n',
    "- {MinimumRequiredVersion: 5.0.0}\n- gfx942\n- DataType: 4\n- - - [64, 64, 1, 64]\n    - [0, 1.5]\n- Equality\n",
    "| LABEL | COUNT | DEPTH | METRIC | UNITS | SUM |\n| |0>>> main | 1 | 0 | wall_clock | sec | 1.5 |\n",
    json.dumps(
        {"timemory": {"wall_clock": {"ranks": [{"graph": [{"prefix": ">>> m", "depth": 0, "entry": {"laps": 1}}]}]}}}
    ),
)
_PROTON = json.dumps([
    {"children": [{"children": [], "frame": {"name": "k", "type": "function"},
                   "metrics": {"count": 2, "time (ns)": 300, "device_id": "0", "device_type": "HIP", "flops16": 1.0}}],
     "frame": {"name": "ROOT", "type": "function"}, "metrics": {"count": 0, "time (ns)": 0}},
    {"HIP": {"0": {"arch": "gfx942", "num_sms": 304}}},
])  # fmt: skip
_CODE = json.dumps(
    {
        "code": [
            ["; kernel", 100, 0, "", 4, 5888, 0, 0],
            *(
                [text, 0, n, "gemm.py:14", 4, 5888 + 8 * n, 8, 100 * n]
                for n, text in enumerate(
                    (
                        "s_load_dwordx2 s[2:3], s[0:1], 0x0",
                        "s_waitcnt lgkmcnt(0)",
                        "v_mfma_f32_16x16x16_f16 a[0:3], v[0:1], v[2:3], a[0:3]",
                        "s_endpgm",
                    ),
                    1,
                )
            ),
        ]
    }
)
_SPACE = "BLOCK: [1024, 2048]\nROWS: [1, 2]\nnum_warps: [4, 8]\nconstraints:\n  - BLOCK * ROWS <= 4096\n"
TRACE = json.dumps({"schemaVersion": 1, "distributedInfo": {"rank": 0, "world_size": 2}, "traceEvents": [
    {"ph": "X", "cat": "cpu_op", "name": "aten::mm", "pid": 9, "tid": 9, "ts": 1.5, "dur": 30,
     "args": {"External id": 4, "Input Dims": [[4, 8], [8, 4]], "Input type": ["c10::Half"], "Sequence number": 3}},
    {"ph": "X", "cat": "cuda_runtime", "name": "hipModuleLaunchKernel", "pid": 9, "tid": 9, "ts": 5, "dur": 4,
     "args": {"correlation": 7, "External id": 4, "grid": [4, 1, 1], "block": [64, 1, 1], "shared memory": 0}},
    *({"ph": "X", "cat": "kernel", "name": name, "pid": 2, "tid": 0, "ts": at, "dur": 5.25,
       "args": {"device": 2, "stream": 0, "correlation": 7 + n, "grid": [256, 1, 1], "block": [64, 1, 1], "External id": 4}}
      for n, (name, at) in enumerate((("Cijk_A", 10), ("ncclDevKernel_AllReduce", 16), ("triton_poi_fused", 40.5)))),
    {"ph": "X", "cat": "gpu_memcpy", "name": "Memcpy HtoD", "pid": 2, "tid": 0, "ts": 60, "dur": 1, "args": {"device": 2, "bytes": 64}},
    {"ph": "X", "cat": "python_function", "name": "nn.Module: Linear_0", "pid": 9, "tid": 9, "ts": 1, "dur": 40, "args": {"Python id": 1}},
    {"ph": "B", "cat": "user_annotation", "name": "ProfilerStep#1", "pid": 9, "tid": 9, "ts": 0},
    {"ph": "E", "cat": "user_annotation", "name": "ProfilerStep#1", "pid": 9, "tid": 9, "ts": 70},
    {"ph": "M", "name": "process_labels", "pid": 2, "args": {"labels": "GPU 2"}},
]})  # fmt: skip
_TIMED = TRACE.replace("Cijk_A", "scaled_exp")
_KINETO = ("kineto/**/*.json", "kineto/**/*.json.gz")
_MEASURED = tuple(f"rocprof/**/*{end}" for end in (".csv", ".json", ".db", ".yaml", ".txt"))
_PUBLISHED = ("rocprof_*/**/*.csv", "rocpd/**/*", "rocminfo/*", "rocprof_v3/**/*.json")
_CAPTURE = {str(p.relative_to(ARTEFACTS / "capture")): str(p.relative_to(ARTEFACTS)) for p in (ARTEFACTS / "capture").rglob("*.*")
            if p.is_file()}  # fmt: skip
_KERNEL = "kernels/" + "0" * 32
_KERNEL_FILE = ARTEFACTS / "gfx942" / "scaled_exp.triton-3.9.0.amdgcn"
_RUN = ARTEFACTS / "rocprof" / "v3" / "counter_collection_1.csv"
_COUNTED = re.sub(r'"[^"]*\(.*?\)[^"]*"', '"scaled_exp"', _RUN.read_text())
_TABLE = (
    '{"schema": "kprof.dispatch/1", "entries": [{"kernel": "softmax", "arch": "gfx942", "shape": {"M": 512, "N": 1024},'
    ' "implementation": "softmax", "config": {"num_warps": 4}, "ms": 0.5}]}'
)
_CPUINFO = "processor\t: 0\nvendor_id\t: AuthenticAMD\nmodel name\t: AMD EPYC 9654\ncpu MHz\t\t: 2400.000\nflags\t\t: fpu svm\n"
_ROCMINFO = (
    "HSA Agents\nAgent 1\n  Name:                    Example CPU\nAgent 2\n  Name:                    gfx942\n"
    "  Marketing Name:          AMD Instinct MI300X\n  Compute Unit:            304(0x130)\n"
)
_SIDES = {"kernel.amdgcn": "gfx942/matmul.triton-3.9.0.amdgcn", "kernel.json": f"capture/{_KERNEL}/kernel.json"}

READERS: dict[str, Reader] = {
    "assembly": Reader(("analyze", "kernel", "{}", "-vv"), ("gfx*/*.amdgcn", "gfx*/*.s")),
    "code-object": Reader(("analyze", "kernel", "{}", "-v"), ("gfx*/*.hsaco", "*.co", "*.o")),
    "ttgir": Reader(("analyze", "kernel", "{}", "-vv"), _MLIR, around=_SIDES, name="kernel.ttgir"),
    "metadata": Reader(("analyze", "kernel", "{}", "-v"), (f"capture/{_KERNEL}/kernel.json",),
                       around={"kernel.amdgcn": f"capture/{_KERNEL}/kernel.amdgcn"}, name="kernel.json"),
    "layout": Reader(("draw", "layout", "@{}"), made=_LAYOUT),
    "layout-module": Reader(("draw", "layout", "#blocked", "--module", "{}"), _MLIR),
    "counters": Reader(("ingest", "counters", "{}", "--json", "-"), _MEASURED, _PUBLISHED),
    "metrics": Reader(("counters", "metrics", "{}", "--arch", "gfx942"), _MEASURED, _PUBLISHED),
    "roofline": Reader(("counters", "roofline", "{}", "--arch", "gfx942"), _MEASURED, _PUBLISHED),
    "counters-diff": Reader(("counters", "diff", str(_RUN), "{}", "--arch", "gfx942"), _MEASURED, _PUBLISHED),
    "analyze-counters": Reader(("analyze", "kernel", str(_KERNEL_FILE), "--arch", "gfx942", "--counters", "{}"), made=(_COUNTED,), name="c.csv",
                               around={"README": "README.md"}),
    "analyze-trace": Reader(("analyze", "kernel", str(_KERNEL_FILE), "--trace", "{}"), made=(_TIMED,)),
    "analyze-thread-trace": Reader(("analyze", "kernel", str(_KERNEL_FILE), "--thread-trace", "{}"), (), ("att/**/code.json",), made=(_CODE,),
                                   name="code.json", around={"README": "README.md"}),
    "validate": Reader(("validate", str(_KERNEL_FILE), "--arch", "gfx942", "--counters", "{}"), made=(_COUNTED,), name="c.csv",
                       around={"README": "README.md"}),
    "report-measured": Reader(("report", str(_KERNEL_FILE), "--arch", "gfx942", "--counters", "{}/c.csv", "--trace", "{}/t.json", "-o", "{}/page.html"),
                              made=(_COUNTED,), name="c.csv", around={"t.json": "=trace"}),
    "dispatch-table": Reader(("select", "softmax", "--arch", "gfx942", "--no-predict", "--table", "{}"), made=(_TABLE,), name="table.json"),
    "gpu-report": Reader(("doctor", "--gpu-report", "{}"), made=(_ROCMINFO,), name="rocminfo.txt"),
    "doctor": Reader(("doctor", "--root", "{}"), made=(_CPUINFO,), name="proc/cpuinfo", around={"README": "README.md"}),
    "trace": Reader(("ingest", "trace", "{}"), (), _KINETO, made=(TRACE,)),
    "trace-breakdown": Reader(("trace", "breakdown", "{}"), (), _KINETO, made=(TRACE,)),
    "trace-top": Reader(("trace", "top", "{}"), (), _KINETO, made=(TRACE,)),
    "trace-gaps": Reader(("trace", "gaps", "{}"), (), _KINETO, made=(TRACE,)),
    "trace-ops": Reader(("trace", "ops", "{}"), (), _KINETO, made=(TRACE,)),
    "trace-steps": Reader(("trace", "steps", "{}"), (), _KINETO, made=(TRACE,)),
    "trace-tree": Reader(("trace", "tree", "{}"), (), _KINETO, made=(TRACE,)),
    "trace-readers": Reader(("=agree", "{}"), (), _KINETO, made=(TRACE,)),
    "proton": Reader(("trace", "top", "{}"), (), ("proton/*.hatchet",), made=(_PROTON,)),
    "thread-trace": Reader(("ingest", "thread-trace", "{}"), (), ("att/**/*.csv", "att/**/code.json"), made=(_CODE,), name="code.json"),
    "tunableop": Reader(("ingest", "tunableop", "{}"), (), ("tunableop*/*.csv",), made=(_TUNABLE,)),
    "results": Reader(("ingest", "results", "{}"), made=_RESULTS),
    "configs": Reader(("lint", "{}"), made=(_VLLM,),
                      name="E=8,N=14336,device_name=AMD_Instinct_MI300X.json", around={"README": "README.md"}),
    "check-config": Reader(("check", "-j", "1", "--config-file", "{}/pyproject.toml"), made=(CONFIG,), name="pyproject.toml",
                           around={"k.amdgcn": "gfx942/scaled_exp.triton-3.9.0.amdgcn"}),
    "categories": Reader(("trace", "breakdown", "{}/t.json", "--categories", "{}/c.toml"), made=(_CATEGORIES,), name="c.toml",
                         around={"t.json": "=trace"}),
    "report": Reader(("diff", "{}", "{}"), made=("=report",), name=""),
    "baseline": Reader(("check", "-j", "1", "--config-file", "{}/pyproject.toml", "--baseline", "{}/b.json"), made=("=baseline",), name="b.json",
                       around={"k.amdgcn": "gfx942/scaled_exp.triton-3.9.0.amdgcn", "pyproject.toml": "=config"}),
    "capture": Reader(("analyze", "kernel", "{}"), ("capture/capture.json", "capture/journal/*.jsonl"), around=_CAPTURE, name="="),
    "space": Reader(("tune", "softmax", "--arch", "gfx942", "--space", "{}", "--budget", "0.001", "-j", "1"), made=(_SPACE,), name="space.yaml"),
}  # fmt: skip
