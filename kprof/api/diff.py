"""``kprof.diff``: compare two compiles, or one kernel compiled by several Triton releases."""

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from msgspec import UNSET

from kprof.api.programs import program_command
from kprof.api.result import JudgedResult, ReportResult
from kprof.diffing.document import Diff, KernelDiff
from kprof.errors import CompileError, TargetError
from kprof.options.keywords import keywords
from kprof.options.searches import BisectOptions, DiffOptions
from kprof.output.command_line import with_option

if TYPE_CHECKING:
    import pandas as pd

    from kprof.diffing.comparing import Input
    from kprof.diffing.limits import DiffLimits

Tell = Callable[[str], None]
Side = str | os.PathLike[str] | ReportResult


@dataclass(frozen=True, eq=False, repr=False)
class Comparison(JudgedResult):
    """Result of a comparison of two or more sides, from old to new; each side is one compile of the kernels.

    Attributes:
        document: the JSON document that ``kprof diff --json`` writes (``kprof.diff/1``).
    """

    document: Diff
    kind: ClassVar[str] = "diff"

    @property
    def kernels(self) -> list[KernelDiff]:
        """Compared kernels, worst regression first; each has its figures on every side and its changes."""
        return self.document.kernels

    @property
    def worse(self) -> list[KernelDiff]:
        """Kernels with a regression beyond the tolerance."""
        return [kernel for kernel in self.document.kernels if kernel.status in {"worse", "mixed"}]

    @property
    def tests(self) -> list[str]:
        """With ``since``: pytest names, relative to the current folder, of tests whose kernels may have changed."""
        since = self.document.since
        return [] if since is UNSET else [os.path.relpath(test, since.folder or os.curdir) for test in since.tests]

    @property
    def unknown(self) -> list[str]:
        """With ``since``: changed files whose effect on kernels is unknown, so ``tests`` may be incomplete."""
        since = self.document.since
        if since is UNSET:
            return []
        return [
            *since.unread,
            *(f"{path}: no recorded launch has the name of this data file" for path in since.unclaimed),
        ]

    def to_frame(self) -> "pd.DataFrame":
        """Return one row per kernel, pair of adjacent sides and change.

        The columns are ``kernel``, ``arch``, ``old_side``, ``new_side``, ``metric``, ``old``, ``new``, ``effect``,
        ``severity`` and ``loop``.
        """
        from kprof.api.frames import changes_frame

        return changes_frame(self.document)

    def _repr_html_(self) -> str:
        from kprof.reporters._notebook import comparison

        return comparison(self.document)


@keywords
def diff(
    old: Side | None = None,
    new: Side | None = None,
    *,
    options: DiffOptions,
    program: Sequence[str] | None = None,
    targets: Sequence[str] = (),
    progress: Tell | None = None,
    waiting: Tell | None = None,
) -> Comparison:
    """Compare two compiles, or one kernel under several Triton releases, and explain regressions. No GPU is used.

    Args:
        old: a result of :func:`kprof.analyze`, or a target: a ``--json`` report, a capture or Triton cache directory,
            an ``.amdgcn``, ``.hsaco`` or ``.co`` file, a kernel.
        new: result or target to compare with ``old``; omitted with ``triton``, where ``old`` is a kernel or a capture.
        options: how kernels are compiled, which changes are explained, and tolerances.
        program: command to record under each release in ``triton``. If ``old`` is a Python file (``FILE.py`` or
            ``FILE.py::FUNCTION``), only the arguments of that file.
        targets: with ``since``, the Python files, folders and ``FILE.py::FUNCTION`` to compare; empty compares the
            whole work tree.
        progress: called with a description of each step.
        waiting: called with a description of each download or wait.

    Raises:
        TargetError: a side does not exist, its kind is unknown, or the options do not apply to the sides.
        InputError: a file cannot be read.
        CompileError: a kernel does not compile, or a Triton release cannot be installed.
    """
    limits = _limits(options)
    versions = _versions(options.triton)
    tell, wait = progress or _silent, waiting or _silent
    if options.since:
        if old is not None or program is not None or versions:
            raise TargetError(
                "--since compares the work tree with a revision: it cannot be combined with OLD and NEW, --triton or a "
                "program"
            )
        from kprof.api.diff_since import diff_since

        return Comparison(diff_since(targets, options, limits, tell))
    if targets:
        raise TargetError("several targets can only be compared with --since")
    if program is not None:
        if new is not None or isinstance(old, ReportResult):
            raise TargetError("a program is compared with itself: name one FILE.py, or none and the command after --")
        function = ""
        if old is not None:
            program, function = program_command(old, program)
        return Comparison(_programs(program, versions, options, limits, function=function, tell=tell, wait=wait))
    if options.package:
        raise TargetError("--package can only be used with a program after --")
    if old is None:
        raise TargetError("two targets are required, got 0", hint="kprof diff OLD NEW")
    if versions:
        if new is not None or isinstance(old, ReportResult):
            raise TargetError("several --triton compare one target with itself: name one target")
        seconds = 0.0 if options.explain is False else options.seconds
        return Comparison(_tritons(os.fspath(old), versions, options, limits, budget=seconds, tell=tell, wait=wait))
    if new is None:
        raise TargetError(
            "two targets are required, got 1",
            hint="kprof diff OLD NEW, or kprof diff KERNEL --triton 3.6.0 --triton 3.9.0",
        )
    seconds = options.seconds if options.explain else 0.0
    return Comparison(_two((old, new), options, limits, budget=seconds, tell=tell, wait=wait))


@keywords
def bisect(
    target: str | os.PathLike[str] | None = None,
    *,
    options: BisectOptions,
    program: Sequence[str] | None = None,
    progress: Tell | None = None,
    waiting: Tell | None = None,
) -> Comparison:
    """Find the Triton release in which a kernel got worse, explain why, and search for a fix. No GPU is used.

    Equivalent to :func:`kprof.diff` of the two releases and the minor releases between them, with an explanation of
    the step with the largest regression.

    Args:
        target: a kernel, or a capture.
        options: how kernels are compiled, the good and bad releases, and tolerances.
        program: command to record under each release. If ``target`` is a Python file, only the arguments of that file.
        progress: called with a description of each step.
        waiting: called with a description of each download or wait.

    Raises:
        TargetError: the target does not exist or cannot be compiled again.
        CompileError: a kernel does not compile, or a Triton release cannot be installed.
    """
    from kprof.compiler.installations import between

    if not options.good:
        raise TargetError(
            "--good is missing: the Triton release with which the kernel was good", hint=with_option("--good 3.6.0")
        )
    chosen = replace(options, triton=between(options.good, options.bad), explain=True)
    return diff(target, options=chosen, program=program, progress=progress, waiting=waiting)


def _silent(_text: str) -> None:
    """Ignore a progress message."""


def _limits(options: DiffOptions) -> "DiffLimits":
    from kprof.diffing.limits import DiffLimits, tolerances
    from kprof.findings import Severity

    worst = None if options.fail_on == "never" else Severity(options.fail_on or "warning")
    return DiffLimits(worst, tolerances(f"{metric}={value}" for metric, value in options.tolerance.items()))


def _programs(
    program: Sequence[str],
    versions: Sequence[str],
    options: DiffOptions,
    limits: "DiffLimits",
    *,
    function: str,
    tell: Tell,
    wait: Tell,
) -> Diff:
    import tempfile

    from kprof.diffing.comparing import diff as compared
    from kprof.diffing.programs import recorded_sides
    from kprof.targets.target import TargetKind
    from kprof.targets.usable_options import check, given
    from kprof.tuning.trials.tritons import Tritons

    if not versions or not program:
        raise TargetError(
            "comparing a program requires several --triton",
            hint="kprof diff --triton 3.6.0 --triton 3.9.0 -- python program.py, or ... program.py::fn -- ARGS",
        )
    check(TargetKind.CAPTURE, f"what {program[0]} launches", [name for name in given(options) if name != "value"])
    with tempfile.TemporaryDirectory(prefix="kprof-diff-") as folder:
        place = Path(folder)
        recorded = recorded_sides(
            program,
            versions,
            list(options.package),
            options,
            place,
            explained=bool(options.explain),
            function=function,
            tell=tell,
            wait=wait,
        )
        with Tritons(program[0], options, versions, tell, wait) as tritons:
            sides = tritons.recorded(recorded)
            budget = 0.0 if options.explain is False else options.seconds
            explained = tritons.explanations(sides, limits, budget) if budget else {}
    return compared(sides, limits, explained, [f"{' '.join(program)} was recorded with each Triton release"])


def _versions(named: Sequence[str]) -> list[str]:
    """Return the requested Tritons in order.

    Release numbers are normalised; paths of interpreters and wheels are unchanged.

    Raises:
        CompileError: only one Triton is named, or one is named twice.
    """
    from kprof.compiler.installations import normalise
    from kprof.compiler.locations import is_path

    versions = [name if is_path(name) else normalise(name) for name in named]
    if len(versions) == 1:
        raise CompileError(
            "one --triton is not enough for a comparison",
            hint=f"--triton installed --triton {named[0]} compares with the running one.",
        )
    twice = {version for version in versions if versions.count(version) > 1}
    if twice:
        raise CompileError(f"--triton names {', '.join(sorted(twice))} twice")
    return versions


def _tritons(
    target: str,
    versions: list[str],
    options: DiffOptions,
    limits: "DiffLimits",
    *,
    budget: float,
    tell: Tell,
    wait: Tell,
) -> Diff:
    from kprof.diffing.comparing import diff as compared
    from kprof.targets.recompile import is_recorded
    from kprof.targets.target import TargetKind
    from kprof.targets.usable_options import check, given
    from kprof.tuning.trials.tritons import Tritons

    place = Path(target.partition("::")[0])
    if is_recorded(target):
        check(TargetKind.CAPTURE, target, given(options))
    elif place.exists() and place.suffix != ".py":
        raise TargetError(
            "the target is already compiled: another Triton cannot compile it again",
            path=target,
            hint="--triton takes a bundled kernel, FILE.py::FUNCTION or a capture. Two caches are compared as: "
            "kprof diff A B",
        )
    with Tritons(target, options, versions, tell, wait) as tritons:
        sides = tritons.sides()
        explained = tritons.explanations(sides, limits, budget) if budget else {}
    recorded = [f"compiled from the TTIR that {target} holds"] if is_recorded(target) else []
    return compared(sides, limits, explained, recorded)


def _two(
    given: tuple[Side, Side], options: DiffOptions, limits: "DiffLimits", *, budget: float, tell: Tell, wait: Tell
) -> Diff:
    from kprof.diffing.comparing import diff as compared
    from kprof.targets.recompile import is_recorded
    from kprof.targets.usable_options import check_any

    targets = [os.fspath(one) for one in given if not isinstance(one, ReportResult)]
    if targets:
        check_any(targets, options)
    captures = len(targets) == len(given) and all(map(is_recorded, targets))
    if budget and not captures:
        raise TargetError("explanations recompile the kernel, which requires --triton or two captures")
    sides = _sides(given, options, tell)
    found = compared(sides, limits)
    if found.verdict.status != "regression":
        return found
    if not budget:
        return compared(sides, limits, notes=_upgrade(sides, targets if captures else ()))
    from kprof.tuning.trials.captures import explain_captures

    explained, notes = explain_captures(targets, sides, options, limits, budget=budget, tell=tell, wait=wait)
    return compared(sides, limits, explained, notes)


def _sides(given: tuple[Side, Side], options: DiffOptions, tell: Tell) -> "list[Input]":
    """Return both sides to compare. Sides that are results of :func:`kprof.analyze` are labelled "old" and "new"."""
    from kprof.diffing.sides import labels, of_report, side

    texts = [
        one_name if isinstance(one, ReportResult) else os.fspath(one)
        for one_name, one in zip(("old", "new"), given, strict=True)
    ]
    return [
        of_report(named, one.document, options) if isinstance(one, ReportResult) else side(named, options, tell)
        for named, one in zip(labels(*texts), given, strict=True)
    ]


def _upgrade(sides: "Sequence[Input]", targets: Sequence[str] = ()) -> list[str]:
    """Return a note with the command that explains a regression between compiles of two Triton releases.

    Return no note if the sides were compiled by the same release, or if one side contains several releases.

    Args:
        sides: the compared sides.
        targets: the two captures; empty if the sides are not captures.
    """
    versions = [sorted({k.triton for k in side.kernels if isinstance(k.triton, str)}) for side in sides]
    if versions[0] == versions[1] or not all(len(found) == 1 for found in versions):
        return []
    (old,), (new,) = versions
    how = f"{' '.join(targets)} --explain" if targets else f"KERNEL --triton {old} --triton {new}"
    return [f"different Tritons compiled the two sides; to explain the regression: kprof diff {how}"]
