# ruff: noqa: ANN001, ANN201, N803, PLR0917 - kernels are written as Triton wants them
"""Compile kernels in one Triton's own interpreter and print LLVM's comments about each.

Started by ``check_occupancy_against_llvm.py`` with the interpreter of a Triton. It reads jobs as JSON lines from
standard input and answers each with one line: ``{"id", "asm"}`` or ``{"id", "error"}``. It only needs Triton.

A job is LLVM IR (``{"id", "arch", "ir"}``) or a kernel of this file (``{"id", "arch", "kernel", "constexprs",
"options"}``).
"""

import argparse
import json
import os
import sys
from typing import Any

import triton
import triton.language as tl
from triton.backends.amd import compiler as amd_backend
from triton.backends.compiler import GPUTarget

# LLVM version of each Triton, by minor version of Triton.
LLVM_OF_TRITON = {3: 21, 4: 21, 5: 22, 6: 22, 7: 23, 8: 23, 9: 24}


@triton.jit
def row_sum(x, out, n, BLOCK: tl.constexpr):
    """Sum of a row."""
    row = tl.program_id(0)
    columns = tl.arange(0, BLOCK)
    total = tl.zeros([BLOCK], dtype=tl.float32)
    for start in range(0, n, BLOCK):
        total += tl.load(x + row * n + start + columns, mask=start + columns < n, other=0.0).to(tl.float32)
    tl.store(out + row, tl.sum(total))


@triton.jit
def matmul(a, b, c, k, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr):
    """One tile of a matrix product."""
    rows = tl.program_id(0) * BLOCK_M + tl.arange(0, BLOCK_M)
    columns = tl.program_id(1) * BLOCK_N + tl.arange(0, BLOCK_N)
    inner = tl.arange(0, BLOCK_K)
    total = tl.zeros([BLOCK_M, BLOCK_N], dtype=tl.float32)
    for start in range(0, k, BLOCK_K):
        left = tl.load(a + rows[:, None] * k + start + inner[None, :])
        right = tl.load(b + (start + inner)[:, None] * k + columns[None, :])
        total += tl.dot(left, right)
    tl.store(c + rows[:, None] * k + columns[None, :], total.to(tl.float16))


SIGNATURES = {
    "row_sum": {"x": "*fp16", "out": "*fp32", "n": "i32"},
    "matmul": {"a": "*fp16", "b": "*fp16", "c": "*fp16", "k": "i32"},
}


def llvm_version() -> int:
    """Return the major version of the LLVM inside the installed Triton."""
    return LLVM_OF_TRITON[int(triton.__version__.split(".")[1])]


def assemble(ir: str, arch: str) -> str:
    """Compile LLVM IR to assembly with the code generator of the installed Triton."""
    from triton._C.libtriton import llvm

    llvm.init_targets()
    if hasattr(amd_backend, "compile_amdgpu"):
        # Since 3.9 the code generator is a separate library with a newer LLVM.
        options = {"disable_optimization": False, "canonicalize_gep": False, "disabled_passes": ""}
        triple = amd_backend.get_amd_codegen_target_triple(arch)
        return amd_backend.compile_amdgpu(
            ir, triple, arch, "", flags=[], enable_fp_fusion=False, dump_ir=False, enable_timing=False, **options
        )
    # Triton 3.8 has an additional argument: whether to canonicalise address arithmetic.
    switches = [False] * (3 if triton.__version__.startswith("3.8.") else 2)
    return llvm.translate_to_asm(ir, "amdgcn-amd-amdhsa", arch, "", [], *switches)


def compile_kernel(job: dict[str, Any]) -> dict[str, Any]:
    """Compile one of this file's kernels with all stages of Triton."""
    from triton.compiler import ASTSource

    # Only the assembly is needed. No linker is used, but older Tritons search for one anyway.
    os.environ.setdefault("TRITON_HIP_LLD_PATH", sys.executable)
    amd_backend.HIPBackend.make_hsaco = staticmethod(lambda *_: b"")
    function = globals()[job["kernel"]]
    signature = {**SIGNATURES[job["kernel"]], **dict.fromkeys(job["constexprs"], "constexpr")}
    source = ASTSource(
        fn=function,
        signature=signature,
        constexprs={(function.arg_names.index(k),): v for k, v in job["constexprs"].items()},
    )
    size = 32 if job["arch"].startswith("gfx1") else 64
    compiled = triton.compile(source, target=GPUTarget("hip", job["arch"], size), options=job["options"])
    return {"asm": compiled.asm["amdgcn"], "shared": compiled.metadata.shared}


def main() -> None:
    """Answer jobs until the input ends."""
    argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter).parse_args()
    print(json.dumps({"llvm": llvm_version(), "triton": triton.__version__}), flush=True)
    for line in sys.stdin:
        job = json.loads(line)
        try:
            answer = compile_kernel(job) if "kernel" in job else {"asm": assemble(job["ir"], job["arch"])}
        except Exception as error:  # noqa: BLE001 - whatever a compiler raises is this job's answer
            answer = {"error": f"{type(error).__name__}: {error}"[:300]}
        print(json.dumps({"id": job["id"], **answer}), flush=True)


if __name__ == "__main__":
    main()
