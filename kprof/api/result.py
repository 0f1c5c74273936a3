"""Base classes of the API's results."""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from kprof.document import KernelReport, Report
from kprof.errors import KprofError
from kprof.findings import Finding

if TYPE_CHECKING:
    import os
    from collections.abc import Mapping

    import pandas as pd

    from kprof.details import Details


class Result(ABC):
    """A result of an API function: a document that can be shown, converted and saved."""

    kind: ClassVar[str] = ""
    """Kind of the document, a key of :data:`kprof.reporters.interface.DOCUMENTS`; "" if it has no further formats."""

    @property
    @abstractmethod
    def summary(self) -> str:
        """The verdict in one line, which the command prints last."""

    if TYPE_CHECKING:

        @property
        def document(self) -> Any:
            """The document that the command writes with ``--json``. Subclasses define it as a field or a property."""

    def to_json(self) -> str:
        """Return the document as JSON text, as the command writes it with ``--json``."""
        from kprof.reporters.json_document import FORMAT, encoded
        from kprof.reporters.outputs import placed

        return encoded(placed(FORMAT, self.document))

    @abstractmethod
    def to_frame(self) -> "pd.DataFrame":
        """Return the result as a table. Unknown values are ``NA``, never 0."""

    def _repr_html_(self) -> str:
        """Return the HTML that a notebook shows."""
        from kprof.reporters._notebook import framed

        return framed(self.summary, self.to_frame())

    def __repr__(self) -> str:
        """Return the class name and the summary."""
        return f"<{type(self).__name__}: {self.summary}>"

    def save(self, path: "str | os.PathLike[str]") -> Path:
        """Write the result to a file, in the format of the file's suffix.

        Args:
            path: the file, which is written atomically.

        Returns:
            The path.

        Raises:
            KprofError: the suffix is unknown, or the file cannot be written.
        """
        from kprof.output.writing import write_output

        target = Path(path)
        write_output(str(target), self._as(target.suffix.lower(), target))
        return target

    def formats(self) -> list[str]:
        """Return the file suffixes that :meth:`save` supports."""
        from kprof.reporters.registry import formats_of

        return list(dict.fromkeys([".json", *(each.extension for each in formats_of(self.kind)), ".csv"]))

    def _as(self, ending: str, target: Path) -> str | bytes:
        """Return the content of the file to save, in the format of the suffix ``ending``."""
        from kprof.reporters.interface import ReportRequest
        from kprof.reporters.outputs import placed
        from kprof.reporters.registry import formats_of

        if ending == ".json":
            return self.to_json()
        if ending == ".csv":
            return str(self.to_frame().to_csv(index=False))
        for each in formats_of(self.kind):
            if each.extension == ending:
                return each.render(placed(each, self.document), ReportRequest(self.kind, frozenset(), self.details))
        known = ", ".join(self.formats())
        raise KprofError(f"unknown file suffix {ending!r}", path=str(target), hint=f"Known suffixes: {known}")

    def details(self) -> "Mapping[int, Details]":
        """Return details of kernels, by the kernel's position, that a page shows in addition to the document."""
        return {}


class JudgedResult(Result):
    """A result whose document has a verdict."""

    @property
    def ok(self) -> bool:
        """Whether the verdict is ``ok``; the command's exit code is then 0."""
        return bool(self.document.verdict.status == "ok")

    @property
    def summary(self) -> str:
        """The verdict in one line."""
        return str(self.document.verdict.summary)


@dataclass(frozen=True, eq=False, repr=False)
class ReportResult(JudgedResult):
    """A result whose document is a :class:`kprof.document.Report`.

    Attributes:
        document: the JSON document that ``--json`` writes. ``docs/schema/report-1.json`` is its schema.
    """

    document: Report
    kind: ClassVar[str] = "report"

    @property
    def kernels(self) -> list[KernelReport]:
        """One report per kernel, specialisation and architecture: resources, occupancy, loops, model, findings."""
        return self.document.kernels

    @property
    def findings(self) -> list[Finding]:
        """Findings of all kernels, in the order of kernels; each kernel's most severe finding is first."""
        return [finding for kernel in self.document.kernels for finding in kernel.findings]

    def to_frame(self, table: Literal["kernels", "findings"] = "kernels") -> "pd.DataFrame":
        """Return one row per kernel, or one row per finding.

        Args:
            table: ``kernels``: registers, LDS in bytes, wavefronts per SIMD, predicted times in microseconds and
                numbers of findings by severity; ``findings``: rule, severity, message, file and line.

        Raises:
            KprofError: the table is unknown.
        """
        from kprof.api.frames import findings_frame, kernels_frame

        if table not in {"kernels", "findings"}:
            raise KprofError(f"there is no table {table!r}", hint="there are kernels and findings")
        return (kernels_frame if table == "kernels" else findings_frame)(self.document.kernels)

    def _repr_html_(self) -> str:
        from kprof.reporters._notebook import report

        return report(self.document)
