"""Texts and objects as targets: told by their form, objects compiled as if their function stood in a file."""

import linecache
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from kprof.errors import KprofError, TargetError
from kprof.hardware.machine import load as load_architecture
from kprof.importing.functions import load_function
from kprof.importing.loading import load_module
from kprof.kernel_spec import Kernel, Launch
from kprof.options.groups import CompileOptions
from kprof.targets.jobs import plan
from kprof.targets.library import load as load_kernel
from kprof.targets.resolver import load
from kprof.targets.target import TargetKind, is_report, kernel_of, resolve

MI300 = load_architecture("gfx942")
SIGNATURE = CompileOptions(arch=("MI300X",), signature="*fp32,*fp32,i32", constexpr={"BLOCK": 256}, grid=(16,))

HEAD = "import triton\nimport triton.language as tl\nfrom triton.language.extra import libdevice\n"
KERNELS = """
FACTOR = tl.constexpr(2.5)
COUNTS = tl.constexpr(3)


@triton.jit
def scaled(v, K: tl.constexpr = 3):
    return tl.exp(v) * FACTOR + K


@triton.jit
def add(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    v = tl.load(x_ptr + at, mask=at < n)
    for _ in tl.static_range(COUNTS):
        v = libdevice.sqrt(scaled(v))
    tl.store(y_ptr + at, v, mask=at < n)


def make(F):
    @triton.jit
    def inner(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
        at = tl.arange(0, BLOCK)
        tl.store(y_ptr + at, tl.load(x_ptr + at) * F, mask=at < n)

    return inner
"""


@pytest.fixture
def cell() -> dict[str, Any]:
    """Names after a notebook's cell was run: compiled from text, its source known to linecache alone."""
    pytest.importorskip("triton")
    names: dict[str, Any] = {"__name__": "__main__"}
    place = "<ipython-input-7-kprof>"
    text = HEAD + KERNELS
    linecache.cache[place] = (len(text), None, text.splitlines(keepends=True), place)
    exec(compile(text, place, "exec"), names)  # as a notebook does
    return names


@pytest.fixture(autouse=True)
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Written functions go to a cache of the test's own."""
    monkeypatch.setenv("KPROF_CACHE_DIR", str(tmp_path / "cache"))


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("gemm", TargetKind.SOURCE),
        ("gemm_splitk::reduce", TargetKind.SOURCE),
        ("missing.py::f", TargetKind.SOURCE),
        ("code.amdgcn", TargetKind.CODE),
        ("code.hip", TargetKind.HIP),
        ("cache", TargetKind.DIRECTORY),
        ("recorded", TargetKind.CAPTURE),
    ],
)
def test_texts_are_told_by_their_form(
    text: str, kind: TargetKind, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing is read for it but the names of files."""
    monkeypatch.chdir(tmp_path)
    for name in ("code.amdgcn", "code.hip", "cache/empty.txt", "recorded/capture.json"):
        Path(name).parent.mkdir(exist_ok=True)
        Path(name).touch()

    assert resolve(text).kind is kind
    assert resolve(Path(text)) == resolve(text)


def test_what_is_not_there_is_met_with_what_is(tmp_path: Path) -> None:
    """A mistyped file has its neighbours as near matches."""
    (tmp_path / "kernel.amdgcn").touch()

    with pytest.raises(TargetError, match=r"did you mean 'kernel\.amdgcn'"):
        resolve(tmp_path / "kernl.amdgcn")


@pytest.mark.parametrize("name", ["k" * 5000, "k/" * 5000, "k" * 300 + ".py", "k" * 300 + "::f"])
def test_names_that_no_file_can_have_are_missing_files(name: str) -> None:
    """An error of the file system is none of kprof's own."""
    with pytest.raises(TargetError, match=f"a name of {len(name):,} characters") as caught:
        resolve(name)

    assert len(str(caught.value)) < 200
    assert not is_report(Path(name))


def test_an_empty_name_is_not_the_current_folder() -> None:
    """It is a variable of a shell that was never set; pathlib takes it for a point."""
    with pytest.raises(TargetError, match="the target is empty"):
        resolve("")


@pytest.mark.parametrize(
    ("value", "message"), [(3, "a int"), (print, "without @triton.jit"), ([], "a list"), (None, "a NoneType")]
)
def test_other_objects_are_refused(value: object, message: str) -> None:
    """The message says what may be given."""
    with pytest.raises(TargetError, match=message) as caught:
        resolve(value)

    assert "@triton.jit function" in str(caught.value.hint)


def test_compiled_targets_have_no_knobs(tmp_path: Path) -> None:
    """Advice and tuning compile; what is compiled already is told apart from what does not exist."""
    (tmp_path / "code.amdgcn").touch()

    with pytest.raises(TargetError, match="a file of compiled code") as caught:
        kernel_of(tmp_path / "code.amdgcn")

    assert caught.value.path == str(tmp_path / "code.amdgcn")


@pytest.mark.triton
def test_notebook_function_compiles_as_from_a_file(cell: dict[str, Any], tmp_path: Path) -> None:
    """Helpers, constants and modules come with it: the same instructions as when the text stands in a file."""
    path = tmp_path / "written.py"
    path.write_text(HEAD + KERNELS)

    (own,) = load(cell["add"], SIGNATURE)
    (file,) = load(f"{path}::add", SIGNATURE)

    assert (own.name, own.product and own.product.name, own.grid) == ("add", "MI300X", (16,))
    assert [i.opcode.name for i in own.program.instructions] == [i.opcode.name for i in file.program.instructions]
    assert len(own.program.instructions) > 20


@pytest.mark.triton
def test_lines_stay_where_they_were(cell: dict[str, Any]) -> None:
    """What the compiler says of a line is true of the cell, too."""
    (job,) = plan(cell["add"], [MI300], SIGNATURE)
    written = Path(job.request.path).read_text().splitlines()
    cell_lines = (HEAD + KERNELS).splitlines()
    first = cell_lines.index("def add(x_ptr, y_ptr, n, BLOCK: tl.constexpr):")

    assert written[first : first + 6] == cell_lines[first : first + 6]


@pytest.mark.triton
def test_closures_take_their_values_along(cell: dict[str, Any]) -> None:
    """Two functions of one factory are two files, each with its own value."""
    two, three = cell["make"](cell["triton"].language.constexpr(2)), cell["make"](cell["triton"].language.constexpr(3))
    requests = [plan(function, [MI300], SIGNATURE)[0].request for function in (two, three)]

    assert requests[0].path != requests[1].path
    for request, value in zip(requests, (2, 3), strict=True):
        assert load_function(request.path, request.function).jit.fn.__globals__["F"].value == value


@pytest.mark.triton
def test_local_names_are_the_functions_own(cell: dict[str, Any]) -> None:
    """A notebook may have anything of the name of a kernel's local variable or parameter."""
    cell.update(at=object(), v=object(), n=object())

    request = plan(cell["add"], [MI300], SIGNATURE)[0].request
    assert not {"at", "v", "n"} & load_function(request.path, request.function).jit.fn.__globals__.keys()


@pytest.mark.triton
def test_what_cannot_be_written_is_named(cell: dict[str, Any]) -> None:
    """A function that refers to a program's own object is refused, with the name of that object and a way out."""
    cell["COUNTS"] = object()

    with pytest.raises(KprofError, match=r"add .* refers to 'COUNTS', which is a object") as caught:
        resolve(cell["add"])

    assert "FILE.py::FUNCTION" in str(caught.value.hint)


@pytest.mark.triton
def test_imported_functions_stay_in_their_file(tmp_path: Path) -> None:
    """Nothing is written for what can be imported; configurations of the autotuner are those of the object."""
    path = tmp_path / "own.py"
    tuner = "tuned = triton.autotune(configs=[triton.Config({'BLOCK': 64}, num_warps=2)], key=[])(add)\n"
    path.write_text(HEAD + KERNELS + tuner)
    module = load_module(path)
    options = CompileOptions(signature="*fp32,*fp32,i32")

    (job,) = plan(module.tuned, [MI300], options)

    assert (job.request.path, job.request.function) == (str(path), "add")
    assert (job.request.constexprs, job.request.options["num_warps"]) == ({"BLOCK": 64}, 2)
    assert not (tmp_path / "cache" / "functions").exists()


@pytest.mark.triton
def test_kernel_object() -> None:
    """A Kernel is a target with all of its options; the compile is that of its name, besides what it has in memory."""
    pytest.importorskip("triton")
    gemm = load_kernel("gemm")
    options = CompileOptions(config={"num_warps": 4}, use_cache=False)

    assert resolve(gemm).kind is TargetKind.KERNEL
    given = plan(gemm, [MI300], options)
    assert all(job.request.memory for job in given)
    alike = [replace(job, request=replace(job.request, memory=None)) for job in given]
    assert alike == plan("gemm", [MI300], options)


@pytest.mark.triton
def test_kernel_object_of_a_notebook(cell: dict[str, Any]) -> None:
    """So is one whose function stands in a cell."""
    kernel = Kernel(
        name="mine",
        entry=cell["add"],
        summary="",
        launch=lambda shape, config: Launch({"x_ptr": None, "y_ptr": None, "n": shape["N"], **config}, (1,)),
        shapes={"one": {"N": 64}},
        config={"BLOCK": 64},
    )

    (job,) = plan(kernel, [MI300], CompileOptions())

    assert load_function(job.request.path, job.request.function).arguments == ("x_ptr", "y_ptr", "n", "BLOCK")


@pytest.mark.triton
def test_script_that_analyses_itself_is_not_run_again(tmp_path: Path) -> None:
    """A program that gives its own function at its top level ends: no worker runs the program."""
    pytest.importorskip("triton")
    path = tmp_path / "program.py"
    path.write_text(
        HEAD + KERNELS + "from kprof.targets.resolver import load\n"
        "from kprof.options.groups import CompileOptions\n"
        "options = CompileOptions(signature='*fp32,*fp32,i32', constexpr={'BLOCK': 64})\n"
        "print('ran', [kernel.name for kernel in load(add, options)])\n"
    )

    ran = subprocess.run(
        [sys.executable, str(path)], capture_output=True, text=True, timeout=120, check=False, env=dict(os.environ)
    )

    assert (ran.stdout, ran.stderr) == ("ran ['add']\n", "")


@pytest.mark.triton
def test_interpreter_is_for_what_runs(tmp_path: Path) -> None:
    """With TRITON_INTERPRET=1 in the environment, as from a debugging session, kernels are compiled all the same."""
    pytest.importorskip("triton")
    path = tmp_path / "own.py"
    path.write_text(HEAD + KERNELS)
    code = (
        "from kprof.hardware.machine import load\n"
        "from kprof.targets.jobs import plan\n"
        "from kprof.options.groups import CompileOptions\n"
        f"options = CompileOptions(signature='*fp32,*fp32,i32', constexpr={{'BLOCK': 64}})\n"
        f"print([job.request.function for job in plan({str(path) + '::add'!r}, [load('gfx942')], options)])\n"
    )
    environment = {**os.environ, "TRITON_INTERPRET": "1"}
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False, env=environment)

    assert (ran.stdout, ran.stderr) == ("['add']\n", "")


@pytest.mark.parametrize(
    ("name", "kind", "would_run"),
    [
        ("k.py", "a Python file", "imported as Python"),
        ("k.py::f", "a Python file", "imported as Python"),
        ("k.hip", "HIP source", "compiled as HIP source"),
        ("k.amdgcn", "a file of compiled code", None),
        ("k.hsaco", "a file of compiled code", None),
        ("k.json", "a report", None),
        ("report", "a report", None),
        ("folder", "a directory of compiled kernels", None),
        ("gemm", "a Python file", None),
        ("gemm_splitk::reduce", "a Python file", None),
    ],
)
def test_what_would_run_follows_from_the_kind(tmp_path, monkeypatch, name, kind, would_run):
    """Of files by their form alone; a bundled kernel is no code of others."""
    monkeypatch.chdir(tmp_path)
    for file in ("k.py", "k.hip", "k.amdgcn", "k.hsaco"):
        (tmp_path / file).touch()
    (tmp_path / "k.json").write_text("{}")
    (tmp_path / "report").write_text("  [1]")
    (tmp_path / "folder").mkdir()
    found = resolve(name)
    assert (found.kind.value, found.would_run, found.text) == (kind, would_run, name)
    assert found.path == Path(name.partition("::")[0])


@pytest.mark.triton
def test_a_kernel_that_is_in_memory_would_run_nothing_more():
    assert resolve(load_kernel("gemm")).would_run is None


@pytest.mark.parametrize("name", ["k.amdgcn", "k.json"])
def test_what_is_compiled_already_is_no_kernel_to_compile(tmp_path, name):
    path = tmp_path / name
    path.write_text("{}" if name == "k.json" else "")
    words = {"k.amdgcn": "a file of compiled code", "k.json": "a report"}[name]
    with pytest.raises(TargetError) as refused:
        kernel_of(path)
    assert refused.value.message == f"is {words}, and not a kernel that can be compiled with other knobs"
    assert refused.value.hint == "Give a bundled kernel's name, a Python file with a KERNEL, or FILE.py::FUNCTION."


@pytest.mark.parametrize(("length", "is_one"), [(255, True), (256, False)])
def test_json_is_told_by_what_its_first_256_bytes_begin_with(tmp_path, length, is_one):
    path = tmp_path / "document"
    path.write_text(" " * length + "{}")
    assert is_report(path) is is_one


def test_objects_that_are_no_targets_are_named():
    with pytest.raises(TargetError) as refused:
        resolve(test_objects_that_are_no_targets_are_named)
    name = "test_objects_that_are_no_targets_are_named"
    assert refused.value.message == f"{name} is a function without @triton.jit, which cannot be analysed"
    with pytest.raises(TargetError, match="a list is a list, which cannot be analysed"):
        resolve([])
    with pytest.raises(TargetError, match="the target is empty"):
        resolve("")


def test_a_file_called_json_is_a_report_whatever_is_in_it(tmp_path):
    """Reading it says what is wrong with it; a folder of that name is none."""
    path = tmp_path / "report.json"
    path.write_text("no JSON at all")
    assert is_report(path)
    assert not is_report(tmp_path / "other.json")
    (tmp_path / "folder.json").mkdir()
    assert not is_report(tmp_path / "folder.json")
