"""ROCm's command-line tools as a recorded program finds them: on PATH, answering for the simulated GPU."""

import json
import os
import shutil
import subprocess
import sys
from dataclasses import asdict
from pathlib import Path

import pytest

from kprof.recording.settings import TOOLS, Settings, environment
from kprof.simulation.command_tools import TOOLS as ANSWERS
from kprof.simulation.command_tools import NotAnsweredError, amd_smi, rocm_agent_enumerator, rocm_smi
from kprof.simulation.gpu import gpu_of

GPU = asdict(gpu_of("MI308X"))


@pytest.fixture
def recorded():
    """The environment of a recorded program on a machine without ROCm."""
    path = os.pathsep.join(p for p in os.environ["PATH"].split(os.pathsep) if not shutil.which("rocm-smi", path=p))
    return environment(Settings("/nowhere", gpu_of("MI308X")), {**os.environ, "PATH": path})


def test_each_tool_is_a_program_in_front_of_the_path():
    """A name for each answer, executable, in the folder that a recording puts there."""
    assert {path.name for path in TOOLS.iterdir()} == set(ANSWERS)
    assert all(os.access(path, os.X_OK) for path in TOOLS.iterdir())


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        (["rocm-smi"], "AMD Instinct MI308X"),
        (["rocm-smi", "--showproductname"], "GFX Version: \t\tgfx942"),
        (["amd-smi", "static", "--asic"], "MARKET_NAME: AMD Instinct MI308X"),
        (["amd-smi", "list"], "GPU: 0"),
        (["rocm_agent_enumerator"], "gfx000\ngfx942"),
        (["sh", "-c", "rocm-smi --showmeminfo vram | grep -c Total"], "2"),
    ],
)
def test_a_program_gets_the_products_answer(recorded, command, expected):
    """As a list and through a shell; the tool itself is no recorded process."""
    ran = subprocess.run(command, env=recorded, capture_output=True, text=True, check=True)
    assert expected in ran.stdout
    assert ran.stderr == ""


def test_they_are_found_where_programs_look(recorded):
    """``shutil.which`` is how libraries tell AMD's machines from others."""
    assert Path(shutil.which("rocm-smi", path=recorded["PATH"])).parent == TOOLS


def test_what_has_no_answer_is_said(recorded):
    """Not silence, and no number that nobody knows."""
    ran = subprocess.run(["rocm-smi", "--setfan", "3"], env=recorded, capture_output=True, text=True, check=False)
    assert (ran.returncode, ran.stdout) == (2, "")
    assert ran.stderr == "kprof: the simulated GPU does not support rocm-smi --setfan\n"
    for tool, arguments in (
        (rocm_smi, ["--showmeminfo", "gtt"]),
        (amd_smi, ["reset"]),
        (rocm_agent_enumerator, ["-x"]),
    ):
        with pytest.raises(NotAnsweredError):
            tool(arguments, GPU)


def test_json_has_the_fields_that_programs_read():
    """One card; memory in bytes, and in megabytes as amd-smi has it; what no table here holds is N/A."""
    product = json.loads(rocm_smi(["--showproductname", "--showmeminfo", "vram", "--json"], GPU))
    assert product["card0"]["Card Series"] == "AMD Instinct MI308X"
    assert product["card0"]["Card Model"] == "N/A"
    assert product["card0"]["VRAM Total Memory (B)"] == str(GPU["memory_bytes"])
    (static,) = json.loads(amd_smi(["static", "--json"], GPU))
    assert static["asic"]["num_compute_units"] == GPU["compute_units"]
    assert static["vram"]["size"] == {"value": GPU["memory_bytes"] >> 20, "unit": "MB"}
    assert json.loads(rocm_smi(["--showdriverversion", "--json"], GPU)) == {"system": {"Driver version": "N/A"}}


def test_a_machine_with_rocm_keeps_its_own(tmp_path):
    """Where kernels may run the tools tell of the GPU that there is; where nothing runs, of the simulated one."""
    tool = tmp_path / "rocm-smi"
    tool.write_text("#!/bin/sh\n")
    tool.chmod(0o755)
    base = {"PATH": str(tmp_path)}
    assert environment(Settings("/nowhere", gpu_of("gfx942"), execute=True), base)["PATH"] == str(tmp_path)
    hidden = environment(Settings("/nowhere", gpu_of("gfx942"), execute=False), base)["PATH"]
    assert hidden == f"{TOOLS}{os.pathsep}{tmp_path}"


def test_the_answers_need_nothing_but_python():
    """Whatever Python is first on PATH runs them: the file imports the standard library alone."""
    file = Path(sys.modules["kprof.simulation.command_tools"].__file__)
    ran = subprocess.run(
        [sys.executable, "-I", "-S", str(file), "rocm_agent_enumerator"],
        env={"KPROF_TOOLS": json.dumps({"device": GPU})}, capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert ran.stdout == "gfx000\ngfx942\n"
