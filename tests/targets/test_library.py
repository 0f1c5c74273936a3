"""Kernels are found by name, path and function; what is wrong with a file is one clear message."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from kprof.errors import KprofError
from kprof.importing.wrappers import jit_function
from kprof.kernel_spec import Kernel
from kprof.targets import library as kernel_library

JIT_FILE = """
import triton
import triton.language as tl


@triton.jit
def helper(x):
    return x + 1


@triton.autotune(configs=[triton.Config({"BLOCK": 64})], key=["n"])
@triton.jit
def add_one(x_ptr, n, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    tl.store(x_ptr + at, helper(tl.load(x_ptr + at)), mask=at < n)


NOT_A_KERNEL = 3
"""

SPEC_FILE = """
import triton
import triton.language as tl
from kprof.kernel_spec import Kernel, Launch, Part, Tensor


@triton.jit
def fill(x_ptr, n, BLOCK: tl.constexpr):
    tl.store(x_ptr + tl.arange(0, BLOCK), 0.0, mask=tl.arange(0, BLOCK) < n)


@triton.jit
def clear(x_ptr, n, BLOCK: tl.constexpr):
    tl.store(x_ptr + tl.arange(0, BLOCK), 1.0, mask=tl.arange(0, BLOCK) < n)


def launch(shape, config):
    return Launch({"x_ptr": Tensor("fp32", (shape["N"],)), "n": shape["N"], **config}, (1,))


KERNEL = Kernel(name="mine", entry=fill, summary="Fill", launch=launch, shapes={"a": {"N": 64}}, config={"BLOCK": 64},
                parts={"clear": Part(clear, launch)})
"""


@pytest.fixture
def user_file(tmp_path: Path) -> Path:
    """A user's file with two bare Triton functions."""
    path = tmp_path / "mine.py"
    path.write_text(JIT_FILE)
    return path


def test_bundled_are_the_files_of_the_folder() -> None:
    """Every kernel file beside the package is found under its own name; the first four kernels are there."""
    found = kernel_library.bundled()

    assert {"softmax", "rmsnorm", "gemm", "flash_attention"} <= set(found)
    assert all(path.name == f"{name}.py" and path.is_file() for name, path in found.items())


def test_catalogue_needs_no_triton() -> None:
    """Names, summaries and cases come from the files' text: neither triton nor torch is imported."""
    code = (
        "import sys; sys.modules['triton'] = sys.modules['torch'] = None\n"
        "from kprof.targets.library import catalogue\n"
        "entries = {e.name: e for e in catalogue()}\n"
        "print(entries['gemm'].cases[0], entries['gemm'].parts, bool(entries['softmax'].summary))"
    )

    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)

    assert result.stderr == ""
    assert result.stdout == "square_8k ('reduce',) True\n"


@pytest.mark.triton
def test_load_by_name_and_part() -> None:
    """A name gives the kernel, ``name::part`` its further function with the same cases."""
    pytest.importorskip("triton")

    gemm, part = kernel_library.load("gemm"), kernel_library.load("gemm::reduce")

    assert gemm.name == "gemm"
    assert part.name == "gemm::reduce"
    assert part.entry.fn.__name__ == "reduce_kernel"
    assert part.shapes == gemm.shapes


@pytest.mark.triton
@pytest.mark.parametrize(
    ("target", "message"),
    [
        ("flash_atention", "did you mean 'flash_attention'"),
        ("softmax::nothing", "no part 'nothing'"),
        ("gemm::reduc", "did you mean 'reduce'"),
        ("missing/file.py", "no such file"),
        ("kernels/gem.py", "did you mean 'gemm.py'"),
        ("tests", "is not a Python file"),
    ],
)
def test_unknown_target(target: str, message: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """What does not exist is named, with near matches where there are some."""
    pytest.importorskip("triton")
    monkeypatch.chdir(Path(__file__).parents[2])

    with pytest.raises(KprofError, match=message):
        kernel_library.load(target)


@pytest.mark.triton
def test_user_function_keeps_its_autotuner(user_file: Path) -> None:
    """``file.py::function`` gives the function with its autotuner's configurations, and no launch of its own."""
    pytest.importorskip("triton")

    kernel = kernel_library.load(f"{user_file}::add_one")

    assert [config.kwargs for config in kernel.entry.configs] == [{"BLOCK": 64}]
    assert jit_function(kernel.entry).fn.__code__.co_filename == str(user_file)
    assert (kernel.name, dict(kernel.shapes), kernel.configure("gfx942", {"X": 1})) == ("add_one", {}, {"X": 1})
    with pytest.raises(KprofError, match="does not say how it is launched"):
        kernel.launch({}, {})


@pytest.mark.triton
def test_gluon_function(tmp_path: Path) -> None:
    """A kernel in Triton's lower language is a kernel too."""
    pytest.importorskip("triton.experimental.gluon")
    path = tmp_path / "low.py"
    path.write_text("from triton.experimental import gluon\n\n@gluon.jit\ndef low(x):\n    pass\n")

    assert kernel_library.load(f"{path}::low").name == "low"


@pytest.mark.triton
@pytest.mark.parametrize(
    ("target", "message"),
    [
        ("", "2 kernels; name one of them"),
        ("::add_on", "did you mean 'add_one'"),
        ("::NOT_A_KERNEL", "'NOT_A_KERNEL' is a int, not a Triton function"),
    ],
)
def test_user_function_not_found(target: str, message: str, user_file: Path) -> None:
    """A file with several functions asks which; a wrong name is met with near ones."""
    pytest.importorskip("triton")

    with pytest.raises(KprofError, match=message) as caught:
        kernel_library.load(f"{user_file}{target}")

    assert caught.value.path == str(user_file)


@pytest.mark.triton
def test_user_spec(tmp_path: Path) -> None:
    """A user's file with a KERNEL gives it, its parts, and any other function without a launch."""
    pytest.importorskip("triton")
    path = tmp_path / "spec.py"
    path.write_text(SPEC_FILE)

    whole, by_entry, part = (kernel_library.load(f"{path}{name}") for name in ("", "::fill", "::clear"))

    assert whole is by_entry
    assert whole.name == "mine"
    assert part.name == "mine::clear"
    assert part.launch({"N": 3}, {"BLOCK": 64}).args["n"] == 3


@pytest.mark.triton
def test_file_inside_a_package_keeps_relative_imports(tmp_path: Path) -> None:
    """A kernel file in a package may import its neighbours, and the import path is left as it was."""
    pytest.importorskip("triton")
    package = tmp_path / "kprof_test_package"
    package.mkdir()
    (package / "__init__.py").write_text("")
    (package / "sizes.py").write_text("N = 64\n")
    (package / "spec.py").write_text("from .sizes import N\n" + SPEC_FILE.replace('{"N": 64}', '{"N": N}'))
    before = list(sys.path)

    kernel = kernel_library.load(str(package / "spec.py"))

    assert kernel.shapes == {"a": {"N": 64}}
    assert sys.path == before


@pytest.mark.parametrize(
    ("text", "message", "place"),
    [
        (
            "x = 1\nraise ValueError('no such device')\n",
            "raises ValueError when it is imported: no such device",
            "line 2",
        ),
        ("def broken(:\n", "is not valid Python", "line 1"),
        ("import sys\nsys.exit(3)\n", r"calls sys.exit\(3\)", None),
        ("import module_that_nobody_has\n", "No module named 'module_that_nobody_has'", "line 1"),
        ("KERNEL = 3\n", "KERNEL is a int", None),
        ("x = 1\n", "neither a KERNEL nor", None),
    ],
)
def test_broken_file(text: str, message: str, place: str | None, tmp_path: Path) -> None:
    """A file that fails while it is imported is one message with the line of the file."""
    path = tmp_path / "broken.py"
    path.write_text(text)

    with pytest.raises(KprofError, match=message) as caught:
        kernel_library.load(str(path))

    assert (caught.value.path, caught.value.place) == (str(path), place)


def test_triton_missing_is_said(tmp_path: Path) -> None:
    """Without Triton a kernel file's import error becomes advice on how to install it.

    In a process of its own: what fails to import Triton once is not as before afterwards.
    """
    path = tmp_path / "kernel.py"
    path.write_text("import triton\n")
    script = (
        "import sys; sys.modules['triton'] = None\n"
        "from kprof.errors import KprofError\n"
        "from kprof.targets import library\n"
        f"try: library.load({str(path)!r})\n"
        "except KprofError as error: print(error)\n"
    )
    root = Path(__file__).resolve().parents[2]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(root), str(root / "analyzers")])}
    ran = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, env=environment, check=False)

    assert "Triton is not installed" in ran.stdout, ran.stderr
    assert "pip install triton" in ran.stdout


def test_changed_file_is_loaded_again(tmp_path: Path) -> None:
    """A file edited between two loads gives its new contents."""
    path = tmp_path / "changing.py"
    path.write_text("raise ValueError('first')\n")
    with pytest.raises(KprofError, match="first"):
        kernel_library.load(str(path))

    path.write_text("raise ValueError('second time')\n")

    with pytest.raises(KprofError, match="second time"):
        kernel_library.load(str(path))


def test_read_entry_of_odd_files(tmp_path: Path) -> None:
    """Text without a KERNEL has no summary; text that is not Python is refused."""
    plain, broken = tmp_path / "plain.py", tmp_path / "broken.py"
    plain.write_text("A = {'x': 1}\nKERNEL = Kernel(name='p', shapes={**A, 'y': 2} | {'z': 3}, summary='S')\n")
    broken.write_bytes(b"\x00\xff")

    entry = kernel_library.read_entry("plain", plain)

    assert (entry.summary, entry.cases, entry.checks) == ("S", ("x", "y", "z"), ())
    with pytest.raises(KprofError, match="cannot read the kernel file"):
        kernel_library.read_entry("broken", broken)


def _spec(**fields: object) -> Kernel:
    plain = {"name": "k", "entry": None, "summary": "", "launch": None, "config": {"BLOCK": 64, "num_warps": 4}}
    return Kernel(**{**plain, "shapes": {"a": {"N": 1, "dtype": "fp8_e4m3"}, "b": {"N": 2}}, **fields})  # type: ignore[arg-type]


def test_configure_puts_overrides_last() -> None:
    """Defaults, then the architecture's, then the shape's, then the user's; unknown knobs are refused."""
    kernel = _spec(arch_config={"gfx950": {"BLOCK": 128}}, shape_config=lambda shape, arch: {"num_warps": shape["N"]})

    assert kernel.configure("gfx942") == {"BLOCK": 64, "num_warps": 4}
    assert kernel.configure("gfx950", None, {"N": 8}) == {"BLOCK": 128, "num_warps": 8}
    assert kernel.configure("gfx950", {"BLOCK": 1, "waves_per_eu": 2}, {"N": 8})["BLOCK"] == 1
    with pytest.raises(KprofError, match="no knob 'BLOCKS'; did you mean 'BLOCK'"):
        kernel.configure("gfx942", {"BLOCKS": 1})


def test_problem_resolves_fp8_and_refuses_unknown_names() -> None:
    """Generic 8-bit floats become the architecture's own; unknown cases and parameters are refused."""
    kernel = _spec()

    assert kernel.problem("gfx942") == {"N": 1, "dtype": "fp8e4b8"}
    assert kernel.problem("gfx950") == {"N": 1, "dtype": "fp8e4nv"}
    assert kernel.problem("gfx1201", None, {"dtype": "fp8_e5m2"})["dtype"] == "fp8e5"
    assert kernel.problem("gfx942", "b", {"N": 5}) == {"N": 5}
    with pytest.raises(KprofError, match="no case 'c'"):
        kernel.problem("gfx942", "c")
    with pytest.raises(KprofError, match="no shape parameter 'M'"):
        kernel.problem("gfx942", "b", {"M": 5})
