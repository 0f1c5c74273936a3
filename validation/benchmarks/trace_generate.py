"""Write a Kineto trace of a given size, in the layout that the profiler writes on ROCm.

It consists of training steps with Python frames, operators, launches, flow events, kernels of many names on two
streams, and communication on a third. Every number follows from the step, so that sums can be checked.

    python validation/benchmarks/trace_generate.py 1000 /tmp/trace_1gb.json
"""

import argparse
import gzip
from pathlib import Path

HEADER = """{
  "schemaVersion": 1,
  "deviceProperties": [
    {"id": 0, "name": "AMD Instinct MI300X", "warpSize": 64, "sharedMemPerBlock": 65536, "numSms": 304}
  ],
  "roctracer_version": 4.1,
  "hip_runtime_version": 70051831,
  "distributedInfo": {"backend": "nccl", "rank": 0, "world_size": 1},
  "traceEvents": ["""
FOOTER = """
  ],
  "traceName": "generated.json",
  "displayTimeUnit": "ms",
  "baseTimeNanoseconds": 1767189312000000000
}
"""
PYTHON = """
  {
    "ph": "X", "cat": "python_function", "name": "model/layers/block_%d.py(%d): forward_%d", "pid": 425, "tid": 425,
    "ts": %.3f, "dur": %.3f,
    "args": {
      "Python parent id": %d, "Python id": %d, "Ev Idx": %d
    }
  },"""
OPERATOR = """
  {
    "ph": "X", "cat": "cpu_op", "name": "%s", "pid": 425, "tid": 425,
    "ts": %.3f, "dur": %.3f,
    "args": {
      "External id": %d, "Record function id": 0, "Concrete Inputs": ["", "", ""],
      "Input type": ["c10::BFloat16", "c10::BFloat16", "Scalar"], "Input Strides": [[4096, 1], [1, 4096], []],
      "Input Dims": [[8192, 4096], [4096, %d], []], "Ev Idx": %d
    }
  },"""
LAUNCH = """
  {
    "ph": "X", "cat": "cuda_runtime", "name": "%s", "pid": 425, "tid": 425,
    "ts": %.3f, "dur": %.3f,
    "args": {
      "External id": %d, "kernel": "%s", "cid": 65, "correlation": %d,
      "grid": [%d, 1, 1], "block": [256, 1, 1], "shared memory": 0
    }
  },
  {
    "ph": "s", "id": %d, "pid": 425, "tid": 425, "ts": %.3f,
    "cat": "ac2g", "name": "ac2g"
  },"""
KERNEL = """
  {
    "ph": "X", "cat": "kernel", "name": "%s", "pid": 2, "tid": %d,
    "ts": %.3f, "dur": %.3f,
    "args": {
      "External id": %d, "device": 2, "stream": %d, "correlation": %d, "kind": "Dispatch Kernel",
      "grid": [%d, 1, 1], "block": [256, 1, 1]
    }
  },
  {
    "ph": "f", "id": %d, "pid": 2, "tid": %d, "ts": %.3f,
    "cat": "ac2g", "name": "ac2g", "bp": "e"
  },"""
PYTHON_PER_KERNEL = 9
NAMES = (
    ("aten::mm", "hipExtModuleLaunchKernel", "Cijk_Alik_Bljk_BBS_BH_Bias_HA_S_SAV_UserArgs_MT256x192x64_MI16x16x1_%d"),
    ("aten::add", "hipLaunchKernel", "void at::native::vectorized_elementwise_kernel<%d, CUDAFunctor_add<float>>"),
    ("triton_red_fused_norm", "hipModuleLaunchKernel", "triton_red_fused_add_mean_mul_pow_rsqrt_%d"),
    ("aten::_flash_attention_forward", "hipModuleLaunchKernel", "attn_fwd_%d"),
    ("c10d::allreduce_", "hipExtLaunchKernel", "ncclDevKernel_Generic_%d(ncclDevComm*, channelMasks, ncclWork*)"),
)


def step(number: int) -> tuple[str, int]:
    """Return the text of one operator with all its events, and its kernel's duration in ns."""
    operator, api, kernel = NAMES[number % len(NAMES)]
    kernel %= number // len(NAMES) % 7
    at = 2395518769000.0 + number * 20.0
    duration = 5000 + number * 37 % 9000
    stream = 4 if "nccl" in kernel else number % 2
    grid = (number % 300 + 1) * (256 if api == "hipExtModuleLaunchKernel" else 1)
    parts = [
        PYTHON % (depth, number % 400, depth, at + depth * 0.1, 19 - depth * 0.2, depth, number * 10 + depth, number)
        for depth in range(PYTHON_PER_KERNEL)
    ]
    parts.append(OPERATOR % (operator, at + 1, 12.5, number + 1, number % 4096, number))
    parts.append(LAUNCH % (api, at + 3, 4.25, number + 1, kernel, number + 7, grid, number + 7, at + 3))
    begin = at + 30
    parts.append(
        KERNEL
        % (kernel, stream, begin, duration / 1000, number + 1, stream, number + 7, grid, number + 7, stream, begin)
    )
    return "".join(parts), duration


def write_trace(path: Path, megabytes: float) -> dict[str, int]:
    """Write about ``megabytes`` of trace, compressed if the name ends in .gz; return the expected sums."""
    kernels = total = size = 0
    with gzip.open(path, "wt", compresslevel=4) if path.suffix == ".gz" else path.open("w") as file:
        file.write(HEADER)
        while size < megabytes * 1_000_000:
            batch = [step(kernels + i) for i in range(500)]
            text = "".join(t for t, _ in batch)
            kernels += 500
            total += sum(d for _, d in batch)
            size += len(text)
            if size >= megabytes * 1_000_000:
                text = text.removesuffix(",")
            file.write(text)
        file.write(FOOTER)
    return {"kernels": kernels, "kernel_ns": total, "events": kernels * (PYTHON_PER_KERNEL + 5)}


def main() -> None:
    """Run the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("megabytes", type=float)
    parser.add_argument("path", type=Path)
    arguments = parser.parse_args()
    print(write_trace(arguments.path, arguments.megabytes))


if __name__ == "__main__":
    main()
