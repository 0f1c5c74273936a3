"""Output of rocminfo and of amd-smi."""

from kprof.inputs.gpu_report import read_gpu_report
from validation.fuzz.target import Target, put

TARGET = Target(
    lambda data, folder: read_gpu_report(str(put(folder, "rocminfo.txt", data))),
    words=(
        "Agent 2\n", "GPU: 0\n", "  Name:  gfx942\n", "  Marketing Name:  AMD Instinct MI300X\n",
        "  Compute Unit:  304(0x130)\n", "    MARKET_NAME: ", "    NUM_COMPUTE_UNITS: 304\n",
        "    TARGET_GRAPHICS_VERSION: gfx942\n", "    COMPUTE_PARTITION: SPX\n",
    ),
)  # fmt: skip
