"""The order in which an autotuner's configurations are compiled: those that fill the GPU best come first."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil, inf, prod
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from kprof.recording.stub import RecordedKernel

_OVERHEAD = 1 / 256
"""Cost of starting a workgroup, as a fraction of a round of workgroups. It ranks tiny tiles last."""


@dataclass
class AutotunedConfig:
    """One configuration during an autotuner's trial.

    Attributes:
        kernel: the launched kernel.
        error: reason if no kernel is launched.
        grid: workgroups in x, y, z.
        args: index of the arguments in the journal.
    """

    kernel: "RecordedKernel | None" = None
    error: str | None = None
    grid: list[int] | None = None
    args: int | None = None


def rank(tried: Sequence[AutotunedConfig], compute_units: int) -> None:
    """Set the rank of each compile in the queue, which determines only the order of the compiles.

    Args:
        tried: the configurations that an autotuner tries for one key.
        compute_units: number of the GPU's CUs.
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
