"""Evaluate kprof's answers about whether configurations can be launched and how much LDS they need."""

from collections.abc import Mapping, Sequence
from statistics import fmean
from typing import Any

from validation.benchmarks.model.compiling import Facts
from validation.benchmarks.model.problem import Problem


def figures(facts: Facts, problems: Sequence[Problem]) -> list[dict[str, Any]]:
    """Return the prediction for each problem's only configuration, and what happened.

    ``said`` is ``None`` if the compiler generated no code. kprof reports that, and the row counts as wrong if the
    configuration ran.
    """
    built = facts.build([one.candidates[0].points[0] for one in problems])
    found = []
    for problem, code in zip(problems, built, strict=True):
        tried = problem.candidates[0]
        launches = None if code.error else not code.problems
        found.append(
            {
                "launched": bool(tried.valid),
                "said": launches,
                "launch_right": bool(launches) == bool(tried.valid),
                "lds": tried.lds,
                "lds_told": code.lds,
                "lds_exact": None if tried.lds is None else code.lds == tried.lds,
                "error": code.error,
            }
        )
    return found


def summary(shown: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Return shares over all rows, over compiled rows, and for always giving the more common answer."""
    known = [one for one in shown if one["lds_exact"] is not None]
    made = [one for one in shown if one["said"] is not None]
    ran = fmean([one["launched"] for one in shown])
    return {
        "launch_right": fmean([one["launch_right"] for one in shown]),
        "always_the_same_right": max(ran, 1 - ran),
        "not_compiled": len(shown) - len(made),
        "of_these_errors_of_the_compiler": sum("compiler failed" in one["error"] for one in shown),
        "compiled_launch_right": fmean([one["launch_right"] for one in made]) if made else None,
        "with_lds": len(known),
        "lds_exact": fmean([one["lds_exact"] for one in known]) if known else None,
        "compiled_lds_exact": _exact([one for one in known if one["said"] is not None]),
    }


def _exact(known: Sequence[Mapping[str, Any]]) -> float | None:
    return fmean([one["lds_exact"] for one in known]) if known else None
