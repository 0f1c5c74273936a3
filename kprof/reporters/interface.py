"""What a reporter is."""

from typing import Protocol

from kprof.document import Report


class Reporter(Protocol):
    """Turns the document into one output format. Reads nothing but the document."""

    def render(self, report: Report) -> str:
        """The whole output as text, ending in a newline."""
        ...
