"""``kprof analyze --watch``: a target again after each change of its files, with what changed in the compiled code."""

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
"""Seconds between two looks at the files' stamps."""
PATIENCE = 2.0
"""Seconds for a file that is gone to come back: some editors write a new one and then rename it."""


@dataclass(frozen=True)
class Update:
    """What a target is, or why that cannot be determined, since its files were last saved.

    Attributes:
        analysis: the report; ``None`` with an error.
        error: why there is none: the compiler's words with their line, most often.
        changed: from the last one that could be analysed to this one; ``None`` where there is no last or no this.
        last: the last report that there was before this update.
    """

    analysis: ReportResult | None
    error: KprofError | None
    changed: Comparison | None
    last: ReportResult | None


def watch(target: str, options: WatchOptions, *, poll: float = POLL) -> Iterator[Update]:
    """Analyse a target, and again whenever one of the files that it rests on is saved; it never ends by itself.

    Args:
        target: a Python file's kernel, an assembly file, a code object, a capture: whatever has files of its own.
        options: how it is compiled.
        poll: seconds between two looks at the files.

    Raises:
        TargetError: the target has no file that could change.
    """
    last: ReportResult | None = None
    files: Mapping[str, Stamp] = {}
    with Session(jobs=1, warm=True) as session:
        while True:
            asked = session.submit("report", target=target, **options.given())
            update = _update(asked, last)
            # A target that is gone may come back where it was.
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
    """Wait until none of the files changes any more: editors write in several steps."""
    before, patience = None, time.monotonic() + PATIENCE
    while True:
        now = stamps(files)
        if now == before and (GONE not in now.values() or time.monotonic() > patience):
            return
        before = now
        time.sleep(poll / 4)
