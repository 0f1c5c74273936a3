"""Predict every configuration of the problems, and evaluate the predictions."""

import gc
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from kprof.condition import Condition
from validation.benchmarks.model import least, metrics, tiles, traced, validity
from validation.benchmarks.model.baselines import most_common, resource_us, roofline_us, share_of_common
from validation.benchmarks.model.compiling import COLD, Facts, Point, stopwatch
from validation.benchmarks.model.problem import Candidate, Family, Problem

if TYPE_CHECKING:
    from kprof.analysis import KernelFacts
    from kprof_analyzers.model import Effects


COMMON = (1, 3, 5)
"""Number of most common configurations that are compared with the model's first choices."""


WITHIN = 1.25
"""A predicted gain within this factor of the measured one counts as equal to it."""


@dataclass(frozen=True)
class Scored:
    """A configuration with its prediction.

    Attributes:
        candidate: the configuration.
        code: machine code, grid and arguments of each of its launches, which identify equal configurations.
        us, low, high: predicted time on the GPU and its range, microseconds.
        bound: predicted bottleneck of the longest launch.
        resource_us: time by the resource-bound model.
        light: minimum time for the same work, microseconds.
        sort: kind of range of the longest launch.
        added: microseconds that the timing method adds to a published time.
        shares: shares of the predicted time of all launches by cause.
        floor: minimum microseconds of its own code if the published time could be below it, else 0.
    """

    candidate: Candidate
    code: tuple[Any, ...]
    us: float
    low: float
    high: float
    bound: str
    resource_us: float
    light: float = 0.0
    sort: str = "usual"
    added: float = 0.0
    shares: Mapping[str, float] = field(default_factory=dict)
    floor: float = 0.0

    @property
    def timed(self) -> float:
        """Predicted time with the overhead of the timing method, as it would have been published, in microseconds."""
        return self.us + self.added

    @property
    def another_code(self) -> bool:
        """Whether the compiled code cannot have the published time."""
        return self.floor > (self.candidate.time_us or 0.0)


@dataclass
class Judged:
    """Results for a problem: figures by name for tables, and the configurations."""

    problem: Problem
    figures: dict[str, Any]
    scored: list[Scored]
    failed: int = 0


@dataclass
class Model:
    """The model with its compiled kernels; equal launches with equal effects and constants are predicted once.

    Attributes:
        facts: source of the compiled kernels.
        effects: effects that the model takes into account; ``None`` for all.
        constants: fitted constants by architecture that replace those of the hardware files.
    """

    facts: Facts
    effects: "Effects | None" = None
    constants: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    seconds: list[float] = field(default_factory=list)
    _known: dict[Any, Any] = field(default_factory=dict)

    def score(self, problem: Problem) -> tuple[list[Scored], int]:
        """Return predictions of a problem's configurations, and the number that did not compile."""
        points = [point for candidate in problem.candidates for point in candidate.points]
        found = iter(self.facts.prepare(points))
        scored, failed = [], 0
        for candidate in problem.candidates:
            facts = [next(found) for _ in candidate.points]
            known = [one for one in facts if one is not None]
            if len(known) < len(facts):
                failed += 1
                continue
            try:
                scored.append(self._one(problem, candidate, known))
            except Exception as error:  # noqa: BLE001  # one launch must not end the whole table
                failed += 1
                reason = f"{type(error).__name__}: {error}"
                self.facts.failures[f"{known[0].name}"] = f"{candidate.points[0].kernel}: not predicted: {reason}"
        return scored, failed

    def _one(self, problem: Problem, candidate: Candidate, facts: "Sequence[KernelFacts]") -> Scored:
        pairs = zip(facts, candidate.points, strict=True)
        predictions = [self.predict(one, point.condition) for one, point in pairs]
        longest = max(predictions, key=lambda p: p.time_us)
        if candidate.longest:
            predictions = [longest]
        return Scored(
            candidate,
            tuple(_code(one) for one in facts),
            sum(p.time_us for p in predictions),
            sum(p.low_us for p in predictions),
            sum(p.high_us for p in predictions),
            str(longest.bound),
            resource_us(problem, candidate),
            sum(p.speed_of_light_us or 0.0 for p in predictions),
            sort_of(longest, facts[0].arch.name),
            shares=_shares(predictions),
        )

    def predict(self, facts: "KernelFacts", condition: Condition = COLD) -> Any:
        """Return the model's prediction for one launch."""
        from kprof_analyzers.model import Effects, predict

        effects = self.effects or Effects()
        constants = self.constants.get(facts.arch.name)
        product = facts.product.name if facts.product is not None else ""
        contents = tuple(sorted(facts.contents.items()))
        key = (
            _code(facts),
            product,
            contents,
            effects,
            condition,
            tuple(sorted(constants.items())) if constants else None,
        )
        if key not in self._known:
            if constants:
                facts = replace(facts, arch=replace(facts.arch, model={**facts.arch.model, **constants}))
            facts = replace(facts, condition=condition)
            with stopwatch(self.seconds):
                self._known[key] = predict(facts, effects=effects)
        return self._known[key]


def _shares(predictions: Sequence[Any]) -> dict[str, float]:
    whole = sum(p.time_us for p in predictions) or 1.0
    causes = dict.fromkeys(cause for p in predictions for cause in p.shares)
    return {str(c): sum(p.shares.get(c, 0.0) * p.time_us for p in predictions) / whole for c in causes}


def sort_of(prediction: Any, arch: str) -> str:
    """Return the kind of a prediction's range."""
    from kprof_analyzers.model import ranges

    known = all(loop.trips_known for loop in prediction.loops)
    return ranges.sort_of(prediction.shares, trips_known=known, arch=arch)


def points_of(problems: Sequence[Problem]) -> list[Point]:
    """Return every launch of the problems."""
    return [point for problem in problems for candidate in problem.candidates for point in candidate.points]


def _code(facts: "KernelFacts") -> tuple[Any, ...]:
    return facts.name, facts.grid, tuple(sorted((name, value) for name, value in facts.arguments.items()))


NOT_TIMED = {"validity": validity.figures, "loop": traced.figures}
"""Questions that are not about times."""


def _floor(model: Model, family: Family, one: Scored) -> float:
    launches = model.facts.prepare(one.candidate.points) if family.name in least.FAMILIES else ()
    return least.floor_of(family.name, launches, one.us, one.candidate.time_us)


def judge(model: Model, family: Family, problems: Sequence[Problem]) -> list[Judged]:
    """Return the results for a family's problems."""
    if family.question in NOT_TIMED:
        found = NOT_TIMED[family.question](model.facts, problems)
        return [Judged(one, figures, []) for one, figures in zip(problems, found, strict=True)]
    # All compiles come first, so that workers stay alive and no compile waits for a prediction.
    model.facts.prepare(points_of(problems))
    # Freeze the hundreds of compiled kernels, so that the garbage collector's time is not counted for the model.
    gc.freeze()
    results = []
    for problem in problems:
        scored, failed = model.score(problem)
        scored = [replace(one, added=family.timing.usual, floor=_floor(model, family, one)) for one in scored]
        if not scored:
            results.append(Judged(problem, {}, [], failed))
            continue
        common = most_common(problems, problem)
        judges = {"order": order_figures, "winner": winner_figures, "pair": pair_figures}
        figures = judges.get(family.question, time_figures)(problem, scored, common)
        if family.question == "tile":
            figures |= tiles.figures(model.facts, problem)
        if family.question == "winner" and figures:
            won = next(one.candidate.config for one in scored if one.candidate.winner)
            figures |= {f"common_top{n}": share_of_common(problems, won, n) for n in COMMON}
        results.append(Judged(problem, figures, scored, failed))
    return results


def distinct(scored: Sequence[Scored]) -> list[Scored]:
    """Return one configuration for each machine code and launch, with the minimum of its measured times."""
    best: dict[Any, Scored] = {}
    for one in scored:
        held = best.get(one.code)
        if held is None or (one.candidate.time_us or 0) < (held.candidate.time_us or 0):
            best[one.code] = one
    return list(best.values())


def order_figures(problem: Problem, scored: Sequence[Scored], common: Mapping[str, Any] | None) -> dict[str, Any]:
    """Return figures of the order of timed configurations: all rows, machine codes once, without suspect times."""
    times = [one.candidate.time_us or 0.0 for one in scored]
    figures: dict[str, Any] = {"roofline_us": roofline_us(problem), "spread": max(times) / min(times)}
    clean = distinct([one for one in scored if not one.candidate.suspect])
    for view, rows in (("raw", list(scored)), ("distinct", distinct(scored)), ("clean", clean)):
        measured = [one.candidate.time_us or 0.0 for one in rows]
        exact = [one.timed for one in rows]
        predicted = metrics.tied(exact)
        simple = [one.resource_us for one in rows]
        oracle = {one.code: one.candidate.time_us or 0.0 for one in distinct(scored)}
        low, middle, high = metrics.ratio_spread(exact, measured)
        figures[view] = {
            "n": len(rows),
            "spearman": metrics.spearman(predicted, measured),
            "top1": metrics.top_efficiency(predicted, measured),
            "top3": metrics.top_efficiency(predicted, measured, 3),
            "top5": metrics.top_efficiency(predicted, measured, 5),
            "pairs": metrics.pair_accuracy(predicted, measured),
            "ratio": [low, middle, high],
            "random_top1": metrics.random_efficiency(measured),
            "random_top3": metrics.random_efficiency(measured, 3),
            "resource_spearman": metrics.spearman(simple, measured),
            "resource_top1": metrics.top_efficiency(simple, measured),
            "resource_top3": metrics.top_efficiency(simple, measured, 3),
            "resource_pairs": metrics.pair_accuracy(simple, measured),
            "oracle_spearman": metrics.spearman([oracle[one.code] for one in rows], measured),
            "common_top1": _common(rows, common),
        }
    return figures


def _common(rows: Sequence[Scored], common: Mapping[str, Any] | None) -> float | None:
    """Return the efficiency of the configuration that wins most of the other problems, if this problem has its time."""
    if common is None:
        return None
    times = [one.candidate.time_us for one in rows if dict(one.candidate.config) == dict(common)]
    known = [time for time in times if time]
    return min(one.candidate.time_us or 0.0 for one in rows) / min(known) if known else None


def winner_figures(problem: Problem, scored: Sequence[Scored], common: Mapping[str, Any] | None) -> dict[str, Any]:
    """Return the position of the published winner in its space."""
    winner = next((one for one in scored if one.candidate.winner), None)
    if winner is None:
        return {}
    others = [one for one in scored if one is not winner and one.code != winner.code]
    predicted = [one.us for one in others]
    best = min([winner.us, *predicted])
    resources = [one.resource_us for one in others]
    shares = {
        "percentile": metrics.percentile(winner.us, predicted),
        "resource_percentile": metrics.percentile(winner.resource_us, resources),
    }
    before = sum(time < winner.us for time in predicted)
    tied = [one for one in scored if common is not None and _like(one.candidate.config, common)]
    return {
        "n": len(others) + 1,
        **shares,
        "before": before,
        "within": winner.us / best,
        "near_tie": sum(time < winner.us * (1 - metrics.NEAR) for time in predicted) / max(1, len(predicted)),
        "top1": before < 1,
        "top3": before < 3,
        "top5": before < 5,
        "top20": before < 20,
        **{f"resource_top{n}": metrics.chance(winner.resource_us, resources, n) for n in COMMON},
        "common_percentile": metrics.percentile(tied[0].us, [one.us for one in scored]) if tied else None,
        "roofline_us": roofline_us(problem),
        "predicted_us": winner.us,
    }


def _like(config: Mapping[str, Any], other: Mapping[str, Any]) -> bool:
    """Return whether two configurations agree in every knob that both name, regardless of the names' spelling."""

    def plain(knobs: Mapping[str, Any]) -> dict[str, Any]:
        return {name.replace("BLOCK_SIZE_", "BLOCK_").replace("GROUP_SIZE_", "GROUP_"): v for name, v in knobs.items()}

    one, two = plain(config), plain(other)
    return all(one[name] == two[name] for name in one.keys() & two.keys())


def pair_figures(problem: Problem, scored: Sequence[Scored], _: Mapping[str, Any] | None) -> dict[str, Any]:
    """Return the gain of the second configuration over the first (time before / after); empty if one has no code."""
    if len(scored) != 2:
        return {}
    before, after = scored
    measured = (before.candidate.time_us or 0.0) / (after.candidate.time_us or 1.0)
    predicted = before.timed / after.timed
    return {
        "measured_gain": measured,
        "predicted_gain": predicted,
        "resource_gain": before.resource_us / after.resource_us,
        "sign": sign_right(predicted, measured),
        "resource_sign": sign_right(before.resource_us / after.resource_us, measured),
        "within": max(predicted / measured, measured / predicted) <= WITHIN,
        "in_range": [one.low <= (one.candidate.time_us or 0.0) - one.added <= one.high for one in scored],
        "ratio": [one.timed / (one.candidate.time_us or 1.0) for one in scored],
        "same_code": before.code == after.code,
        "roofline_us": roofline_us(problem),
    }


def sign_right(predicted: float, measured: float) -> float | None:
    """Return 1 if the predicted and measured gain have the same sign, 0 if not, and 0.5 if no change is predicted.

    ``None`` if repeated measurements differ by as much as the gain.
    """
    if abs(measured - 1) <= metrics.NEAR:
        return None
    if abs(predicted - 1) <= metrics.TIE:
        return 0.5
    return float((predicted > 1) == (measured > 1))


def time_figures(problem: Problem, scored: Sequence[Scored], _: Mapping[str, Any] | None) -> dict[str, Any]:
    """Return the absolute time of a single configuration."""
    one = scored[0]
    measured = one.candidate.time_us or 0.0
    roofline = roofline_us(problem)
    return {
        "measured_us": measured,
        "predicted_us": one.timed,
        "low_us": one.low + one.added,
        "high_us": one.high + one.added,
        "bound": one.bound,
        "ratio": one.timed / measured,
        "roofline_us": roofline,
        "under_roofline": one.us < roofline,
        "measured_under_roofline": measured < roofline,
        "resource_us": one.resource_us,
    }
