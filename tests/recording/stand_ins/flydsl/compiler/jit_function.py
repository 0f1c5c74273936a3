"""Functions that compile and launch kernels."""

import inspect
import os

from flydsl.compiler.backends.rocm import RocmBackend
from flydsl.compiler.jit_executor import CompiledArtifact

ASSEMBLY = """\
	.amdgcn_target "amdgcn-amd-amdhsa-unknown-{arch}"
	.text
	.globl	{name}
	.p2align	8
	.type	{name},@function
{name}:
	.file	1 "{folder}" "{file}"
	.loc	1 {line} 4
	s_load_dword s4, s[0:1], 0x8
	v_mov_b32_e32 v1, 0
	ds_write_b32 v1, v1
	s_waitcnt lgkmcnt(0)
	s_endpgm
	.section	.rodata,"a",@progbits
	.p2align	6, 0x0
	.amdhsa_kernel {name}
		.amdhsa_group_segment_fixed_size 1024
		.amdhsa_private_segment_fixed_size 0
		.amdhsa_next_free_vgpr 37
		.amdhsa_next_free_sgpr 16
		.amdhsa_accum_offset 40
	.end_amdhsa_kernel
	.text
.Lfunc_end0:
	.size	{name}, .Lfunc_end0-{name}
	.amdgpu_metadata
---
amdhsa.kernels:
  - .agpr_count:     0
    .args:
      - .address_space:  global
        .offset:         0
        .size:           8
        .value_kind:     global_buffer
      - .offset:         8
        .size:           4
        .value_kind:     by_value
    .group_segment_fixed_size: 1024
    .kernarg_segment_align: 8
    .kernarg_segment_size: 12
    .max_flat_workgroup_size: 256
    .name:           {name}
    .private_segment_fixed_size: 0
    .sgpr_count:     22
    .sgpr_spill_count: 0
    .symbol:         {name}.kd
    .vgpr_count:     37
    .vgpr_spill_count: 0
    .wavefront_size: 64
amdhsa.target:   amdgcn-amd-amdhsa-unknown-{arch}
amdhsa.version:
  - 1
  - 2
...
	.end_amdgpu_metadata
"""


class MlirCompiler:
    """The compiler."""

    @classmethod
    def compile(cls, kernel, *, backend):
        """Compile a kernel."""
        if not backend.pipeline_fragments(compile_hints={})[-1].startswith("gpu-module-to-binary{format=isa "):
            raise RuntimeError("/opt/rocm/llvm/bin/ld.lld: not found")
        if kernel._func.__name__ == "needs_erf":
            raise RuntimeError("ROCm amdgcn bitcode path: /opt/rocm/amdgcn/bitcode does not exist")
        code = kernel._func.__code__
        folder, _, file = code.co_filename.rpartition("/")
        values = {"folder": folder, "file": file, "line": code.co_firstlineno + 2}
        return ASSEMBLY.format(name=kernel._kernel_name, arch=os.environ["FLYDSL_GPU_ARCH"], **values)


def _build_call_state(sig, args_tuple, artifact):
    return lambda args: artifact.launch((args[1] // 256, 2, 1), (256, 1, 1), 8192, args[1])


class JitFunction:
    """A function that launches a kernel with its arguments: a tensor and a number."""

    def __init__(self, func, kernel):
        self.func, self.kernel, self.compiled = func, kernel, None

    def __call__(self, *args):
        """Compile and launch."""
        if self.compiled is None:
            name = self.kernel._emit_kernel(None, args, {})
            self.compiled = CompiledArtifact(MlirCompiler.compile(self.kernel, backend=RocmBackend()), name)
        return _build_call_state(inspect.signature(self.func), args, self.compiled)(args)
