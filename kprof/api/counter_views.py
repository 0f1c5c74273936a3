"""Views of hardware counters: how kernels are chosen, and what their answers have in common."""

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
"""Launches that differ in one of these are kernels of their own."""


@dataclass(frozen=True, eq=False, repr=False)
class CounterView(View):
    """A question to the hardware counters of some kernels. The run is a file or folder of any ROCm profiler.

    Attributes:
        chosen: the kernels, the runs that they are of, and the GPUs that they ran on.
    """

    options: ClassVar[type[CounterOptions]] = CounterRunOptions
    about: ClassVar[str] = "Files or folders of any ROCm profiler; each is a run."
    chosen: "Chosen"

    @classmethod
    def answer(cls: type[V], paths: Sequence[Path_], options: Any, **_further: Any) -> V:
        """Choose the kernels and compute the answer.

        Raises:
            KprofError: there are no counters, a choice fits nothing, or no file names its GPU.
        """
        return cls.of_chosen(choose(paths, options))  # type: ignore[attr-defined,no-any-return]  # a view of counters

    @classmethod
    def of_chosen(cls, chosen: "Chosen") -> "CounterView":
        """Compute the answer for the chosen kernels."""
        raise NotImplementedError

    @property
    def sides(self) -> "Sequence[Chosen]":
        """What was read: one choice, or those of both sides."""
        return [self.chosen]

    @property
    def issues(self) -> "list[ProfileIssue]":
        """What cannot be trusted in the files, the most serious first."""
        return [issue for side in self.sides for issue in side.data.issues]

    @property
    def left_out(self) -> Sequence[str]:
        """What is not shown, and why, in words."""
        return [words for side in self.sides for words in side.left_out]

    @property
    @abstractmethod
    def conclusion(self) -> str:
        """The answer in one line, as if the recording were complete."""

    @property
    def summary(self) -> str:
        """The answer in one line, behind what the recording lacks."""
        from kprof.inputs.completeness import with_headline

        return with_headline(self.conclusion, self.issues)

    def warnings(self) -> Iterable[str]:
        """Return what cannot be trusted or is not shown."""
        for issue in self.issues:
            if issue.severity != "note":
                name = issue.path.replace("\\", "/").rsplit("/", 1)[-1]
                yield f"kprof: {issue.severity}: {issue.message} ({name})"
        for words in self.left_out:
            yield f"kprof: warning: {words}"

    def leading(self, part: Any) -> Mapping[str, Any]:  # noqa: ARG002 - tables say themselves of which run a row is
        """Return no columns before a table's own."""
        return {}


def choose(paths: Sequence[Path_], options: CounterOptions) -> "Chosen":
    """Read files and choose kernels; see :func:`kprof_analyzers.profiles.counters.chosen.choose`."""
    from kprof_analyzers.profiles.counters import chosen

    return chosen.choose(
        [os.fspath(path) for path in paths],
        arch=options.one_gpu("kprof counters") or None,
        kernel=options.kernel or "",
        run=getattr(options, "only_run", ()),
        dispatch=options.dispatch,
        by=options.by or ",".join(FIELDS),
    )
