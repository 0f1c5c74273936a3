"""``kprof analyze --watch``: analyse a target again after each change of its files, and compare the compiled code."""

import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import msgspec

from kprof.api.diff import Comparison, diff
from kprof.api.live.session import Question, Session
from kprof.api.result import ReportResult
from kprof.document import Report
from kprof.errors import KprofError, TargetError
from kprof.importing.dependencies import GONE, Stamp, stale, stamps
from kprof.options.kernels import WatchOptions
from kprof.options.searches import DiffOptions

POLL = 0.2
"""Seconds between two checks of the files' time stamps."""
PATIENCE = 2.0
"""Seconds to wait for a missing file, because some editors save by writing a new file and renaming it."""


@dataclass(frozen=True)
class Update:
    """Result of one analysis of a watched target.

    Attributes:
        analysis: the report; ``None`` if there is an error.
        error: reason why there is no report, usually a compile error with its line; ``None`` if there is a report.
        changed: comparison of the previous report with this one; ``None`` if either is missing.
        last: the previous report, or ``None``.
    """

    analysis: ReportResult | None
    error: KprofError | None
    changed: Comparison | None
    last: ReportResult | None


def watch(target: str, options: WatchOptions, *, poll: float = POLL) -> Iterator[Update]:
    """Analyse a target, and again whenever a file that it depends on is saved. The iterator never ends.

    Args:
        target: any target that consists of files: a kernel in a Python file, an assembly file, a code object, a
            capture.
        options: how the target is compiled.
        poll: seconds between two checks of the files.

    Raises:
        TargetError: the target has no file that could change.
    """
    last: ReportResult | None = None
    files: Mapping[str, Stamp] = {}
    with Session(jobs=1, warm=True) as session:
        while True:
            asked = session.submit("report", target=target, **options.given())
            update = _update(asked, last)
            # If the target was deleted, keep watching its previous files, because it may come back.
            files = asked.files or stamps(files)
            if not files:
                raise update.error or TargetError(
                    f"{target} has no file that could change", hint="name a file of yours"
                )
            yield update
            last = update.analysis or last
            while not stale(files):
                time.sleep(poll)
            settle(files, poll)


def _update(asked: Question, last: ReportResult | None) -> Update:
    try:
        found = ReportResult(msgspec.convert(asked.result(), Report))
    except KprofError as error:
        return Update(None, error, None, last)
    return Update(found, None, diff(last, found, options=DiffOptions()) if last is not None else None, last)


def settle(files: Mapping[str, Stamp], poll: float = POLL) -> None:
    """Wait until no file changes any more, because editors save in several steps."""
    before, patience = None, time.monotonic() + PATIENCE
    while True:
        now = stamps(files)
        if now == before and (GONE not in now.values() or time.monotonic() > patience):
            return
        before = now
        time.sleep(poll / 4)
