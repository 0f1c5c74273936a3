"""The JSON document of the trials of one search: schema ``kprof.advice/1``."""

from dataclasses import asdict
from typing import Any

import msgspec

from kprof.tuning.evaluation import Evaluation
from kprof.tuning.trials.search import advised
from kprof.tuning.trials.trial import Trials


def document(trials: Trials) -> dict[str, Any]:
    """Convert the trials of one search to JSON values."""

    def certainty(trial: Evaluation) -> float | None:
        found = trials.beside_start(trial)
        return found.certainty if found is not None else None

    def entry(trial: Evaluation) -> dict[str, Any]:
        return {
            "change": dict(trial.change),
            "config": dict(trial.config),
            "measure": asdict(trial.measure) if trial.measure is not None else None,
            "error": trial.error,
            "time_us": trial.time_us,
            "low_us": trial.low_us,
            "high_us": trial.high_us,
            "cycles_per_element": trial.cycles_per_element,
            "axis": trial.axis,
            "parts": dict(trial.parts),
            "assumptions": list(trial.assumptions),
        }

    start = trials.start.report
    assert start is not None
    return {
        "schema": "kprof.advice/1",
        "kernel": start.name,
        "arch": start.arch,
        "triton": start.triton,
        "start": entry(trials.start),
        "best": [entry(trial) | {"certainty": certainty(trial)} for trial in trials.best],
        "dominated": [entry(trial) for trial in trials.dominated],
        "findings": msgspec.to_builtins(advised(trials)),
        "failed": dict(trials.failed),
        "ranked_by": trials.ranked_by,
        "why": trials.why,
        "gain": trials.gain,
        "certainty": certainty(trials.best[0]) if trials.best else None,
        "told_apart": trials.told_apart,
        "to_measure": [dict(trial.change) for trial in trials.to_measure],
        "all": [
            {
                "change": dict(t.change),
                "time_us": t.time_us,
                "low_us": t.low_us,
                "high_us": t.high_us,
                "cycles_per_element": t.cycles_per_element,
            }
            for t in trials.all
        ],
        "tried": trials.tried,
        "left": trials.left,
        "settled": trials.settled,
        "seconds": round(trials.seconds, 1),
    }
