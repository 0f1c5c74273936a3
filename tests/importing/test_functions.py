"""Finding Triton functions in users' files."""

import pytest

from kprof.errors import KprofError
from kprof.importing.functions import load_function, triton_functions, unwrap
from kprof.importing.loading import load_module
from tests.compiler.conftest import SAMPLES

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


def test_siblings_can_be_imported_and_leave_no_trace(write, tmp_path):
    """As when the file is run; the search path and the folder stay as they were."""
    write("kprof_test_sibling.py", "import triton\n\n@triton.jit\ndef helper(v):\n    return v\n")
    path = write(
        "user.py", "import triton\nfrom kprof_test_sibling import helper\n\n@triton.jit\ndef f(x):\n    helper(x)\n"
    )
    function = load_function(path, "f")
    assert sorted(p.name for p in tmp_path.iterdir()) == ["kprof_test_sibling.py", "user.py"]
    assert {p.rpartition("/")[2] for p in function.dependencies.files} == {"user.py", "kprof_test_sibling.py"}
    assert function.dependencies.complete


def test_function_under_another_name(write):
    """``fast = triton.jit(slow)`` is found as fast and as slow."""
    path = write("user.py", "import triton\n\ndef slow(x):\n    pass\n\nfast = triton.jit(slow)\ndel slow\n")
    assert load_function(path, "fast").jit is load_function(path, "slow").jit


def test_what_is_no_function_has_nothing_inside():
    """Unwrapping anything at all is safe."""
    assert unwrap(3) is None
    assert unwrap(lambda: None) is None
