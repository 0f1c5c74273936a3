"""The document of ``kprof tune --json``: schema ``kprof.tune/1``. Times are predicted unless marked as measured."""

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
"""Values of knobs or sizes by name."""


class CompiledResources(msgspec.Struct, frozen=True, omit_defaults=True):
    """Resources of a compiled configuration; unknown values are omitted.

    Attributes:
        vgpr_allocated: VGPRs per lane as the hardware allocates them, including accumulation registers.
        agpr: accumulation registers in ``vgpr_allocated``.
        sgpr: scalar registers.
        vgpr_spills: number of spilled registers.
        scratch_bytes: scratch memory per lane.
        lds_bytes: LDS per workgroup.
        num_warps: wavefronts per workgroup.
        waves_per_simd: wavefronts that fit on a SIMD.
        workgroups_per_cu: workgroups that fit on a CU.
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
    """The reason for the exit code: ``ok`` (0, or 130 after Ctrl-C) or ``cannot_tell`` (2), with a summary."""

    status: Literal["ok", "cannot_tell"]
    summary: str


class Ranked(msgspec.Struct, frozen=True, omit_defaults=True):
    """One program of a ranking.

    Attributes:
        config: every knob.
        time_us, low_us, high_us: predicted time of all launches together with its bounds, in microseconds; ``None`` if
            a loop bound is unknown.
        cycles_per_element: cycles per element of ``axis`` if a loop bound is unknown; the ranking is sorted by it.
        axis: the size that the unknown loop bound depends on.
        bound: the bottleneck.
        shares: share of the time by cause, largest first; empty if unknown.
        resources: registers, spills, LDS, wavefronts per SIMD.
        tie: True if the entry cannot be distinguished from the first entry.
        certainty: probability from 0 to 1 that the first entry is faster, from published times of pairs of
            configurations with the same predicted difference (docs/validation/model.md). ``None`` for the first
            entry, if both were measured, without a predicted time, on architectures without published times, and if
            the model had to guess, because then the bounds decide.
        given: True if ``time_us`` is a measured time from ``--measured``.
        parts: further launches with their times in microseconds, included in ``time_us``.
        alike: other configurations that compile to the same program.
        variants: for a short-list entry, the number of configurations of the same tile that are left out of the list
            because they cannot be distinguished from it.
        measured_ms: median time on a GPU.
        note: a remark from the measurement, such as a wrong result.
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
        """Predicted microseconds, or cycles per element if no time is known."""
        return (self.cycles_per_element or 0.0) if self.time_us is None else self.time_us


class TunedProblem(msgspec.Struct, frozen=True, omit_defaults=True):
    """The result for one problem.

    Attributes:
        name: the problem as the user wrote it.
        shape: every parameter.
        assumed: parameters that were not given.
        ties: number of leading entries that cannot be distinguished from each other; if there is more than one, they
            have to be measured on the GPU.
        own: the kernel's own configuration, as the baseline.
        ranking: entries, fastest first.
        short_list: positions in ``ranking`` of the fastest entry of each tile and of the measured entries.
        flops: operations of the problem; ``None`` if the kernel does not define them.
        bytes: minimum number of bytes to move; ``None`` if the kernel does not define it.
        assumptions: assumptions of the predictions.
        to_time: positions in ``ranking`` of the ten entries whose measured times would best correct the other
            predictions (``--measured``); empty for short rankings, and if times were given or measured.
        learned: the corrections that measured times caused, in words; empty without measured times.
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
    """The searched space.

    Attributes:
        origin: source of the space.
        size: number of combinations.
        legal: number of configurations to explore, over all problems.
        pruned: number of combinations left out before compiling, by reason, over all problems.
        notes: limits and exclusions that the search did not take into account.
    """

    origin: str
    size: int
    legal: int
    pruned: dict[str, int]
    notes: list[str]


class SearchFacts(msgspec.Struct, frozen=True):
    """Statistics of the search; see :class:`kprof.tuning.search.SearchResult`.

    Attributes:
        looked_at: the sum of ``compiled``, ``resumed``, ``derived``, ``shared`` and ``refused``.
        compiled: configurations compiled in this run; ``cached`` of them came from kprof's cache.
        resumed: configurations known from an earlier run.
        derived: configurations that got their result without a compile, because they differ from compiled
            configurations only in ``inert`` knobs, which did not change this kernel's time.
        shared: configurations that share all their compiles with others.
        refused: configurations that the kernel itself rejects.
        compiles: compiles in this run, including those of the kernel's own configuration and of further launches.
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
    """The tuning document. ``product`` and ``triton`` are ``None`` if unknown; ``condition`` applies to all times."""

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
    """Build the document of a finished or stopped search; ``top`` is the length of the short lists."""
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
    """Build the document's entry for one problem, with its short list."""
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
    """Return a problem's operations or bytes by the kernel file's function; ``None`` without one or if it fails."""
    try:
        return None if of is None else int(of(problem.values))
    except Exception:  # noqa: BLE001 - the user's code may raise anything, and the ranking works without the estimate
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
