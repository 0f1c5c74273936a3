"""What more occupancy would be worth: the same launch with one more workgroup on each CU."""

from dataclasses import replace

import msgspec

from kprof.analysis import KernelFacts
from kprof.document import OccupancyWorth, Prediction
from kprof_analyzers.model.kernel import build, predict, predict_model


def explained(facts: KernelFacts) -> Prediction:
    """The prediction of a launch, with the worth of one more workgroup on each CU where the time is known."""
    model = build(facts)
    prediction = predict_model(model)
    if prediction.time_us is None or facts.occupancy is None:
        return prediction
    allowed = max(1, int(facts.occupancy.workgroups_per_cu))
    worth = OccupancyWorth(allowed + 1, None)
    if model.machine.units is not None and model.where.total > model.machine.units * allowed:
        more = msgspec.structs.replace(facts.occupancy, workgroups_per_cu=allowed + 1)
        worth = OccupancyWorth(allowed + 1, predict(replace(facts, occupancy=more)).time_us)
    return msgspec.structs.replace(prediction, occupancy_worth=worth)
