"""What the answers about hardware counters have in common."""

import os
from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from kprof.api.options import Names, names
from kprof.api.result import Result

if TYPE_CHECKING:
    from kprof.inputs.rocprof import ProfileIssue
    from kprof_analyzers.profiles.counters.chosen import Chosen

Path_ = str | os.PathLike[str]

FIELDS = ("agent", "name", "grid", "workgroup", "lds", "vgprs")
"""Launches that differ in one of these are kernels of their own."""


@dataclass(frozen=True, eq=False, repr=False)
class CounterAnswer(Result):
    """What hardware counters say about some kernels.

    Attributes:
        chosen: the kernels, the runs that they are of, and the GPUs that they ran on.
    """

    chosen: "Chosen"

    @property
    @abstractmethod
    def document(self) -> dict[str, Any]:
        """Everything, as the command writes it with ``--json``."""

    @property
    def issues(self) -> "list[ProfileIssue]":
        """What cannot be trusted in the files, the gravest first."""
        return self.chosen.data.issues

    @property
    def left_out(self) -> Sequence[str]:
        """What is not shown, and why, in words."""
        return self.chosen.left_out


def choose(
    paths: Sequence[Path_],
    *,
    arch: str | None,
    kernel: str,
    run: Sequence[str],
    dispatch: Sequence[int],
    by: Names,
) -> "Chosen":
    """Read files and choose kernels; see :func:`kprof_analyzers.profiles.counters.chosen.choose`."""
    from kprof_analyzers.profiles.counters import chosen

    found = [os.fspath(path) for path in paths]
    return chosen.choose(found, arch=arch, kernel=kernel, run=run, dispatch=dispatch, by=",".join(names(by)))
