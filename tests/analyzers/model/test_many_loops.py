"""A program of hundreds of loops: time and memory grow with its length, and not with loops times instructions."""

import gc
import re
import time
import tracemalloc
from pathlib import Path

import pytest

import kprof
from kprof.options.groups import CompileOptions
from kprof.targets.resolver import load
from kprof_analyzers.model.occupancy_gain import explained
from kprof_analyzers.pipeline import facts_of

ASSEMBLY = Path(__file__).resolve().parents[2] / "artifacts" / "gfx942" / "matmul.triton-3.9.0.amdgcn"


def repeated(times: int) -> str:
    """The kernel with its body so many times, one after the other, with labels of their own."""
    lines = ASSEMBLY.read_text().split("\n")
    begin = next(number for number, line in enumerate(lines) if line.startswith("matmul:")) + 1
    end = next(number for number, line in enumerate(lines) if "s_endpgm" in line)
    body = [
        re.sub(r"\.L\w+", lambda label, copy=copy: f"{label[0]}_{copy}", line)
        for copy in range(times)
        for line in lines[begin:end]
    ]
    return "\n".join([*lines[:begin], *body, *lines[end:]])


def peak(path: Path) -> int:
    """Bytes that the model takes at its worst."""
    (kernel,) = load(str(path), CompileOptions())
    facts, _ = facts_of(kernel)
    tracemalloc.start()
    try:
        explained(facts)
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def test_memory_of_the_model_grows_with_the_program(tmp_path: Path) -> None:
    """Four times the loops: it was fifteen times the memory, 15 GB for 200,000 lines."""
    few, many = tmp_path / "few.amdgcn", tmp_path / "many.amdgcn"
    few.write_text(repeated(15))
    many.write_text(repeated(60))
    assert peak(many) < 6 * peak(few)


@pytest.mark.slow
def test_time_of_an_analysis_grows_with_the_program(tmp_path: Path) -> None:
    """200,000 lines took eight times as long as they should: four times the lines, at most six times the seconds."""

    def seconds(copies: int) -> float:
        path = tmp_path / f"{copies}.amdgcn"
        path.write_text(repeated(copies))
        # The collector's passes take as long as what other tests have left makes them.
        gc.collect()
        gc.disable()
        try:
            begun = time.process_time()
            assert kprof.analyze(str(path)).kernels
            return time.process_time() - begun
        finally:
            gc.enable()

    # One of three tries: what else the machine does makes either longer.
    assert any(seconds(400) < 6 * seconds(100) for _ in range(3))
