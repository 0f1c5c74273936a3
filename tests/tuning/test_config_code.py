"""A configuration as code."""

import ast
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from kprof.tuning.config_code import config_code, switches_and_code

VALUES = st.one_of(st.integers(0, 1 << 20), st.booleans(), st.text(max_size=5), st.none())
KNOBS = st.dictionaries(
    st.sampled_from(["BLOCK_M", "kpack", "waves_per_eu", "num_warps", "num_stages", "num_ctas", "maxnreg"]), VALUES
)


def evaluated(code: str) -> tuple[dict[str, Any], dict[str, Any]]:
    """The kernel's arguments and those of ``triton.Config`` itself."""
    call = ast.parse(code, mode="eval").body
    assert isinstance(call, ast.Call)
    assert ast.unparse(call.func) == "triton.Config"
    (own,) = call.args
    return ast.literal_eval(own), {str(each.arg): ast.literal_eval(each.value) for each in call.keywords}


@given(KNOBS)
def test_every_knob_stands_once_where_triton_takes_it(config):
    """Python's own parser reads it back."""
    own, launch = evaluated(config_code(config))
    assert {**own, **launch} == config
    assert set(launch) == set(config) & {"num_warps", "num_stages", "num_ctas", "maxnreg"}


def test_switches_of_the_environment_come_first_and_options_of_the_launch_are_no_arguments():
    """Also where the kernel says nothing of its wavefronts."""
    switch, code = switches_and_code({"BLOCK": 64, "num_ctas": 2, "AMDGCN_USE_BUFFER_OPS": "0"}).splitlines()
    assert switch == "export AMDGCN_USE_BUFFER_OPS=0"
    assert evaluated(code) == ({"BLOCK": 64}, {"num_ctas": 2})
