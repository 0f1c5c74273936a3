"""Which arguments of a kernel are tiles, by its source."""

import ast
import inspect
import textwrap
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest

from kprof.recording.tile_arguments import Tiles, tiles_of

tl: Any = SimpleNamespace()


def matmul(a, b, K, BLOCK_M, BLOCK_N, BLOCK_K, GROUP_M, EVEN_K, HEAD):
    pid = tl.program_id(0)
    width = GROUP_M * tl.cdiv(4096, BLOCK_N)
    first = pid // width * GROUP_M
    rows = (first + pid % GROUP_M) * BLOCK_M + tl.arange(0, BLOCK_M)
    columns = pid % width // GROUP_M * BLOCK_N + tl.arange(0, BLOCK_N)
    for _k in range(tl.cdiv(K, BLOCK_K)):
        tl.load(a + rows + columns + tl.arange(0, HEAD))


def rows_in_one_pass(x, n, BLOCK):
    row = tl.program_id(0)
    at = tl.arange(0, BLOCK)
    tl.store(x + row * n + at, tl.load(x + row * n + at, mask=at < n))


def persistent(x, tiles, BLOCK_M, NUM_SMS):
    for tile in range(tl.program_id(0), tiles, NUM_SMS):
        tl.store(x + tile * BLOCK_M + tl.arange(0, BLOCK_M), 0)


def split(x, K, BLOCK_K, SPLIT_K):
    start = tl.program_id(1) * BLOCK_K
    for k in range(start, K, BLOCK_K * SPLIT_K):
        tl.load(x + k)


def by_a_helper(x, M, BLOCK_M):
    at = offsets(tl.program_id(0), M, BLOCK_M)
    pid = tl.program_id(0)
    tl.load(x + offsets(pid, M, BLOCK_M) + at)


def until(x, n, CHUNK, DIM):
    done = 0
    while done < n // CHUNK:
        tl.load(x + done + tl.arange(0, DIM))
        done += 1


def offsets(pid, M, BLOCK_M):
    return pid * BLOCK_M % M


def jit(function: Callable[..., Any]) -> Any:
    """What the reader wants of a ``@triton.jit`` function."""
    tree = ast.parse(textwrap.dedent(inspect.getsource(function)))
    names = inspect.signature(function).parameters
    params = [SimpleNamespace(name=name, is_constexpr=name.isupper() and len(name) > 1) for name in names]
    return SimpleNamespace(parse=lambda: tree, params=params)


@pytest.mark.parametrize(
    ("function", "dealt", "stepped", "orders"),
    [
        (matmul, {"BLOCK_M", "BLOCK_N"}, {"BLOCK_K"}, {"GROUP_M"}),
        (rows_in_one_pass, set(), set(), set()),
        (persistent, set(), set(), set()),
        (split, {"BLOCK_K"}, {"BLOCK_K", "SPLIT_K"}, set()),
        (by_a_helper, {"BLOCK_M"}, set(), set()),
        (until, set(), {"CHUNK"}, set()),
    ],
)
def test_tiles(function: Callable[..., Any], dealt: set[str], stepped: set[str], orders: set[str]) -> None:
    """Shares of the work, steps of loops, the order of workgroups; a row's block, a head's size and flags are not."""
    assert tiles_of(jit(function)) == Tiles(frozenset(dealt), frozenset(stepped), frozenset(orders))


def test_without_source_there_are_none() -> None:
    """As of a function that was made by ``exec``."""
    assert tiles_of(SimpleNamespace()) == Tiles()
