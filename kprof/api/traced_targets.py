"""Find launches of the targets' kernels in traces, predict their times, and search for better knobs."""

import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from kprof.errors import InputError, KprofError, TargetError, near
from kprof.options.kernels import AnalyzeOptions
from kprof.options.measurements import OperatorOptions
from kprof.options.searches import TuneOptions
from kprof.targets.target import TargetKind, TargetLike, resolve

if TYPE_CHECKING:
    from kprof.tuning.document import Ranked, TuneReport
    from kprof.tuning.search_result import Progress
    from kprof_analyzers.profiles.measured.launches import CompiledTarget, TargetLaunch
    from kprof_analyzers.profiles.timeline.launch_shapes import LaunchShapes

_SOURCES = frozenset({TargetKind.SOURCE, TargetKind.KERNEL, TargetKind.FUNCTION})


_COMPILING = ("config", "shape", "case", "signature", "constexpr", "grid", "value", "condition")
_OF_TARGETS = (*_COMPILING, "tune", "space", "budget")
_OF_A_SEARCH = ("space", "budget")


@dataclass(frozen=True)
class TracedTargets:
    """The kernels whose launches are searched in traces, and how they are compiled and tuned.

    Attributes:
        targets: targets, as for :func:`kprof.analyze`.
        options: options of the command.
    """

    targets: Sequence[TargetLike]
    options: OperatorOptions

    def check(self) -> None:
        """Check that options for targets are set only with a target, and options for searches only with a search.

        Raises:
            TargetError: an option has no effect.
        """
        given = self.options.given()
        used = [name for name in _OF_TARGETS if name in given]
        if used and not self.targets:
            words = ", ".join(sorted(used))
            raise TargetError(f"{words} can only be used with a target", hint="--target FILE.py::NAME")
        idle = [name for name in _OF_A_SEARCH if name in given]
        if idle and not self.options.tune:
            raise TargetError(f"{', '.join(sorted(idle))} can only be used with --tune", hint="Add --tune.")

    def launches(
        self, traces: "Sequence[LaunchShapes]", arch: str | None, progress: "Callable[[Progress], None] | None"
    ) -> "list[TargetLaunch]":
        """Return the launches of the targets' kernels, sorted by time lost; launches without a prediction are last.

        Args:
            traces: launches in the traces.
            arch: the product, if the traces do not name it.
            progress: called with the state of each search.

        Raises:
            InputError: the traces do not name exactly one GPU, or contain no kernel of a target.
            KprofError: a target cannot be compiled or searched.
        """
        from kprof_analyzers.profiles.measured.launches import join_launches

        gpu = _gpu(traces, arch)
        compiled = [one for target in self.targets for one in self._compiled(target, gpu)]
        found = join_launches(traces, compiled, gpu)
        for target in self.targets:
            _check_launched(resolve(target).text, traces, compiled, [one.target for one, _ in found])
        if not self.options.tune:
            return [one for one, _ in found]
        searches: dict[int, TuneReport | str] = {}
        return [self._tuned(one, of, gpu, searches, progress) for one, of in found]

    def _compiled(self, target: TargetLike, gpu: str) -> "Iterator[CompiledTarget]":
        from kprof.api.analyze import analyze
        from kprof_analyzers.profiles.measured.join import subject_of
        from kprof_analyzers.profiles.measured.launches import CompiledTarget

        found = resolve(target)
        given = self._compiling()
        for each, tuned_as in _kernels(target):
            arch = "" if found.kind is TargetKind.CAPTURE else gpu
            analysis = analyze(each, options=AnalyzeOptions(**given, arch=arch))
            for report, program in zip(analysis.kernels, analysis.programs, strict=True):
                if program is None:
                    raise TargetError("a saved report has no kernel to compare with a trace", path=found.text)
                identity = subject_of(program.loaded, report, program.loaded.arch)
                yield CompiledTarget(found.text, tuned_as, report, identity)

    def _tuned(
        self,
        one: "TargetLaunch",
        of: "CompiledTarget",
        gpu: str,
        searches: "dict[int, TuneReport | str]",
        progress: "Callable[[Progress], None] | None",
    ) -> "TargetLaunch":
        import msgspec

        if one.modelled_us is None:
            return one
        if of.tuned_as is None:
            why = "its source or a capture is needed to compile it with other knobs"
            return msgspec.structs.replace(one, not_tuned=why)
        # Use id() as the key, because a kernel object need not be hashable.
        searched = id(of.tuned_as)
        if searched not in searches:
            searches[searched] = self._search(of.tuned_as, gpu, progress)
        report = searches[searched]
        if isinstance(report, str):
            return msgspec.structs.replace(one, not_tuned=report)
        return best_of(one, report, as_is=not self.options.config)

    def _search(
        self, target: TargetLike, gpu: str, progress: "Callable[[Progress], None] | None"
    ) -> "TuneReport | str":
        """Search for better knobs of a target and return the result.

        If the search fails for a kernel of a capture, return the error's text.
        """
        from kprof.api.tune import tune

        search: dict[str, Any] = {"space": self.options.space, "budget": self.options.budget}
        if resolve(target).kind is TargetKind.CAPTURE:
            try:
                asked = TuneOptions(value=self.options.value, condition=self.options.condition, **search)
                return tune(target, options=asked, progress=progress).document
            except KprofError as error:
                return error.message
        compiling = {name: value for name, value in self._compiling().items() if name != "config"}
        asked = TuneOptions(**compiling, arch=gpu, **search)
        return tune(target, options=asked, progress=progress).document

    def _compiling(self) -> dict[str, Any]:
        """Return the options that define how a target is compiled, by name."""
        return {name: getattr(self.options, name) for name in _COMPILING}


def best_of(one: "TargetLaunch", report: "TuneReport", *, as_is: bool) -> "TargetLaunch":
    """Return a launch with the best configuration of its search.

    Args:
        one: the launch.
        report: result of a search for only this launch's problem.
        as_is: whether the launch used the kernel's current configuration.
    """
    import msgspec

    from kprof_analyzers.model.certainty import least_difference
    from kprof_analyzers.profiles.measured.launches import TunedLaunch

    (problem,) = report.problems
    best, own = (problem.ranking[0] if problem.ranking else None), problem.own if as_is else None
    if best is None or best.time_us is None or one.modelled_us is None:
        return msgspec.structs.replace(one, not_tuned=report.verdict.summary)
    now = one.modelled_us if own is None or own.time_us is None else own.time_us
    if own is not None:
        as_good = own.tie or own.config == best.config
    else:
        as_good = now <= best.time_us * (1 + least_difference())
    found = TunedLaunch(
        dict(best.config),
        best.time_us,
        now,
        as_good,
        0.0 if as_good else one.launch.total_ns * (now - best.time_us) / one.modelled_us,
        report.search.looked_at,
        report.search.ended == "complete",
        _parts(best, own),
    )
    return msgspec.structs.replace(one, tuned=found)


def _parts(*sides: "Ranked | None") -> str:
    names = dict.fromkeys(name for side in sides if side is not None for name in side.parts)
    return f"predicted together with {', '.join(names)}" if names else ""


def _kernels(target: TargetLike) -> Iterator[tuple[TargetLike, TargetLike | None]]:
    """Yield the targets to analyse, each with the target to tune; the latter is None if it cannot be tuned.

    A capture yields one pair for each of its kernels.
    """
    found = resolve(target)
    if found.kind is not TargetKind.CAPTURE:
        yield target, target if found.kind in _SOURCES else None
        return
    from kprof.captures.reader import read
    from kprof.targets.captured import SEPARATOR, chosen

    folder, _, wanted = os.fspath(target).partition(SEPARATOR)  # type: ignore[arg-type]  # captures are folders
    for kernel in chosen(read(folder), wanted):
        if kernel.ok:
            name = f"{folder}{SEPARATOR}{kernel.id}"
            yield name, name


def _gpu(traces: "Sequence[LaunchShapes]", arch: str | None) -> str:
    """Return the product that the traces were measured on.

    Raises:
        InputError: the product is not known, or there are several.
    """
    from kprof_analyzers.profiles.timeline.operators.rooflines import limits_of

    found: dict[str, str] = {}
    for trace in traces:
        limits = limits_of(trace.info, arch)
        if limits is None:
            hint = "Name the product with --arch, for example --arch MI300X."
            raise InputError("the trace does not name one GPU that kprof knows", path=trace.info.path, hint=hint)
        found.setdefault(limits.gpu, trace.info.path)
    if len(found) > 1:
        raise InputError(f"the traces are of several GPUs: {', '.join(found)}", hint="Name the traces of one GPU.")
    return next(iter(found))


def _check_launched(
    target: str, traces: "Sequence[LaunchShapes]", compiled: "Sequence[CompiledTarget]", found: Sequence[str]
) -> None:
    if target in found:
        return
    mine = dict.fromkeys(one.identity.name for one in compiled if one.target == target)
    measured = dict.fromkeys(launch.name for trace in traces for launch in trace.launches)
    names = " or ".join(mine) or "that was compiled"
    words = near(next(iter(mine)), measured) if mine else ""
    hint = "kprof trace top --show triton lists Triton's kernels of a trace"
    raise InputError(f"no kernel {names} in the traces{words}", path=target, hint=hint)
