"""What ``kprof tune --json`` writes: schema ``kprof.tune/1``. Times are predicted unless they say measured."""

from collections.abc import Callable, Sequence
from typing import Literal

import msgspec

from kprof.condition import WARM
from kprof.kernel_spec import Shape
from kprof.tuning.candidates import guessed, is_tie, tied
from kprof.tuning.evaluation import Evaluation
from kprof.tuning.problems import Problem
from kprof.tuning.search_result import SearchResult
from kprof.tuning.short_list import short_list, to_time, variants
from kprof.tuning.subject import TuningSubject

SCHEMA = "kprof.tune/1"


Config = dict[str, bool | int | float | str | None]
"""Names of knobs or sizes to their values."""


class CompiledResources(msgspec.Struct, frozen=True, omit_defaults=True):
    """What a configuration needs, as compiled; what is not known is left out.

    Attributes:
        vgpr_allocated: vector registers of a lane, accumulation registers included, as the hardware allocates them.
        agpr: accumulation registers among them.
        sgpr: scalar registers.
        vgpr_spills: registers that were spilled.
        scratch_bytes: scratch memory of a lane.
        lds_bytes: LDS of a workgroup.
        num_warps: wavefronts of a workgroup.
        waves_per_simd: wavefronts that a SIMD can hold.
        workgroups_per_cu: workgroups that a CU can hold.
    """

    vgpr_allocated: int | None = None
    agpr: int | None = None
    sgpr: int | None = None
    vgpr_spills: int | None = None
    scratch_bytes: int | None = None
    lds_bytes: int | None = None
    num_warps: int | None = None
    waves_per_simd: int | float | None = None
    workgroups_per_cu: int | float | None = None


class TuningVerdict(msgspec.Struct, frozen=True):
    """What the exit code says: ``ok`` (0, or 130 when stopped by Ctrl-C) or ``cannot_tell`` (2), in words."""

    status: Literal["ok", "cannot_tell"]
    summary: str


class Ranked(msgspec.Struct, frozen=True, omit_defaults=True):
    """One program of a ranking.

    Attributes:
        config: every knob.
        time_us, low_us, high_us: predicted time with its bounds, microseconds; of all launches together. ``None`` where
            a loop's bound is not known.
        cycles_per_element: there, cycles for each element of ``axis``: the order of the ranking.
        axis: what that bound depends on.
        bound: what limits it.
        shares: causes of its time to their parts of it, the largest first; empty where they are not known.
        resources: registers, spills, LDS, wavefronts per SIMD.
        tie: cannot be distinguished from the first one.
        certainty: that the first one is faster, 0 to 1, by published pairs predicted as far apart
            (docs/validation/model.md); ``None`` for the first one, where both were measured, without a predicted time,
            on architectures without published times, and
            where the model had to guess, so that ranges decide.
        given: ``time_us`` is the measured time that ``--measured`` gave.
        parts: further launches with their times in microseconds, inside ``time_us``.
        alike: other configurations that give the same program.
        variants: of one in the short list, the configurations of the same tile that are left out of the list because
            they cannot be distinguished from it.
        measured_ms: median time on a GPU.
        note: what the measurement said, such as a wrong result.
    """

    config: Config
    time_us: float | None
    low_us: float | None
    high_us: float | None
    bound: str
    resources: CompiledResources
    tie: bool = False
    certainty: float | None = None
    parts: dict[str, float] = {}
    alike: list[Config] = []
    variants: int = 0
    measured_ms: float | None = None
    note: str = ""
    cycles_per_element: float | None = None
    axis: str = ""
    given: bool = False
    shares: dict[str, float] = {}

    @property
    def cost(self) -> float:
        """Predicted microseconds, or cycles for an element where no time is known."""
        return (self.cycles_per_element or 0.0) if self.time_us is None else self.time_us


class TunedProblem(msgspec.Struct, frozen=True, omit_defaults=True):
    """The result for one problem.

    Attributes:
        name: as it was asked for.
        shape: every parameter.
        assumed: those that were not given.
        ties: how many of the first cannot be distinguished from each other: more than one of them have to be measured
            on the GPU.
        own: the kernel's own configuration, for comparison.
        ranking: fastest first.
        short_list: positions in ``ranking``: of each tile the fastest, and what was measured.
        flops: operations of the problem; ``None`` when the kernel does not say.
        bytes: that have to be moved at least; the same.
        assumptions: what the predictions assumed.
        to_time: positions in ``ranking`` of the ten whose times would correct the others best (``--measured``); empty
            for short rankings, and where times were given or measured.
        learned: what measured times said of the predictions, which are corrected by it; empty where none were given.
    """

    name: str
    shape: Config
    assumed: Config
    ties: int
    own: Ranked | None
    ranking: list[Ranked]
    short_list: list[int]
    assumptions: list[str]
    flops: int | None = None
    bytes: int | None = None
    learned: list[str] = []
    to_time: list[int] = []


class SpaceFacts(msgspec.Struct, frozen=True):
    """What was searched.

    Attributes:
        origin: where the space comes from.
        size: combinations of it.
        legal: configurations to look at, over all problems.
        pruned: combinations left out before compiling, by reason, over all problems.
        notes: what was not taken into account.
    """

    origin: str
    size: int
    legal: int
    pruned: dict[str, int]
    notes: list[str]


class SearchFacts(msgspec.Struct, frozen=True):
    """How the search went; see :class:`kprof.tuning.search.SearchResult`.

    Attributes:
        looked_at: the sum of ``compiled``, ``resumed``, ``derived``, ``shared`` and ``refused``.
        compiled: configurations that were compiled in this run; ``cached`` of them came from kprof's cache.
        resumed: configurations known from an earlier run.
        derived: configurations judged without a compile: they differ from compiled ones in ``inert`` knobs only, which
            left this kernel's time as it is.
        shared: configurations whose compiles are those of others.
        refused: configurations that the kernel itself refuses.
        compiles: compiles done in this run, those of the kernel's own configuration and of further launches included.
    """

    ended: Literal["complete", "budget", "interrupted"]
    looked_at: int
    tiles: int
    tiles_seen: int
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
    not_kept: str = ""
    derived: int = 0
    inert: list[str] = []
    shared: int = 0
    refused: int = 0
    compiles: int = 0


class TuneReport(msgspec.Struct, frozen=True):
    """The document. ``product`` and ``triton`` are ``None`` when not known; ``condition`` is that of the times."""

    kprof: str
    kernel: str
    arch: str
    product: str | None
    triton: str | None
    space: SpaceFacts
    search: SearchFacts
    problems: list[TunedProblem]
    verdict: TuningVerdict
    measured_on: str | None = None
    condition: str = WARM.name
    schema: Literal["kprof.tune/1"] = "kprof.tune/1"


def document(
    subject: TuningSubject, found: SearchResult, *, workers: str, journal: str, measured_on: str | None, top: int = 8
) -> TuneReport:
    """The document of a finished or stopped search; ``top`` is the length of the short lists."""
    from kprof.compiler.versions import installed
    from kprof.version import __version__

    problems = [
        msgspec.structs.replace(_problem(subject, problem, ranked, own, top), learned=learned)
        for problem, ranked, own, learned in zip(
            subject.problems, found.ranked, found.own, found.learned or [[]] * len(found.ranked), strict=True
        )
    ]
    without = [p.name for p in problems if not p.ranking]
    progress = found.progress
    done = progress.done - sum(found.failed.values())
    words = f"{done:,} of {progress.total:,} configurations predicted"
    status: Literal["ok", "cannot_tell"] = "cannot_tell" if without else "ok"
    return TuneReport(
        kprof=__version__,
        kernel=subject.kernel.name,
        arch=subject.arch.name,
        product=None if subject.product is None else subject.product.name,
        triton=installed().version,
        space=SpaceFacts(
            found.space.origin,
            found.space.size,
            progress.total,
            dict(found.pruned.most_common()),
            list(found.space.notes),
        ),
        search=SearchFacts(
            ended=found.ended,
            looked_at=progress.done,
            tiles=progress.tiles,
            tiles_seen=progress.tiles_seen,
            compiled=progress.compiled,
            cached=progress.cached,
            resumed=progress.resumed,
            duplicates=found.duplicates,
            failed=dict(found.failed.most_common()),
            example=found.example,
            seconds=round(progress.seconds, 2),
            compile_seconds=round(found.compile_seconds, 2),
            workers=workers,
            journal=journal,
            not_kept=found.not_kept,
            derived=progress.derived,
            inert=list(found.inert),
            shared=progress.shared,
            refused=progress.refused,
            compiles=progress.compiles,
        ),
        problems=problems,
        verdict=TuningVerdict(status, words + (f"; none for {', '.join(without)}" if without else "")),
        measured_on=measured_on,
        condition=subject.condition,
    )


def _problem(
    subject: TuningSubject, problem: Problem, ranked: Sequence[Evaluation], own: Evaluation | None, top: int
) -> TunedProblem:
    """One problem's part of the document, with its own short list."""
    said = dict.fromkeys(a for one in ranked[:20] for a in one.assumptions)
    short = short_list(ranked, top)
    arch = subject.arch.name
    entries = [_ranked(one, ranked[0], arch) for one in ranked]
    for place in short:
        entries[place] = msgspec.structs.replace(entries[place], variants=variants(ranked, place, short))
    return TunedProblem(
        name=problem.name,
        shape=dict(problem.values),
        assumed=dict(problem.assumed),
        ties=tied(ranked),
        own=None if own is None else _ranked(own, ranked[0] if ranked else own, arch),
        ranking=entries,
        short_list=short,
        to_time=to_time(ranked),
        assumptions=list(said),
        flops=_work(subject.kernel.flops, problem),
        bytes=_work(subject.kernel.bytes, problem),
    )


def _work(of: Callable[[Shape], int] | None, problem: Problem) -> int | None:
    """What the kernel's file says of a problem; ``None`` where it says nothing, or fails."""
    try:
        return None if of is None else int(of(problem.values))
    except Exception:  # noqa: BLE001 - the user's code may raise anything, and the ranking does without
        return None


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(value, 4)


def _ranked(one: Evaluation, best: Evaluation, arch: str) -> Ranked:
    return Ranked(
        config=dict(one.config),
        time_us=_rounded(one.time_us),
        low_us=_rounded(one.low_us),
        high_us=_rounded(one.high_us),
        cycles_per_element=_rounded(one.cycles_per_element),
        axis=one.axis,
        bound=one.bound,
        resources=msgspec.convert(dict(one.resources), CompiledResources),
        tie=one is not best and is_tie(best, one),
        certainty=_certainty(one, best, arch),
        parts={name: round(time, 4) for name, time in one.parts.items()},
        alike=[dict(config) for config in one.alike],
        measured_ms=one.measured_ms,
        note=one.note,
        given=one.given,
        shares={cause: round(share, 3) for cause, share in sorted(one.shares.items(), key=lambda item: -item[1])},
    )


def _certainty(one: Evaluation, best: Evaluation, arch: str) -> float | None:
    from kprof_analyzers.model.certainty import predicted_gain

    measured = one.measured_ms is not None and best.measured_ms is not None
    if one is best or measured or (one.given and best.given) or guessed(best):
        return None
    found = predicted_gain(best.time_us, one.time_us, arch)
    return None if found is None or found.certainty is None else round(found.certainty, 3)
