"""Common base of the views of hardware counters, and the selection of their kernels."""

import os
from abc import abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from kprof.api.options import Path_
from kprof.api.views import V, View
from kprof.options.measurements import CounterOptions, CounterRunOptions

if TYPE_CHECKING:
    from kprof.inputs.rocprof import ProfileIssue
    from kprof_analyzers.profiles.counters.chosen import Chosen

FIELDS = ("agent", "name", "grid", "workgroup", "lds", "vgprs")
"""Launch properties that identify a kernel: launches that differ in one of them count as different kernels."""


@dataclass(frozen=True, eq=False, repr=False)
class CounterView(View):
    """Base class of views of the hardware counters of selected kernels.

    Each run is a file or folder that a ROCm profiler wrote.

    Attributes:
        chosen: the selected kernels, their runs, and the GPUs that they ran on.
    """

    options: ClassVar[type[CounterOptions]] = CounterRunOptions
    about: ClassVar[str] = "Files or folders of any ROCm profiler; each is a run."
    chosen: "Chosen"

    @classmethod
    def answer(cls: type[V], paths: Sequence[Path_], options: Any, **_further: Any) -> V:
        """Select the kernels and compute the view.

        Raises:
            KprofError: there are no counters, a filter matches nothing, or no file names its GPU.
        """
        return cls.of_chosen(choose(paths, options))  # type: ignore[attr-defined,no-any-return]  # a view of counters

    @classmethod
    def of_chosen(cls, chosen: "Chosen") -> "CounterView":
        """Compute the view from kernels that are already selected."""
        raise NotImplementedError

    @property
    def sides(self) -> "Sequence[Chosen]":
        """The selections of kernels that the view shows: one, or two for a comparison."""
        return [self.chosen]

    @property
    def issues(self) -> "list[ProfileIssue]":
        """Issues of the files that make values untrustworthy, most serious first."""
        return [issue for side in self.sides for issue in side.data.issues]

    @property
    def left_out(self) -> Sequence[str]:
        """Sentences that say which kernels are not shown, and why."""
        return [words for side in self.sides for words in side.left_out]

    @property
    @abstractmethod
    def conclusion(self) -> str:
        """The result in one line, without mention of incomplete data."""

    @property
    def summary(self) -> str:
        """The result in one line, preceded by the data that the recording lacks."""
        from kprof.inputs.completeness import with_headline

        return with_headline(self.conclusion, self.issues)

    def warnings(self) -> Iterable[str]:
        """Yield a warning for each untrustworthy input and for each group of kernels that is not shown."""
        for issue in self.issues:
            if issue.severity != "note":
                name = issue.path.replace("\\", "/").rsplit("/", 1)[-1]
                yield f"kprof: {issue.severity}: {issue.message} ({name})"
        for words in self.left_out:
            yield f"kprof: warning: {words}"

    def leading(self, part: Any) -> Mapping[str, Any]:  # noqa: ARG002 - the tables have their own column for the run
        """Return no additional first columns for data frames."""
        return {}


def choose(paths: Sequence[Path_], options: CounterOptions) -> "Chosen":
    """Read files and select kernels; see :func:`kprof_analyzers.profiles.counters.chosen.choose`."""
    from kprof_analyzers.profiles.counters import chosen

    return chosen.choose(
        [os.fspath(path) for path in paths],
        arch=options.one_gpu("kprof counters") or None,
        kernel=options.kernel or "",
        run=getattr(options, "only_run", ()),
        dispatch=options.dispatch,
        by=options.by or ",".join(FIELDS),
    )
