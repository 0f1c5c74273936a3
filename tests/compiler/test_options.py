"""Options and variables are checked before Triton sees them."""

import os

import pytest

from kprof.compiler import environment
from kprof.compiler import versions as triton_versions
from kprof.compiler.in_process import check
from kprof.errors import KprofError

DEFAULTS = {"num_warps": 4, "num_stages": 2, "waves_per_eu": 0, "allow_flush_denorm": False, "schedule_hint": ""}


def test_values_in_the_types_that_triton_wants():
    """0 and 1 are booleans where a boolean is wanted."""
    assert check({"num_warps": 8, "allow_flush_denorm": 1, "schedule_hint": "x"}, DEFAULTS, (3, 9)) == {
        "num_warps": 8,
        "allow_flush_denorm": True,
        "schedule_hint": "x",
    }


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"num_warp": 4}, "Triton 3.9 has no option 'num_warp'"),
        ({"num_warps": "four"}, "num_warps is a whole number, got 'four'"),
        ({"num_warps": True}, "num_warps is a whole number"),
        ({"num_warps": 3}, "power of two, got 3"),
        ({"num_warps": 0}, "power of two, got 0"),
        ({"waves_per_eu": -1}, "cannot be negative"),
        ({"allow_flush_denorm": "yes"}, "true or false"),
        ({"schedule_hint": 3}, "is text"),
    ],
)
def test_wrong_options(options, message):
    """Named, with what was meant."""
    with pytest.raises(KprofError, match=message):
        check(options, DEFAULTS, (3, 9))


def test_near_matches_or_all_names():
    """A typing error gets a guess, something else the list."""
    with pytest.raises(KprofError) as caught:
        check({"num_warp": 4}, DEFAULTS, (3, 9))
    assert "'num_warps'" in caught.value.hint
    with pytest.raises(KprofError) as caught:
        check({"zzz": 4}, DEFAULTS, (3, 9))
    assert caught.value.hint == "its options are " + ", ".join(DEFAULTS)


@pytest.mark.triton
def test_options_are_those_of_the_installed_triton():
    """Every field of its option class but the two that the request itself decides."""
    known = triton_versions.option_defaults(triton_versions.api().hip_options)
    assert {"num_warps", "num_stages", "waves_per_eu", "matrix_instr_nonkdim", "kpack"} <= set(known)
    assert not {"arch", "backend_name"} & set(known)


@pytest.mark.triton
def test_unknown_variable():
    """A misspelt switch would silently do nothing."""
    with pytest.raises(KprofError) as caught:
        environment.check({"AMDGCN_USE_BUFFER_OP": "1"})
    assert caught.value.hint.startswith("did you mean 'AMDGCN_USE_BUFFER_OPS'")
    environment.check({"AMDGCN_USE_BUFFER_OPS": "1", "TRITON_HIP_USE_ASYNC_COPY": None, "LLVM_IR_ENABLE_DUMP": "1"})


def test_variables_are_set_for_a_while(monkeypatch):
    """Set, unset and put back, whatever happens inside."""
    monkeypatch.setenv("AMDGCN_USE_BUFFER_OPS", "0")
    monkeypatch.delenv("TRITON_HIP_USE_ASYNC_COPY", raising=False)
    seen = []

    def fail():
        with environment.applied({"AMDGCN_USE_BUFFER_OPS": None, "TRITON_HIP_USE_ASYNC_COPY": "1"}):
            seen.append(("AMDGCN_USE_BUFFER_OPS" in os.environ, os.environ["TRITON_HIP_USE_ASYNC_COPY"]))
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail()
    assert seen == [(False, "1")]
    assert os.environ["AMDGCN_USE_BUFFER_OPS"] == "0"
    assert "TRITON_HIP_USE_ASYNC_COPY" not in os.environ


def test_relevant_variables_are_part_of_the_key(monkeypatch):
    """The process's own and the request's, which wins; others do not matter."""
    for name in environment.SWITCHES:
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("AMDGCN_USE_BUFFER_OPS", "0")
    monkeypatch.setenv("SOMETHING_ELSE", "1")
    assert environment.relevant({}) == {"AMDGCN_USE_BUFFER_OPS": "0"}
    assert environment.relevant({"AMDGCN_USE_BUFFER_OPS": "1"}) == {"AMDGCN_USE_BUFFER_OPS": "1"}
    assert environment.relevant({"AMDGCN_USE_BUFFER_OPS": None}) == {}
