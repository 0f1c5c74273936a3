"""The order in which an autotuner's configurations are compiled: those first that fill the GPU best."""

from collections.abc import Sequence
from math import ceil, inf, prod
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from kprof.recording.recorder import AutotunedConfig

_OVERHEAD = 1 / 256
"""Cost of starting a workgroup, as a share of a round of workgroups: it puts tiny tiles last."""


def rank(tried: "Sequence[AutotunedConfig]", compute_units: int) -> None:
    """Give each compile its place in the queue. Only the order follows from it; no time is ever derived.

    Args:
        tried: the configurations of one choice.
        compute_units: of the GPU.
    """

    def cost(one: "AutotunedConfig") -> float:
        if one.grid is None:
            return inf
        rounds = max(1, prod(one.grid)) / compute_units
        return ceil(rounds) / rounds + rounds * _OVERHEAD

    launched = [one for one in tried if one.kernel is not None]
    for place, one in enumerate(sorted(launched, key=cost)):
        assert one.kernel is not None
        one.kernel.ticket.rank = place
