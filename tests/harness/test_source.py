"""Finding Triton functions in users' files."""

import sys

import pytest

from kprof.errors import KprofError
from kprof.harness.source import load_function, load_module, triton_functions, unwrap
from tests.harness.conftest import SAMPLES

pytestmark = pytest.mark.triton


def test_function_with_its_arguments():
    """Names, constexprs and the line of the decorator."""
    function = load_function(SAMPLES, "add")
    assert function.arguments == ("x", "y", "out", "n", "BLOCK")
    assert function.constexprs == ("BLOCK",)
    assert SAMPLES.read_text().splitlines()[function.line - 1] == "@triton.jit"


def test_autotuner_and_heuristics_are_looked_through():
    """The function inside, the configurations outside."""
    function = load_function(SAMPLES, "tuned")
    assert function.jit.fn.__name__ == "tuned"
    assert [(c["BLOCK"], c["num_warps"]) for c in function.configs] == [(256, 2), (512, 8)]
    assert function.heuristics == ("EVEN",)


def test_functions_of_a_module_in_order():
    """Imported ones and plain ones are left out."""
    assert triton_functions(load_module(SAMPLES)) == (
        "add",
        "matmul",
        "odd",
        "pair",
        "tuned",
        "apply",
        "double",
    )


@pytest.mark.parametrize(
    ("name", "message", "hint"),
    [
        ("addd", "has no function 'addd'", "did you mean 'add'"),
        ("plain", "'plain' is a Python function without @triton.jit", "its Triton functions are add"),
        ("tl", "'tl' is a module, not a Triton function", "its Triton functions are"),
    ],
)
def test_wrong_name(name, message, hint):
    """One message, with what was probably meant."""
    with pytest.raises(KprofError) as caught:
        load_function(SAMPLES, name)
    assert message in caught.value.message
    assert caught.value.hint.startswith(hint)


@pytest.mark.parametrize(
    ("text", "message", "place"),
    [
        ("import triton\n\nraise ValueError('no\\nmore')\n", "raises ValueError when it is imported: no", "line 3"),
        ("def f(:\n", "is not valid Python", "line 1"),
        ("import nosuchmodule\n", "raises ModuleNotFoundError when it is imported", "line 1"),
        ("import sys\nsys.exit(3)\n", "calls sys.exit(3)", None),
        ("x = 1\n", "has no function 'f'", None),
        ("a = b'\\0'\nx = 1 // 0\n", "raises ZeroDivisionError", "line 2"),
    ],
)
def test_file_that_cannot_be_imported(write, text, message, place):
    """The line that raises is named; nothing of the module stays."""
    path = write("user.py", text)
    before = set(sys.modules)
    with pytest.raises(KprofError) as caught:
        load_function(path, "f")
    assert message in caught.value.message
    assert caught.value.place == place
    assert caught.value.path == str(path)
    left = {name for name in set(sys.modules) - before if name.startswith("_kprof_user_")}
    assert not left or "has no function" in message


def test_missing_file_and_directory(tmp_path):
    """A path that is no file is told as such."""
    with pytest.raises(KprofError, match="cannot be read"):
        load_function(tmp_path / "none.py", "f")
    with pytest.raises(KprofError, match="is a directory"):
        load_function(tmp_path, "f")


def test_siblings_can_be_imported_and_leave_no_trace(write, tmp_path):
    """As when the file is run; the search path and the folder stay as they were."""
    write("kprof_test_sibling.py", "import triton\n\n@triton.jit\ndef helper(v):\n    return v\n")
    path = write(
        "user.py", "import triton\nfrom kprof_test_sibling import helper\n\n@triton.jit\ndef f(x):\n    helper(x)\n"
    )
    before = list(sys.path)
    function = load_function(path, "f")
    assert sys.path == before
    assert sorted(p.name for p in tmp_path.iterdir()) == ["kprof_test_sibling.py", "user.py"]
    assert {p.rpartition("/")[2] for p in function.dependencies.files} == {"user.py", "kprof_test_sibling.py"}
    assert function.dependencies.complete


def test_changed_file_is_loaded_again(write):
    """The content, not the path, tells modules apart."""
    path = write("user.py", "import triton\n\n@triton.jit\ndef f(x):\n    pass\n")
    assert load_module(path) is load_module(path)
    assert load_function(path, "f").arguments == ("x",)
    path.write_text("import triton\n\n@triton.jit\ndef f(y):\n    pass\n")
    assert load_function(path, "f").arguments == ("y",)


def test_function_under_another_name(write):
    """``fast = triton.jit(slow)`` is found as fast and as slow."""
    path = write("user.py", "import triton\n\ndef slow(x):\n    pass\n\nfast = triton.jit(slow)\ndel slow\n")
    assert load_function(path, "fast").jit is load_function(path, "slow").jit


def test_what_is_no_function_has_nothing_inside():
    """Unwrapping anything at all is safe."""
    assert unwrap(3) is None
    assert unwrap(lambda: None) is None


def test_helpers_of_the_same_name_in_two_folders(tmp_path):
    """Each file gets the helper next to it, and a changed helper is read again."""
    for folder, size in (("a", 1), ("b", 2)):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "kprof_same.py").write_text(f"SIZE = {size}\n")
        (tmp_path / folder / "user.py").write_text("import kprof_same\nSIZE = kprof_same.SIZE\n")
    sizes = [load_module(tmp_path / folder / "user.py").SIZE for folder in "aba"]
    assert sizes == [1, 2, 1]
    assert "kprof_same" not in sys.modules
    (tmp_path / "a" / "kprof_same.py").write_text("SIZE = 3\n")
    assert load_module(tmp_path / "a" / "user.py").SIZE == 3
