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
        (64, "gfx950", 64),
        (128, "gfx950", 128),
        (24, "gfx1100", 32),
        (48, "gfx1201", 64),
        (64, "gfx1100", 64),
    ],
)
def test_blocks_follow_head_and_wavefront(head: int, arch: str, block: int) -> None:
    """At least a wavefront wide, at most 64, a power of two; 256 lanes in either wavefront size.

    On MI355X heads of 128 are one tile, which its LDS holds.
    """
    kernel = load("mlstm_chunkwise")
    shape = {**kernel.problem(arch), "DQK": head, "DV": head}

    config = kernel.configure(arch, None, shape)

    assert (config["BLOCK_DK"], config["BLOCK_DV"]) == (block, block)
    assert config["num_warps"] * (64 if arch.startswith("gfx9") else 32) == 256


def test_state_is_float32_and_one_for_each_chunk() -> None:
    """2048 steps in chunks of 128 are 16 states for each of 8 heads: 128 x 128 and the normaliser below it."""
    kernel = load("mlstm_chunkwise").part("contributions")
    shape = kernel.problem("gfx942", "b1_s2048_h128")

    launch = kernel.launch(shape, kernel.configure("gfx942", None, shape))

    memory = launch.args["memory"]
    assert isinstance(memory, Tensor)
    assert (memory.dtype, memory.shape) == ("fp32", (8, 16, 129, 128))
    assert launch.grid == (2, 16, 8), "all chunks at once, two tiles of 64 keys and 128 values each"


@pytest.mark.parametrize("name", ["mlstm_chunkwise", "mlstm_chunkwise_d64"])
def test_scan_is_the_same_function_in_both_forms(name: str) -> None:
    """Files of kernels stand alone, so the function is written twice."""
    general, own = (load(one).part("scan").entry.src for one in ("mlstm_chunkwise", name))

    assert own == general


@pytest.mark.parametrize("name", ["mlstm_chunkwise", "mlstm_chunkwise_d64"])
def test_scan_covers_each_element_of_the_state_once(name: str) -> None:
    """65 rows of 64 are no multiple of its block."""
    kernel = load(name).part("scan")
    shape = kernel.problem("gfx942", "b1_s2048_h64")

    launch = kernel.launch(shape, kernel.configure("gfx942", None, shape))

    assert (launch.args["SIZE"], launch.args["BLOCK"], launch.grid) == (65 * 64, 128, (33, 8))
