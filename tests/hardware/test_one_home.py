"""Facts of an architecture stand in its file and nowhere else; one that is missing is not another family's."""

import ast
import re
from dataclasses import replace
from pathlib import Path

import pytest

from kprof.hardware.code import TritonFacts
from kprof.hardware.machine import architectures, load
from kprof.inputs import amdgcn
from kprof.tuning.pruning import value_problem
from kprof.tuning.trials.changes import option_changes
from kprof_analyzers.model.machine import machine_of
from kprof_analyzers.scheduling.waits import issue_cycles

ROOT = Path(__file__).parents[2]
_NAME = re.compile(r"(CDNA|RDNA|GFX)[\d.]+|gfx\d[0-9a-f-]*")
# Readers know the names that files of every LLVM bear; the rest is what commands take when nothing is named.
_DEFAULT = {"gfx942"}
_ALLOWED = {
    "kprof/inputs": None,
    "kprof/cli": _DEFAULT,
    "kprof/recording": _DEFAULT,
    "kprof/bench": _DEFAULT,
    # Stands for a class of AITER's, which decides by these names.
    "servers/kprof_servers/served/lookup_process.py": {"gfx10", "gfx11", "gfx12", "gfx1250"},
}


def test_no_code_compares_names_of_architectures():
    """Rules name the families that they were looked at on; nothing else decides by a name."""
    found = []
    for file in (file for folder in ("kprof", "analyzers", "servers") for file in (ROOT / folder).rglob("*.py")):
        path = file.relative_to(ROOT).as_posix()
        allowed = next((names for folder, names in _ALLOWED.items() if path.startswith(folder)), set())
        tree = ast.parse(file.read_text(encoding="utf-8"))
        families = {
            id(inner)
            for node in ast.walk(tree)
            if isinstance(node, ast.AnnAssign) and ast.unparse(node.target) == "families"
            for inner in ast.walk(node)
        }
        # What stands for itself, as the architecture that is taken when none is named, decides nothing.
        families |= {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Assign | ast.AnnAssign)}
        for node in ast.walk(tree):
            if not isinstance(node, ast.Constant) or not isinstance(node.value, str) or id(node) in families:
                continue
            if allowed is not None and _NAME.fullmatch(node.value) and node.value not in allowed:
                found.append(f"{path}:{node.lineno}: {node.value}")
    assert not found


@pytest.mark.parametrize(
    ("arch", "cycles", "vector"), [("gfx942", 4, 4), ("gfx1100", 1, 1), ("gfx1201", 1, 1), ("gfx1250", 1, 1)]
)
def test_issue_costs(arch, cycles, vector):
    """An MI450 issues like RDNA, not like CDNA: 32 lanes a cycle."""
    machine = load(arch)
    assert machine.issue.cycles == cycles
    assert machine.issue.valu_cycles(machine.wavefront_size) == vector
    modelled = machine_of(machine, None, machine.wavefront_size)
    assert (modelled.issue, modelled.valu) == (cycles, vector)


def test_what_is_not_known_is_no_number():
    """Without a table of issue costs there is none; the model says what it assumes."""
    unknown = replace(load("gfx942"), issue=None)
    text = (
        '\t.amdgcn_target "amdgcn-amd-amdhsa--gfx942"\n\t.globl\tk\n\t.type\tk,@function\nk:\n'
        "\tv_add_f32_e32 v0, v1, v2\n\ts_endpgm\n\t.amdhsa_kernel k\n\t.end_amdhsa_kernel\n"
    )
    instruction = amdgcn.parse(text).kernels[0].instructions[0]
    assert issue_cycles(instruction, load("gfx942")) == 4
    assert issue_cycles(instruction, unknown) is None
    assumptions = machine_of(unknown, None, 64).assumptions
    assert any("how instructions are issued is not known" in text for text in assumptions)
    assert not any("issued" in text for text in machine_of(load("gfx942"), None, 64).assumptions)


def test_options_that_an_architecture_does_not_have():
    """``kpack`` on gfx942 is 1 or 2, on gfx950 it is 1, on RDNA it changes nothing; unknown: nothing is tried."""
    unknown = replace(load("gfx942"), triton=TritonFacts())
    assert value_problem({"kpack": 2}, load("gfx942")) is None
    assert value_problem({"kpack": 2}, load("gfx950")) == "kpack is 1 on gfx950"
    assert value_problem({"kpack": 2}, unknown) is None
    tried = {
        name: {knob for change in option_changes({}, load(name), (), version=(3, 9)) for knob in change}
        for name in ("gfx942", "gfx950", "gfx1201")
    }
    assert "kpack" in tried["gfx942"]
    assert "kpack" not in tried["gfx950"]
    assert "matrix_instr_nonkdim" in tried["gfx950"]
    assert not tried["gfx1201"] & {"kpack", "matrix_instr_nonkdim"}
    assert "kpack" not in {k for c in option_changes({}, unknown, (), version=(3, 9)) for k in c}


@pytest.mark.parametrize("name", architectures())
def test_switches_that_are_on(name):
    """A switch is on from its release on, and off where it changes nothing."""
    triton = load(name).triton
    known = triton.switches is not None
    assert triton.is_on("AMDGCN_USE_BUFFER_OPS", (3, 5)) is (False if known else None)
    assert triton.is_on("AMDGCN_USE_BUFFER_OPS", (3, 6)) is (True if known else None)
    assert triton.is_on("NO_SUCH_SWITCH", (3, 9)) is (False if known else None)
    assert TritonFacts().is_on("AMDGCN_USE_BUFFER_OPS", (3, 9)) is None
