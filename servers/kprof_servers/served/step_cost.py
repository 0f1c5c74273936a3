"""Add up the predicted times of the kernels to the time of a step of the model."""

from collections.abc import Sequence

from kprof_servers.served.document import NeededFile, RankedBatch, StepCost


def steps(needed: Sequence[NeededFile], batches: Sequence[int]) -> list[StepCost]:
    """Return the time of a step for each batch size: each kernel's predicted time multiplied by its number of layers.

    Tuned files without a prediction for the batch size, or with an unknown number of layers, are not included.
    """
    found = []
    for rows in batches:
        pairs = [
            (file.layers or 0, batch)
            for file in needed
            if not file.alternative
            for batch in file.ranked
            if batch.rows == rows
        ]
        known = [(layers, batch) for layers, batch in pairs if layers and batch.runs is not None]
        if known:
            runs = sum(layers * (batch.time_us(batch.runs) if batch.runs else 0.0) for layers, batch in known)
            best = sum(layers * _best_us(batch) for layers, batch in known)
            found.append(StepCost(rows, round(runs, 3), round(best, 3), len(known)))
    return found


def _best_us(batch: RankedBatch) -> float:
    """Return the time of the faster configuration; if the model cannot tell, that of the current configuration."""
    runs = batch.time_us(batch.runs) if batch.runs is not None else 0.0
    return runs if batch.tie or batch.best is None else min(runs, batch.time_us(batch.best))
