"""What callers can tell apart without reading a message."""

from pathlib import Path

import pytest

from kprof.errors import CompileError, HardwareError, InputError, KprofError, TargetError, near


@pytest.mark.parametrize("kind", [TargetError, CompileError, InputError, HardwareError])
def test_every_kind_is_a_kprof_error_and_says_where(kind: type[KprofError]) -> None:
    error = kind("cannot be read", path="a.csv", place="line 3", hint="look at it")
    assert isinstance(error, KprofError)
    assert str(error) == "a.csv, line 3: cannot be read\n  look at it"


def test_an_unknown_architecture_is_about_hardware() -> None:
    from kprof.hardware.machine import load

    with pytest.raises(HardwareError, match="gfx9420"):
        load("gfx9420")


def test_a_file_that_is_cut_off_is_about_input(tmp_path: Path) -> None:
    from kprof.diffing.reading import read_report

    path = tmp_path / "report.json"
    path.write_text('{"schema": "kprof.report/1", "kernels": [')
    with pytest.raises(InputError, match="not a complete JSON document"):
        read_report(path)


@pytest.mark.triton
def test_a_kernel_that_is_refused_is_about_compiling(tmp_path: Path) -> None:
    from kprof.targets.resolver import CompileOptions, load

    path = tmp_path / "wrong.py"
    path.write_text(
        "import triton\nimport triton.language as tl\n\n\n"
        "@triton.jit\ndef wrong(x_ptr):\n    tl.store(x_ptr, not_there)\n"
    )
    with pytest.raises(CompileError, match="not_there"):
        list(load(f"{path}::wrong", CompileOptions(signature="*fp32", use_cache=False)))


def test_no_release_of_triton_is_about_compiling() -> None:
    from kprof.compiler.installations import normalise

    with pytest.raises(CompileError, match="release"):
        normalise("latest")


def test_the_other_case_is_near() -> None:
    """``N`` for ``n``: one letter has nothing else in common."""
    assert near("N", ["x", "n", "BLOCK"]) == "; did you mean 'n'?"
    assert near("block", ["BLOCK", "blocks"]) == "; did you mean 'BLOCK' or 'blocks'?"
    assert near("zzz", ["x", "n"]) == ""
