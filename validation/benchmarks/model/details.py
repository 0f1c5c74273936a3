"""Collect every prediction of a run, to examine single failures."""

from collections.abc import Mapping, Sequence
from typing import Any

from validation.benchmarks.model.evaluate import Judged


def details(results: Mapping[str, Sequence[Judged]]) -> dict[str, Any]:
    """Map a family to its problems, each with its figures and configurations."""
    return {
        name: [
            {
                "problem": judged.problem.name,
                "figures": judged.figures,
                "configs": [
                    {
                        "config": dict(one.candidate.config),
                        "measured_us": one.candidate.time_us,
                        "predicted_us": one.timed,
                        "low_us": one.low + one.added,
                        "high_us": one.high + one.added,
                        "bound": one.bound,
                        "resource_us": one.resource_us,
                        "suspect": one.candidate.suspect,
                        "winner": one.candidate.winner,
                        "code": str(hash(one.code)),
                    }
                    for one in judged.scored
                ],
            }
            for judged in judged_list
        ]
        for name, judged_list in results.items()
    }
