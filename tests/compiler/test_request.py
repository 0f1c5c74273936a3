"""Requests survive the way through JSON and tell different compiles apart."""

import json
import math
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kprof.compiler.request import CompileOutcome, CompileRequest, DtypeRef, FunctionRef, decode, encode, from_json
from kprof.errors import KprofError

LEAVES = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(allow_nan=False),
    st.text(),
    st.builds(DtypeRef, st.sampled_from(["fp16", "i32"])),
    st.builds(FunctionRef, st.text(), st.text()),
)
VALUES = st.recursive(LEAVES, lambda inner: st.lists(inner, max_size=3).map(tuple), max_leaves=8)
REQUEST = CompileRequest("k.py", "k", "gfx942", {"x": "*fp16", "B": "constexpr"}, {"B": 64})


@given(VALUES)
def test_values_come_back_from_json(value):
    """Every compile-time value is the same after JSON."""
    assert decode(json.loads(json.dumps(encode(value)))) == value


def test_infinities_and_negative_zero_are_kept():
    """JSON itself has neither infinities nor a promise about the sign of zero."""
    assert decode(encode(-math.inf)) == -math.inf
    assert math.copysign(1, decode(encode(-0.0))) == -1


def test_what_cannot_be_carried_is_refused():
    """An object of an unknown kind is no compile-time value."""
    with pytest.raises(TypeError, match="object"):
        encode(object())


def test_request_comes_back_with_the_same_key():
    """Workers see the request that was made."""
    full = replace(REQUEST, attributes={"x": {"divisibility": 16}}, options={"num_warps": 8}, environment={"A": None})
    back = from_json(json.loads(json.dumps(full.to_json())))
    assert (back.key, back.attributes, hash(back)) == (full.key, full.attributes, hash(full))


@pytest.mark.parametrize(
    "change",
    [
        {"arch": "gfx950"},
        {"constexprs": {"B": 128}},
        {"constexprs": {"B": 64.0}},
        {"options": {"num_warps": 4}},
        {"environment": {"AMDGCN_USE_BUFFER_OPS": "0"}},
        {"attributes": {"x": {}}},
        {"signature": {"B": "constexpr", "x": "*fp16"}},
        {"passes": True},
    ],
)
def test_key_tells_requests_apart(change):
    """Whatever changes the compile changes the key, the order of arguments included."""
    assert replace(REQUEST, **change).key != REQUEST.key


def test_outcome_without_result_raises_its_reason():
    """The reason, file, place and hint of a failure reach the user."""
    outcome = CompileOutcome(
        REQUEST, status="failed", error="does not compile", path="k.py", place="line 3", hint="mend it"
    )
    with pytest.raises(KprofError) as caught:
        outcome.result()
    assert str(caught.value) == "k.py, line 3: does not compile\n  mend it"
    assert not outcome.ok
