"""The order in which an autotuner's configurations are compiled: those first that fill the GPU best."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil, inf, prod
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from kprof.recording.stub import RecordedKernel

_OVERHEAD = 1 / 256
"""Cost of starting a workgroup, as a share of a round of workgroups: it puts tiny tiles last."""


@dataclass
class AutotunedConfig:
    """One configuration while an autotuner tries it.

    Attributes:
        kernel: what it launches.
        error: why it launches nothing.
        grid: workgroups in x, y, z.
        args: number of the arguments in the journal.
    """

    kernel: "RecordedKernel | None" = None
    error: str | None = None
    grid: list[int] | None = None
    args: int | None = None


def rank(tried: Sequence[AutotunedConfig], compute_units: int) -> None:
    """Give each compile its place in the queue. Only the order follows from it; no time is ever derived.

    Args:
        tried: the configurations of one choice.
        compute_units: of the GPU.
    """

    def cost(one: AutotunedConfig) -> float:
        if one.grid is None:
            return inf
        rounds = max(1, prod(one.grid)) / compute_units
        return ceil(rounds) / rounds + rounds * _OVERHEAD

    launched = [one for one in tried if one.kernel is not None]
    for place, one in enumerate(sorted(launched, key=cost)):
        assert one.kernel is not None
        one.kernel.ticket.rank = place
