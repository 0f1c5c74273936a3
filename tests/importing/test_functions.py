"""Finding Triton functions in users' files."""

from pathlib import Path

import pytest

from kprof.errors import KprofError
from kprof.importing.functions import forget_place, load_function, place_of, set_place, triton_functions, unwrap
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
        (
            "plain",
            "'plain' is a Python function without @triton.jit, not a Triton function",
            "its Triton functions are add",
        ),
        ("tl", "'tl' is a module, not a Triton function", "its Triton functions are"),
    ],
)
def test_wrong_name(name, message, hint):
    """One message, with what was probably meant."""
    with pytest.raises(KprofError) as caught:
        load_function(SAMPLES, name)
    assert caught.value.message == message
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


def test_a_file_without_triton_functions_says_so(write):
    path = write("user.py", "def plain(): pass\n")
    for name in ("plain", "other"):
        with pytest.raises(KprofError) as caught:
            load_function(path, name)
        assert caught.value.hint == "it has no Triton functions"


def test_a_function_inside_a_class_has_a_dotted_name(write):
    path = write("user.py", "import triton\n\nclass Ops:\n    @triton.jit\n    def scale(x):\n        pass\n")
    assert load_function(path, "Ops.scale").name == "Ops.scale"
    with pytest.raises(KprofError, match=r"has no function 'Ops\.other'"):
        load_function(path, "Ops.other")


def test_where_a_function_is_found_again(write):
    """In the file that defines it, under the name by which that file gives it; else as it was said, until forgotten."""
    path = write("user.py", "import triton\n\ndef slow(x):\n    pass\n\nfast = triton.jit(slow)\ndel slow\n")
    jit = load_function(path, "fast").jit
    assert place_of(jit) == (path, "fast")
    set_place(jit, Path("/elsewhere.py"), "moved")
    assert place_of(jit) == (Path("/elsewhere.py"), "moved")
    forget_place(jit)
    assert place_of(jit) == (path, "fast")
    forget_place(jit)


def test_a_function_that_was_made_elsewhere_is_found_where_it_is_held(write):
    """A factory's function has no name of its own in the factory's file."""
    write(
        "kprof_test_maker.py",
        "import triton\n\ndef make():\n    @triton.jit\n    def inner(x):\n        pass\n    return inner\n",
    )
    path = write("user.py", "from kprof_test_maker import make\n\nheld = make()\n")
    function = load_function(path, "held")
    assert place_of(function.jit) == (path, "held")
    assert function.line is None
