"""Suppress rules with comments: ``# kprof: ignore[KP101] reason`` silences that rule on its source line.

An ignore comment that silences nothing is itself reported, so that it does not outlive its cause.
"""

import io
import re
import tokenize
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from kprof.findings import Finding, Location, Severity, Suppressed
from kprof.inputs import boundary
from kprof.inputs.amdgcn import AssemblyKernel

_IGNORE = re.compile(r"#\s*kprof:\s*ignore\[([A-Za-z0-9_,\s-]+)\]\s*(.*)$")
_SUFFIXES = {".py", ".hip", ".cpp", ".cu", ".h", ".hpp"}
_MAX_BYTES = 4 * 1024 * 1024
UNNEEDED = "KP001"
UNNEEDED_IGNORE = (
    UNNEEDED,
    "unneeded-ignore",
    Severity.NOTE,
    (
        "An ignore comment silences nothing.\n\n"
        "`# kprof: ignore[KP101] reason` silences that rule on its line. Here the rule found nothing on the line, with "
        "what was compiled. Remove the comment, so that it does not hide the next one; when it is needed with another "
        "architecture or configuration only, leave it."
    ),
)
"""Definition of the finding for an ignore comment that silences nothing: id, name, severity and explanation."""


@dataclass(frozen=True)
class Ignore:
    """One ignore comment.

    Attributes:
        file: path of the source file as recorded by the compiler.
        line: 1-based line.
        rules: identifiers and names of the rules that it silences.
        reason: rest of the comment, which should give the reason; "" if there is none.
    """

    file: str
    line: int
    rules: tuple[str, ...]
    reason: str

    def covers(self, finding: Finding) -> bool:
        """Return whether the comment silences a finding: same line, and the rule by identifier or name."""
        place = finding.location
        if not isinstance(place, Location) or (place.file, place.line) != (self.file, self.line):
            return False
        return bool({finding.rule, finding.name} & set(self.rules))


def apply(findings: Sequence[Finding], program: AssemblyKernel) -> tuple[list[Finding], list[Suppressed]]:
    """Return the findings that are not silenced, and the silenced ones.

    The first list includes a finding for each ignore comment that silences nothing. Comments count only on source lines
    from which code was compiled into the program, in files that can be read.
    """
    ignores = list(_ignores(program))
    used: set[Ignore] = set()
    kept: list[Finding] = []
    silenced: list[Suppressed] = []
    for finding in findings:
        ignore = next((i for i in ignores if i.covers(finding)), None)
        if ignore is None:
            kept.append(finding)
        else:
            used.add(ignore)
            silenced.append(Suppressed(finding=finding, reason=ignore.reason))
    kept.extend(_unneeded(ignore) for ignore in ignores if ignore not in used)
    return kept, silenced


def _unneeded(ignore: Ignore) -> Finding:
    return Finding(
        rule=UNNEEDED_IGNORE[0],
        name=UNNEEDED_IGNORE[1],
        severity=UNNEEDED_IGNORE[2],
        message=f"ignore[{', '.join(ignore.rules)}] silences nothing",
        location=Location(file=ignore.file, line=ignore.line),
    )


def _ignores(program: AssemblyKernel) -> Iterable[Ignore]:
    lines: dict[str, set[int]] = {}
    for source in {id(i.source): i.source for i in program.instructions if i.source is not None}.values():
        for frame in source.frames:
            if frame.line and not frame.in_library:
                lines.setdefault(frame.file, set()).add(frame.line)
    for file, numbers in lines.items():
        for ignore in comments(file):
            if ignore.line in numbers:
                yield ignore


def comments(file: str) -> tuple[Ignore, ...]:
    """Return every ignore comment of a source file; empty if it cannot be read."""
    text = source_text(file)
    return () if text is None else _parse_ignores(file, text)


def source_text(file: str) -> bytes | None:
    """Return the content of a source file that may contain comments; ``None`` for other or unreadable files."""
    return boundary.content_of(file, _MAX_BYTES) if Path(file).suffix in _SUFFIXES else None


@lru_cache(maxsize=64)
def _parse_ignores(file: str, text: bytes) -> tuple[Ignore, ...]:
    found = []
    for number, comment in _comments(file, text):
        match = _IGNORE.search(comment)
        if match is not None:
            rules = tuple(rule.strip() for rule in match[1].split(",") if rule.strip())
            found.append(Ignore(file, number, rules, match[2].strip()))
    return tuple(found)


def _comments(file: str, text: bytes) -> Iterator[tuple[int, str]]:
    """Yield each comment with its line. Python is tokenized, which tells comments from strings without running code."""
    if Path(file).suffix != ".py":
        for number, line in enumerate(text.decode(errors="replace").splitlines(), 1):
            _, slashes, comment = line.partition("//")
            if slashes:
                yield number, comment
        return
    try:
        for token in tokenize.tokenize(io.BytesIO(text).readline):
            if token.type == tokenize.COMMENT:
                yield token.start[0], token.string
    except (tokenize.TokenError, SyntaxError, UnicodeDecodeError, ValueError):
        # After a syntax error, comments cannot be distinguished from strings, so the rest of the file silences nothing.
        return
