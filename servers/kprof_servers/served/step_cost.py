"""Adds up the times of single kernels to the time of a step of the model."""

from collections.abc import Sequence

from kprof_servers.served.document import NeededFile, RankedBatch, StepCost


def steps(needed: Sequence[NeededFile], batches: Sequence[int]) -> list[StepCost]:
    """Return the time of all kernels with predictions in a step, each multiplied by the number of its layers.

    Files without predictions for a batch size, and files of layers whose number is unknown, are not included.
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
    """Return the time of the faster configuration; a gain that the model cannot distinguish does not count."""
    runs = batch.time_us(batch.runs) if batch.runs is not None else 0.0
    return runs if batch.tie or batch.best is None else min(runs, batch.time_us(batch.best))
