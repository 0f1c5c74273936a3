"""Numbers of Triton's metadata that no launch can have are left out, and named."""

import json

import pytest

from kprof.inputs.triton_metadata import decoded, without_impossible

# What a launch can have: wavefronts of 32 or 64 lanes, 1,024 work-items of single lanes; 256 MiB are more than any LDS.
EDGES = {
    "shared": (0, 268_435_456),
    "num_warps": (1, 1_024),
    "num_stages": (0, 1_024),
    "num_ctas": (1, 1_024),
    "warp_size": (32, 64),
    "waves_per_eu": (0, 1_024),
    "kpack": (0, 1_024),
    "matrix_instr_nonkdim": (0, 1_024),
}


@pytest.mark.parametrize("name", EDGES)
def test_edges_are_taken_and_what_lies_beyond_is_not(name):
    """Each with a note that has the name, the value and the range."""
    low, high = EDGES[name]
    for value in (low, high):
        assert without_impossible({name: value, "other": "kept"}) == ({name: value, "other": "kept"}, [])
    for value in (low - 1, high + 1, "4", 4.0, True, None):
        note = f"the metadata's {name} is {str(value)!r}, not a number from {low:,} to {high:,}: left out"
        assert without_impossible({name: value, "other": "kept"}) == ({"other": "kept"}, [note])


def test_long_values_are_cut():
    """A note has one line on a page."""
    (note,) = without_impossible({"kpack": "x" * 100})[1]
    assert f"is {'x' * 40!r}, not" in note


def test_what_is_no_object():
    """Nothing is known, and that is said."""
    assert without_impossible([1]) == ({}, ["the metadata is not a JSON object: left out"])
    assert decoded(b"[1]", "k.json") == ({}, ["the metadata is not a JSON object: left out"])


def test_a_file():
    """Damage is one note, and the rest of the kernel is looked at."""
    assert decoded(json.dumps({"num_warps": 4, "kpack": -1}).encode(), "k.json") == (
        {"num_warps": 4},
        ["the metadata's kpack is '-1', not a number from 0 to 1,024: left out"],
    )
    note = "the metadata is not JSON: Input data was truncated: left out"
    assert decoded(b'{"num_warps": ', "k.json") == ({}, [note])
