"""Small kernels without a TTGIR."""

from dataclasses import replace

import pytest

from kprof.inputs import amdgcn

_TEXT = """\t.amdgcn_target "amdgcn-amd-amdhsa--{arch}"
\t.globl\tk
\t.type\tk,@function
k:
{body}
\ts_endpgm
\t.section\t.rodata,"a",@progbits
\t.amdhsa_kernel k
\t\t.amdhsa_user_sgpr_count {users}
\t\t.amdhsa_user_sgpr_kernarg_segment_ptr 1
\t\t.amdhsa_user_sgpr_kernarg_preload_length {preload}
\t\t.amdhsa_system_sgpr_workgroup_id_x 1
\t.end_amdhsa_kernel
\t.text
\t.amdgpu_metadata
---
amdhsa.kernels:
  - .args:
      - .offset:         0
        .size:           8
        .value_kind:     global_buffer
      - .name:           !str n
        .offset:         8
        .size:           4
        .value_kind:     by_value
      - .offset:         16
        .size:           4
        .value_kind:     hidden_block_count_x
      - .offset:         20
        .size:           2
        .value_kind:     hidden_group_size_x
      - .offset:         22
        .size:           2
        .value_kind:     hidden_group_size_y
    .name:           k
    .symbol:         k.kd
amdhsa.version:
  - 1
  - 2
...
\t.end_amdgpu_metadata
"""


@pytest.fixture
def compiled(kernel):
    """``compiled(lines, grid=(64,), n=10)``: a kernel with a pointer and the number ``n`` as arguments."""

    def made(body, *, grid=(64,), preload=0, **arguments):
        facts = kernel(["s_nop 0"], grid=grid)
        text = "\n".join(line if line.endswith(":") else f"\t{line}" for line in body)
        source = _TEXT.format(arch="gfx942", body=text, users=2 + preload, preload=preload)
        return replace(facts, program=amdgcn.parse(source).kernels[0], arguments=arguments)

    return made
