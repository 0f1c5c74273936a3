"""A launch worked out again in the frame that makes it."""

import sys
from collections.abc import Callable
from typing import Any

import pytest

from kprof.recording.call_site import CallSite, CannotFollowError, LaunchArguments

NAMES = ["x", "out", "n", "BLOCK_M", "BLOCK_N"]


class Kernel:
    """Stands for a Triton kernel: takes note of the launch and of the frame."""

    def __init__(self) -> None:
        self.launch, self.site = LaunchArguments((), ()), CallSite.__new__(CallSite)

    def __getitem__(self, grid: Any) -> Callable[..., None]:
        def call(*args: Any, **kwargs: Any) -> None:
            self.launch, self.site = LaunchArguments(grid, args, kwargs), CallSite(sys._getframe(1), NAMES)

        return call

    def again(self, **change: int) -> LaunchArguments:
        """The launch with other values."""
        return self.site.again(self.launch, change)


def cdiv(a: int, b: int) -> int:
    return -(-a // b)


def plain(kernel: Kernel, n: int) -> None:
    block = 64
    tiles = cdiv(n, block)
    grid = (tiles, 1)
    kernel[grid](n, [0] * tiles, n, BLOCK_M=block, BLOCK_N=32)


def from_a_dictionary(kernel: Kernel, n: int) -> None:
    config = {"BLOCK_M": 64, "BLOCK_N": 32}
    kernel[(cdiv(n, config["BLOCK_M"]),)](n, n, n, **config)


def from_an_entry(kernel: Kernel, n: int) -> None:
    config = {"BLOCK_M": 64, "BLOCK_N": 32}
    kernel[lambda _meta: (cdiv(n, config["BLOCK_M"]),)](n, n, n, config["BLOCK_M"], BLOCK_N=config["BLOCK_N"])


def twice(kernel: Kernel, n: int) -> None:
    block = 64
    tiles = cdiv(n, block)
    tiles = max(tiles, 2)
    kernel[(tiles,)](n, n, n, BLOCK_M=block, BLOCK_N=32)


def test_variables_that_are_made_from_a_value_follow() -> None:
    """The grid, and what is passed; the rest is what it was."""
    kernel = Kernel()
    plain(kernel, 4096)
    found = kernel.again(BLOCK_M=128)
    assert (found.grid, len(found.args[1]), found.kwargs) == ((32, 1), 32, {"BLOCK_M": 128, "BLOCK_N": 32})
    assert found.follows == {"BLOCK_M"}
    assert found.args[0] == 4096
    other = kernel.again(BLOCK_N=64)
    assert (other.grid, other.args[1] is kernel.launch.args[1], other.follows) == ((64, 1), True, frozenset())


@pytest.mark.parametrize("program", [from_a_dictionary, from_an_entry])
def test_values_in_a_dictionary(program: Callable[[Kernel, int], None]) -> None:
    """Unpacked into the call, or taken from it one by one; in a function that makes the grid, too."""
    kernel = Kernel()
    program(kernel, 1000)
    found = kernel.again(BLOCK_M=100, BLOCK_N=16)
    grid = found.grid({}) if callable(found.grid) else found.grid
    assert grid == (10,)
    assert found.follows == {"BLOCK_M"}
    assert dict(zip(NAMES, found.args, strict=False)) | dict(found.kwargs) == {
        "x": 1000, "out": 1000, "n": 1000, "BLOCK_M": 100, "BLOCK_N": 16,
    }  # fmt: skip


def test_what_is_assigned_twice_is_not_guessed() -> None:
    """Which of the two counts is not known."""
    kernel = Kernel()
    twice(kernel, 4096)
    with pytest.raises(CannotFollowError, match="tiles depends on it and is assigned more than once"):
        kernel.again(BLOCK_M=128)
    assert kernel.again(BLOCK_N=64).grid == (64,)


def test_a_launch_without_source_keeps_its_grid() -> None:
    """Made by ``exec``: only the arguments change."""
    kernel = Kernel()
    exec("kernel[(7,)](1, 2, 3, BLOCK_M=64, BLOCK_N=32)", {"kernel": kernel})
    found = kernel.again(BLOCK_M=128)
    assert (found.grid, found.kwargs["BLOCK_M"], found.follows) == ((7,), 128, frozenset())
