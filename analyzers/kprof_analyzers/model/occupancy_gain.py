"""A prediction with what is worked out once a kernel: what more occupancy would gain, and the rooflines."""

from dataclasses import replace

import msgspec

from kprof.analysis import KernelFacts
from kprof.document import OccupancyWorth, Prediction
from kprof_analyzers.model.kernel import build, predict, predict_model
from kprof_analyzers.model.roofline import roofline
from kprof_analyzers.model.runs import KernelModel
from kprof_analyzers.model.trips import RETRY


def explained(facts: KernelFacts, model: KernelModel | None = None) -> Prediction:
    """The prediction of a launch; where the time is known with its roofline and the gain of one more workgroup a CU.

    Args:
        facts: the kernel.
        model: the same ready for simulations; made where it is not given.
    """
    model = build(facts) if model is None else model
    prediction = predict_model(model)
    if prediction.time_us is not None and (place := roofline(model, prediction.traffic)) is not None:
        prediction = msgspec.structs.replace(prediction, roofline=place)
    if prediction.time_us is None or facts.occupancy is None:
        return prediction
    allowed = max(1, int(facts.occupancy.workgroups_per_cu))
    worth = OccupancyWorth(allowed + 1, None)
    if model.machine.units is not None and model.where.total > model.machine.units * allowed:
        more = msgspec.structs.replace(facts.occupancy, workgroups_per_cu=allowed + 1)
        worth = OccupancyWorth(allowed + 1, predict(replace(facts, occupancy=more)).time_us)
    return msgspec.structs.replace(prediction, occupancy_worth=worth)


def without_guesses(prediction: Prediction) -> Prediction:
    """The same without its times where it is not known how often a loop iterates: cycles an iteration are left."""
    if trips_known(prediction):
        return prediction
    return msgspec.structs.replace(
        prediction,
        time_us=None,
        events_us=None,
        low_us=None,
        high_us=None,
        cycles=None,
        speed_of_light_us=None,
        speed_of_light_percent=None,
        occupancy_worth=msgspec.UNSET,
        roofline=msgspec.UNSET,
        traffic={},
    )


def trips_known(prediction: Prediction) -> bool:
    """Whether it is known how often every loop iterates, retries of a compare-and-swap apart."""
    return all(loop.trips_known or loop.trips_from == RETRY for loop in prediction.loops)
