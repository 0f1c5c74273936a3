"""What ``kprof tune --json`` writes: schema ``kprof.tune/1``. Times are predicted unless they say measured."""

from typing import Any, Literal

import msgspec

from kprof.tuning.candidates import Scored, is_tie, tied
from kprof.tuning.search import Found
from kprof.tuning.subject import Subject

SCHEMA = "kprof.tune/1"


class Ranked(msgspec.Struct, frozen=True, omit_defaults=True):
    """One program of a ranking.

    Attributes:
        config: every knob.
        time_us, low_us, high_us: predicted time with its bounds, microseconds; of all launches together.
        bound: what limits it.
        resources: registers, spills, LDS, wavefronts per SIMD, as compiled.
        tie: cannot be told from the first one.
        parts: further launches with their times in microseconds, inside ``time_us``.
        alike: other configurations that give the same program.
        measured_ms: median time on a GPU.
        note: what the measurement said, such as a wrong result.
    """

    config: dict[str, Any]
    time_us: float
    low_us: float
    high_us: float
    bound: str
    resources: dict[str, Any]
    tie: bool = False
    parts: dict[str, float] = {}
    alike: list[dict[str, Any]] = []
    measured_ms: float | None = None
    note: str = ""


class TunedProblem(msgspec.Struct, frozen=True, omit_defaults=True):
    """The result for one problem.

    Attributes:
        name: as it was asked for.
        shape: every parameter.
        assumed: those that were not given.
        ties: how many of the first cannot be told from each other.
        own: the kernel's own configuration, for comparison.
        ranking: fastest first.
        assumptions: what the predictions assumed.
    """

    name: str
    shape: dict[str, Any]
    assumed: dict[str, Any]
    ties: int
    own: Ranked | None
    ranking: list[Ranked]
    assumptions: list[str]


class SpaceFacts(msgspec.Struct, frozen=True):
    """What was searched.

    Attributes:
        origin: where the space comes from.
        size: combinations of it.
        legal: configurations worth a compile, over all problems.
        pruned: combinations left out before compiling, by reason, over all problems.
        notes: what was not taken into account.
    """

    origin: str
    size: int
    legal: int
    pruned: dict[str, int]
    notes: list[str]


class SearchFacts(msgspec.Struct, frozen=True):
    """How the search went; see :class:`kprof.tuning.search.Found`."""

    ended: Literal["complete", "budget", "interrupted"]
    looked_at: int
    compiled: int
    cached: int
    resumed: int
    duplicates: int
    failed: dict[str, int]
    example: str
    seconds: float
    compile_seconds: float
    workers: str
    journal: str


class TuneReport(msgspec.Struct, frozen=True):
    """The document. ``product`` and ``triton`` are ``None`` when not known."""

    kprof: str
    kernel: str
    arch: str
    product: str | None
    triton: str | None
    space: SpaceFacts
    search: SearchFacts
    problems: list[TunedProblem]
    verdict: dict[str, str]
    measured_on: str | None = None
    schema: Literal["kprof.tune/1"] = "kprof.tune/1"


def document(subject: Subject, found: Found, *, workers: str, journal: str, measured_on: str | None) -> TuneReport:
    """The document of a finished or stopped search."""
    from kprof import __version__
    from kprof.harness.triton_versions import installed

    problems = []
    for problem, ranked, own in zip(subject.problems, found.ranked, found.own, strict=True):
        said = dict.fromkeys(a for one in ranked[:20] for a in one.assumptions)
        problems.append(
            TunedProblem(
                name=problem.name,
                shape=dict(problem.values),
                assumed=dict(problem.assumed),
                ties=tied(ranked),
                own=None if own is None else _ranked(own, ranked[0] if ranked else own),
                ranking=[_ranked(one, ranked[0]) for one in ranked],
                assumptions=list(said),
            )
        )
    without = [p.name for p in problems if not p.ranking]
    done = found.looked_at - sum(found.failed.values())
    words = f"{done:,} of {found.legal:,} configurations predicted"
    status = "cannot_tell" if without else "ok"
    return TuneReport(
        kprof=__version__,
        kernel=subject.kernel.name,
        arch=subject.arch.name,
        product=None if subject.product is None else subject.product.name,
        triton=installed().version,
        space=SpaceFacts(
            found.space.origin, found.space.size, found.legal, dict(found.pruned.most_common()), list(found.space.notes)
        ),
        search=SearchFacts(
            ended=found.ended,
            looked_at=found.looked_at,
            compiled=found.compiled,
            cached=found.cached,
            resumed=found.resumed,
            duplicates=found.duplicates,
            failed=dict(found.failed.most_common()),
            example=found.example,
            seconds=round(found.seconds, 2),
            compile_seconds=round(found.compile_seconds, 2),
            workers=workers,
            journal=journal,
        ),
        problems=problems,
        verdict={"status": status, "summary": words + (f"; none for {', '.join(without)}" if without else "")},
        measured_on=measured_on,
    )


def _ranked(one: Scored, best: Scored) -> Ranked:
    return Ranked(
        config=dict(one.config),
        time_us=round(one.time_us, 4),
        low_us=round(one.low_us, 4),
        high_us=round(one.high_us, 4),
        bound=one.bound,
        resources=dict(one.resources),
        tie=one is not best and is_tie(best, one),
        parts={name: round(time, 4) for name, time in one.parts.items()},
        alike=[dict(config) for config in one.alike],
        measured_ms=one.measured_ms,
        note=one.note,
    )
