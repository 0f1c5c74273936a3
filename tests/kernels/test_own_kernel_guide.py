"""The example of the guide for users' own kernels works as printed."""

import re
from collections.abc import Callable
from pathlib import Path

import pytest

from kprof.options.groups import CompileOptions
from kprof.targets import library as kernel_library
from kprof.targets.resolver import load

GUIDE = Path(__file__).parents[2] / "docs" / "kernels" / "your_own_kernel.md"


@pytest.fixture
def example(tmp_path: Path) -> Path:
    """The guide's file, written out."""
    found = re.search(r"```python\n(.*?)```", GUIDE.read_text(encoding="utf-8"), re.DOTALL)
    assert found is not None
    path = tmp_path / "my.py"
    path.write_text(found[1])
    return path


@pytest.mark.triton
def test_example_compiles_for_both_cases(example: Path) -> None:
    """The aligned case loads 16 bytes a lane, the odd one cannot."""
    asm = {
        case: next(iter(load(str(example), CompileOptions(arch=("gfx942",), case=case, jobs=1)))).program
        for case in ("large", "odd")
    }

    # Triton 3.4 has buffer operations switched off, and its loads are global ones.
    names = {
        case: {i.mnemonic.replace("global_", "buffer_") for i in program.instructions} for case, program in asm.items()
    }
    assert "buffer_load_dwordx4" in names["large"]
    assert "buffer_load_ushort" in names["odd"]


@pytest.mark.triton
def test_example_gives_the_right_result(example: Path, interpret: Callable[[str, str], dict[str, object]]) -> None:
    """Its check passes in the interpreter."""
    assert kernel_library.load(str(example)).checks.keys() == {"odd"}

    answer = interpret(str(example), "odd")

    assert "error" not in answer, answer
    assert answer["outputs"]["out"]["ratio"] <= 1  # type: ignore[index]
