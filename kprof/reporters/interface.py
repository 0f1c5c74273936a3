"""The interface of output formats. Each file in this folder that defines ``FORMAT`` is a format; no list names them."""

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
"""The command that produces each kind of document, by kind."""


def _no_details() -> "Mapping[int, Details]":
    return {}


@dataclass(frozen=True)
class ReportRequest:
    """Options for rendering a document.

    Attributes:
        kind: kind of the document, one of :attr:`Format.documents`.
        flags: names of the :attr:`Format.flags` that are set.
        details: function that returns, by position, the details of kernels that are not in the document; called only if
            needed.
    """

    kind: str
    flags: frozenset[str] = frozenset()
    details: "Callable[[], Mapping[int, Details]]" = field(default=_no_details)


class Format(ABC):
    """An output format.

    Options of the commands, ``--format`` and the documentation follow from these attributes.

    Attributes:
        name: name such as ``sarif``: the option ``--sarif``, and the value of ``--format``.
        help: the option's help, one sentence.
        extension: file extension, for example ``.sarif``.
        documents: kinds of documents that the format can render, keys of :data:`DOCUMENTS`.
        option: how the format is requested: ``path`` for ``--name PATH``, ``flag`` for ``--name``, which prints the
            document before the text, ``none`` for ``--format name`` only.
        flags: flags that only this format has (``--NAME-FLAG``), with their help texts.
        commands: True if the format's lines are commands to a CI service. Other output is then escaped, so that the
            service does not execute it.
        from_root: True if paths must be relative to the repository's root, because the format's readers know only the
            repository.
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
        """Return whether the paths in a document are relative to the root of the work tree."""
        return self.from_root

    @abstractmethod
    def render(self, document: Any, request: ReportRequest) -> str:
        """Return the whole output as text, ending in a newline; ``request`` names the kind of ``document``."""

    def finish(self, document: Any, request: ReportRequest) -> None:  # noqa: B027 - most have nothing more to do
        """Do further work after the output was written, such as appending to a CI job's summary."""
