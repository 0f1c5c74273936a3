"""The two forms of the mLSTM, and their references, are the same function."""

import pytest

torch = pytest.importorskip("torch", reason="the references are torch")
pytest.importorskip("triton", reason="kernel files import triton")

from kprof.kernel_spec import Tensor  # noqa: E402
from kprof.targets.library import load  # noqa: E402

pytestmark = pytest.mark.triton


@pytest.mark.parametrize("gates", ["usual", "extreme"])
def test_recurrence_and_quadratic_form_agree(gates: str) -> None:
    """Two independent float64 references: step by step, and all pairs at once."""
    general, special = load("mlstm_chunkwise"), load("mlstm_chunkwise_d64")
    assert general.reference is not None
    assert special.reference is not None
    assert special.inputs is not None
    shape = {"B": 1, "S": 96, "H": 3, "DQK": 64, "DV": 64, "dtype": "fp32", "gates": gates}
    inputs = special.inputs(shape, "cpu", 5)

    left, right = general.reference(inputs, shape)["h"], special.reference(inputs, shape)["h"]

    torch.testing.assert_close(left, right, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize(
    ("head", "arch", "block"),
    [
        (24, "gfx942", 64),
        (64, "gfx942", 64),
        (128, "gfx942", 64),
        (24, "gfx1100", 32),
        (48, "gfx1201", 64),
        (64, "gfx1100", 64),
    ],
)
def test_blocks_follow_head_and_wavefront(head: int, arch: str, block: int) -> None:
    """At least a wavefront wide, at most 64, a power of two; 256 lanes in either wavefront size.

    On MI300X the keys' blocks have 32, for more workgroups.
    """
    kernel = load("mlstm_chunkwise")
    shape = {**kernel.problem(arch), "DQK": head, "DV": head}

    config = kernel.configure(arch, None, shape)

    assert (config["BLOCK_DK"], config["BLOCK_DV"]) == (32 if arch == "gfx942" else block, block)
    assert config["num_warps"] * (64 if arch.startswith("gfx9") else 32) == 256


def test_state_is_float32_and_one_for_each_chunk() -> None:
    """2048 steps in chunks of 256 are 8 states of 128 x 128 for each of 8 heads."""
    kernel = load("mlstm_chunkwise").part("states")
    shape = kernel.problem("gfx942", "b1_s2048_h128")

    memory = kernel.launch(shape, kernel.configure("gfx942", None, shape)).args["memory"]

    assert isinstance(memory, Tensor)
    assert (memory.dtype, memory.shape) == ("fp32", (8, 8, 128, 128))
