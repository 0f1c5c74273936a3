"""Which knobs a target has, and with which values."""

import pytest

from kprof.api.kernels import kernel
from kprof.api.live.knob_values import knob_values
from kprof.errors import TargetError

FUNCTION = """\
import triton
import triton.language as tl

@triton.autotune(configs=[triton.Config({"BLOCK": 512}, num_warps=8), triton.Config({"BLOCK": 128})], key=["n"])
@triton.jit
def tuned(x_ptr, n, BLOCK: tl.constexpr, MASKED: tl.constexpr = True):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(x_ptr + at, 0.0, mask=at < n if MASKED else None)
"""


@pytest.mark.triton
@pytest.mark.parametrize("arch", ["MI300X", "gfx950", "RX9070XT"])
def test_a_kernels_own_space(arch):
    """Each knob of the space and of the present configuration, with its present value among the values."""
    sheet, shown = knob_values("softmax", arch), kernel("softmax", arch)
    found = {knob.name: knob for knob in sheet.knobs}
    assert shown["space"]["knobs"].keys() <= found.keys()
    for name, knob in found.items():
        assert knob.value in knob.values, name
        assert set(shown["space"]["knobs"].get(name, ())) <= set(knob.values)
    (now,) = shown["defaults"].values()
    assert {name: found[name].value for name in now} == now
    assert sheet.cases == list(shown["cases"])


@pytest.mark.triton
def test_what_is_set_is_the_value():
    sheet = knob_values("softmax", "MI300X", config={"num_warps": 16})
    (knob,) = [knob for knob in sheet.knobs if knob.name == "num_warps"]
    assert knob.value == 16
    assert 16 in knob.values


@pytest.mark.triton
def test_a_function_has_what_its_autotuner_lists(tmp_path):
    """Its constexprs are set as such; the compiler's options beside them."""
    (tmp_path / "mine.py").write_text(FUNCTION)
    sheet = knob_values(f"{tmp_path / 'mine.py'}::tuned", "MI300X", constexpr={"BLOCK": 256})
    found = {knob.name: knob for knob in sheet.knobs}
    assert (found["BLOCK"].value, found["BLOCK"].option) == (256, "constexpr")
    assert {128, 256, 512} <= set(found["BLOCK"].values)
    assert (found["MASKED"].value, found["MASKED"].values) == (True, [True, False])
    assert found["num_warps"].option == "config"
    assert {4, 8} <= set(found["num_warps"].values)


def test_what_is_not_there_is_told():
    with pytest.raises(TargetError, match="no such file"):
        knob_values("nothing.amdgcn")
