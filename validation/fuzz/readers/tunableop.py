"""Results of PyTorch's TunableOp."""

from kprof.inputs import tunableop
from validation.fuzz.target import Target, put

TARGET = Target(
    lambda data, folder: tunableop.read(put(folder, "tunableop_results0.csv", data)),
    words=(
        "Validator,PT_VERSION,",
        "GemmTunableOp_Half_TN,",
        "tn_128_64_32_ld_32_32_128,",
        "Gemm_Hipblaslt_1,",
        "Default,",
    ),
)
