"""What an output format is. A file in this folder that has ``FORMAT`` is one; nothing is listed a second time."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar

if TYPE_CHECKING:
    from kprof.details import Details

DOCUMENTS = {
    "report": "kprof analyze kernel",
    "check": "kprof check",
    "lint": "kprof lint",
    "diff": "kprof diff",
    "doctor": "kprof doctor",
    "capture": "kprof capture",
    "advice": "kprof advise",
    "tune": "kprof tune",
    "bench": "kprof bench",
    "trace": "kprof trace",
    "measurements": "kprof ingest",
    "metrics": "kprof counters metrics",
    "roofline": "kprof counters roofline",
    "counters-diff": "kprof counters diff",
    "counters-plan": "kprof counters plan",
    "validation": "kprof validate",
    "profile": "kprof profile",
    "server-configs": "kprof configs",
    "occupancy": "kprof occupancy",
    "select": "kprof select",
    "kernels": "kprof list kernels",
    "kernel": "kprof list kernels",
    "architectures": "kprof list gpus",
    "architecture": "kprof list gpus",
    "rules": "kprof list rules",
    "rule": "kprof explain",
    "cache": "kprof cache",
}
"""Kinds of documents, with the commands that make them."""


def _no_details() -> "Mapping[int, Details]":
    return {}


@dataclass(frozen=True)
class ReportRequest:
    """How a document is wanted.

    Attributes:
        kind: what it is, one of :attr:`Format.documents`.
        flags: those of :attr:`Format.flags` that are set.
        details: what is known of kernels beyond the document, by position; made when it is asked for.
    """

    kind: str
    flags: frozenset[str] = frozenset()
    details: "Callable[[], Mapping[int, Details]]" = field(default=_no_details)


class Format(ABC):
    """An output format.

    Options of the commands, ``--format`` and the documentation follow from these attributes.

    Attributes:
        name: ``sarif``: the option ``--sarif``, and the word that ``--format`` takes.
        help: the option's help, one sentence.
        extension: ``.sarif``, of files of this kind.
        documents: what it can render, keys of :data:`DOCUMENTS`.
        option: how it is asked for: ``path`` for ``--name PATH``, ``flag`` for ``--name``, which prints it before the
            text, ``none`` for ``--format name`` alone.
        flags: flags of its own, ``--name-flag``, with their help.
        commands: its lines are commands to a CI service; all else is kept from being that.
        from_root: a service reads it that knows the repository alone: paths start at its root.
    """

    name: ClassVar[str]
    help: ClassVar[str]
    extension: ClassVar[str]
    documents: ClassVar[tuple[str, ...]]
    option: ClassVar[str] = "path"
    flags: ClassVar[Mapping[str, str]] = {}
    commands: ClassVar[bool] = False
    from_root: ClassVar[bool] = False

    def starts_at_root(self, document: Any) -> bool:  # noqa: ARG002 - some formats look at it
        """Whether the paths in a document are given from the root of the work tree."""
        return self.from_root

    @abstractmethod
    def render(self, document: Any, request: ReportRequest) -> str:
        """The whole output as text, ending in a newline. ``document`` is of the kind that ``request`` names."""

    def finish(self, document: Any, request: ReportRequest) -> None:  # noqa: B027 - most have nothing more to do
        """Do further work after the output was written, such as adding to a CI job's summary."""
