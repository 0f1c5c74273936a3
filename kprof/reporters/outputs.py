"""Where the gate's result goes: files, annotations, the job's summary, the terminal."""

import os
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, TextIO

from kprof.document import Report
from kprof.errors import KprofError
from kprof.output.colour import coloured
from kprof.output.sink import command_stream
from kprof.output.writing import log, print_styled, write_output
from kprof.reporters.interface import Reporter

_SUMMARY_CHARACTERS = 250_000
"""A quarter of the megabyte that GitHub takes from a step: characters may be up to four bytes."""


@dataclass(frozen=True)
class Outputs:
    """What the command line asks for.

    Attributes:
        files: format to path, ``-`` for standard output, ``None`` for not asked for.
        sarif_suppressed: SARIF also has what is silenced.
        github: annotations and the job's summary.
        quiet: only the verdict on the terminal.
        verbose: more on the terminal.
        no_color: no colours there.
        terminal: what is shown there: ``check`` for kernels, ``lint`` for configuration files.
    """

    files: Mapping[str, str | None]
    sarif_suppressed: bool = False
    github: bool = False
    quiet: bool = False
    verbose: int = 0
    no_color: bool = False
    terminal: Literal["check", "lint"] = "check"

    def write(self, report: Report) -> None:
        """Write everything.

        Raises:
            KprofError: two formats want standard output, or a file cannot be written.
        """
        piped = [name for name, path in self.files.items() if path == "-"]
        if len(piped) > 1:
            raise KprofError(f"only one format can go to standard output, not {' and '.join(piped)}")
        for name, path in self.files.items():
            if path:
                write_output(path, self._reporter(name).render(report))
        if self.github:
            self._github(report, sys.stderr if piped else sys.stdout)
        if not piped:
            self._terminal(report)

    def _reporter(self, name: str) -> Reporter:
        if name == "sarif":
            from kprof.reporters.rule_list import all_rules
            from kprof.reporters.sarif import SarifReporter

            return SarifReporter(all_rules(), suppressed=self.sarif_suppressed)
        if name == "junit":
            from kprof.reporters.junit import JUnitReporter

            return JUnitReporter()
        if name == "gitlab":
            from kprof.reporters.gitlab import GitLabReporter

            return GitLabReporter()
        if name == "markdown":
            from kprof.reporters.markdown import MarkdownReporter

            return MarkdownReporter()
        from kprof.reporters.json_document import JsonReporter

        return JsonReporter()

    def _github(self, report: Report, stream: TextIO) -> None:
        from kprof.reporters.github import GitHubReporter
        from kprof.reporters.markdown import MarkdownReporter

        command_stream(stream).write(GitHubReporter().render(report))
        summary = os.environ.get("GITHUB_STEP_SUMMARY")
        if not summary:
            return
        try:
            with Path(summary).open("a", encoding="utf-8") as file:
                file.write(MarkdownReporter(limit=_SUMMARY_CHARACTERS).render(report))
        except OSError as error:
            log(f"kprof: the job summary cannot be written: {error.strerror}")

    def _terminal(self, report: Report) -> None:
        if self.quiet:
            print(report.verdict.summary)
            return
        print_styled(self._text(coloured(no_color=self.no_color)).render(report))

    def _text(self, colour: bool) -> Reporter:
        if self.terminal == "lint":
            from kprof.reporters.lint_text import LintTextReporter

            return LintTextReporter(colour=colour, verbose=self.verbose)
        from kprof.reporters.check_text import CheckTextReporter

        return CheckTextReporter(colour=colour, verbose=self.verbose)
