"""Pictures of control flow: well-formed, complete, and safe with any name."""

import re
import shutil
import subprocess
from xml.etree import ElementTree as ET

import pytest

from kprof.inputs import amdgcn
from kprof_analyzers.pictures import control_flow

TEXT = """\t.amdgcn_target "amdgcn-amd-amdhsa--gfx942"
\t.text
\t.globl\tnested
\t.type\tnested,@function
nested:
\ts_mov_b32 s0, 0
.LBB0_1:
\tv_mov_b32_e32 v0, 0
.LBB0_2:
\tv_add_f32_e32 v0, v0, v1
\ts_cmp_lt_i32 s0, s1
\ts_cbranch_scc1 .LBB0_2
\ts_cmp_lt_i32 s2, s3
\ts_cbranch_scc1 .LBB0_1
\ts_endpgm
.Lfunc_end0:
\t.size\tnested, .Lfunc_end0-nested
\t.amdhsa_kernel nested
\t\t.amdhsa_next_free_vgpr 32
\t\t.amdhsa_next_free_sgpr 16
\t.end_amdhsa_kernel
"""


@pytest.fixture(scope="module")
def program():
    """A loop in a loop."""
    return amdgcn.parse(TEXT).kernels[0]


def test_svg_is_xml_with_every_block_and_loop(program):
    """One rectangle a block (and the background), one bracket a loop, one line a jump."""
    root = ET.fromstring(control_flow.to_svg(program))
    names = [element.tag.rsplit("}", 1)[-1] for element in root.iter()]
    assert names.count("rect") == len(program.blocks) + 1
    edges = sum(len(block.successors) for block in program.blocks)
    # The arrow head is a path too.
    assert names.count("path") == 1 + len(program.loops) + edges


def test_names_are_escaped(program):
    """A hostile kernel name stays text."""
    hostile = amdgcn.AssemblyKernel('<script>"&', program.arch, program.instructions, program.labels)
    drawn = control_flow.to_svg(hostile)
    assert "<script>" not in drawn
    ET.fromstring(drawn)
    assert control_flow.to_dot(hostile).startswith('digraph "<script>\\"&"')


def test_dot_has_every_edge_and_a_cluster_a_loop(program):
    """The graph for Graphviz, which accepts it where it is installed."""
    drawn = control_flow.to_dot(program)
    edges = {(int(a), int(b)) for a, b in re.findall(r"b(\d+) -> b(\d+)", drawn)}
    assert edges == {(block.index, successor) for block in program.blocks for successor in block.successors}
    assert drawn.count("subgraph cluster_") == 2
    if shutil.which("dot"):
        subprocess.run(["dot", "-Tsvg"], input=drawn, text=True, capture_output=True, check=True)


def test_command_writes_what_the_name_says(kprof, tmp_path):
    """``-o x.svg`` and ``-o x.dot``; without ``-o`` dot on standard output."""
    source = tmp_path / "nested.s"
    source.write_text(TEXT)
    picture = tmp_path / "nested.svg"
    assert kprof("draw", "flow", source, "-o", picture).code == 0
    assert picture.read_text().startswith("<svg")
    assert kprof("draw", "flow", source).out.startswith('digraph "nested"')
    ran = kprof("draw", "flow", source, "--kernel", "other")
    assert ran.code == 2
    assert "no kernel 'other'" in ran.err
