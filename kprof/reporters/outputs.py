"""Write results to files, to standard output and to the terminal."""

import dataclasses
import functools
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from kprof.errors import KprofError
from kprof.options.groups import DisplayOptions
from kprof.output.headline import tell_first, tell_last
from kprof.output.sink import command_stream
from kprof.output.writing import write_output
from kprof.reporters.interface import Format, ReportRequest
from kprof.reporters.registry import format_of

if TYPE_CHECKING:
    from kprof.details import Details

TEXT = "text"


class Told(Protocol):
    """Protocol of a command's result."""

    @property
    def summary(self) -> str:
        """The verdict in one line."""

    @property
    def document(self) -> Any:
        """The whole document."""


@dataclass(frozen=True)
class Conclusion:
    """A verdict and its document, as the result of a command."""

    summary: str
    document: Any


@dataclass(frozen=True)
class Outputs:
    """Outputs requested on the command line.

    Attributes:
        kind: kind of the document.
        paths: output path by format, ``-`` for standard output.
        flags: flags that are set, by format; "" is included if the format was requested by its own flag.
        shown: format that is printed instead of the text.
        display: verbosity and colours.
    """

    kind: str
    paths: Mapping[str, str] = field(default_factory=dict)
    flags: Mapping[str, frozenset[str]] = field(default_factory=dict)
    shown: str = TEXT
    display: DisplayOptions = field(default_factory=DisplayOptions)

    @property
    def quiet(self) -> bool:
        """Whether only the verdict is printed."""
        return self.display.quiet

    @property
    def verbose(self) -> int:
        """Verbosity: the number of ``-v`` options."""
        return self.display.verbose

    @property
    def no_color(self) -> bool:
        """Whether colours are disabled even on a terminal."""
        return self.display.no_color

    def of(self, kind: str) -> "Outputs":
        """Return the same outputs for a document of another kind."""
        return dataclasses.replace(self, kind=kind)

    def check(self) -> None:
        """Check the outputs before anything is computed.

        Raises:
            KprofError: a format is unknown or cannot render the document, or two formats use standard output.
        """
        named = [*self.paths, *self.flags, *([self.shown] if self.shown != TEXT else [])]
        for name in named:
            format_of(name, self.kind)
        piped = [f"--{name}" for name, path in self.paths.items() if path == "-"]
        piped += [f"--format {self.shown}"] * (self.shown != TEXT)
        if len(piped) > 1:
            raise KprofError(f"only one of {' and '.join(piped)} can go to standard output")

    @property
    def to_stdout(self) -> bool:
        """Whether a format replaces the text on standard output."""
        return self.shown != TEXT or "-" in self.paths.values()

    def wants(self, name: str) -> bool:
        """Return whether a format is requested."""
        return name in {*self.paths, self.shown}

    def write(
        self,
        document: Any,
        text: Callable[[], None],
        details: "Callable[[], Mapping[int, Details]] | None" = None,
    ) -> None:
        """Write all requested outputs.

        Args:
            document: the document, or a function that creates it if a format needs it.
            text: prints the text for people; called if no format uses standard output.
            details: returns details of the document's kernels, for formats that show them.

        Raises:
            KprofError: as :meth:`check`, or a file cannot be written.
        """
        self.check()
        piped = self.to_stdout
        made = functools.cache(document if callable(document) else lambda: document)
        for name, path in self.paths.items():
            self._render(name, made(), details, functools.partial(write_output, path))
        for name in self.flags:
            found = format_of(name, self.kind)
            if found.option == "flag" and "" in self.flags[name]:
                stream = sys.stderr if piped else sys.stdout
                self._render(name, made(), details, functools.partial(_print, found, stream))
        if self.shown != TEXT:
            to_stdout = functools.partial(_print, format_of(self.shown, self.kind), sys.stdout)
            self._render(self.shown, made(), details, to_stdout)
        elif not piped:
            text()

    def tell(self, found: "Told", show: Callable[[], None]) -> None:
        """Write a result: its document, and the text with the verdict for people.

        Args:
            found: the result.
            show: prints the text; not called with ``--quiet``.

        Raises:
            KprofError: as :meth:`write`.
        """

        def text() -> None:
            if not self.quiet:
                tell_first(found.summary)
                show()
            tell_last(found.summary, alone=self.quiet)

        self.write(lambda: found.document, text)

    def _render(
        self,
        name: str,
        document: Any,
        details: "Callable[[], Mapping[int, Details]] | None",
        put: Callable[[str], None],
    ) -> None:
        """Render one format, write it, and call its :meth:`Format.finish`."""
        found, flags = format_of(name, self.kind), self.flags.get(name, frozenset())
        request = ReportRequest(self.kind, flags) if details is None else ReportRequest(self.kind, flags, details)
        document = placed(found, document)
        put(found.render(document, request))
        found.finish(document, request)


def placed(found: Format, document: Any) -> Any:
    """Return a document with the paths that a format needs: relative to the work tree's root, or unchanged.

    Args:
        found: the format.
        document: a document of a kind that the format renders.
    """
    if not found.starts_at_root(document):
        return document
    from kprof.captures.staleness import root_of
    from kprof.gate.anchors import relocated

    return relocated(document, root_of(Path.cwd()))


def _print(found: Format, stream: Any, text: str) -> None:
    if found.commands:
        command_stream(stream).write(text)
    elif stream is sys.stdout:
        if text:
            write_output("-", text)
    else:
        stream.write(text)
