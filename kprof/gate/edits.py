"""Lines that set a knob, so that a cure can be shown as the change of a line."""

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from kprof.errors import InputError
from kprof.findings import Edit
from kprof.inputs import boundary

_MAX_BYTES = 1 << 20


def edits(change: Mapping[str, Any], known: Mapping[str, Any], files: Iterable[Path]) -> dict[str, Edit]:
    """The lines that set the knobs of a change, with the new values; empty unless each knob has exactly one.

    Args:
        change: knobs to their new values.
        known: knobs to their values now.
        files: where to look: the kernel's file and the configuration.
    """
    texts = {path: lines for path in dict.fromkeys(files) if (lines := _lines(path))}
    changed: dict[tuple[Path, int], str] = {}
    places: dict[str, tuple[Path, int]] = {}
    for knob, new in change.items():
        if known.get(knob) is None:
            return {}
        found = [
            (path, number)
            for path, lines in texts.items()
            for number, line in enumerate(lines)
            for _ in _pattern(path, knob, known[knob]).finditer(_code(line))
        ]
        if len(found) != 1:
            return {}
        (path, number) = places[knob] = found[0]
        line = changed.get((path, number), texts[path][number])
        match = _pattern(path, knob, known[knob]).search(line)
        assert match is not None
        changed[path, number] = f"{line[: match.start(2)]}{_literal(path, new)}{line[match.end(2) :]}"
    return {
        knob: Edit(file=str(path), line=number + 1, before=texts[path][number], after=changed[path, number])
        for knob, (path, number) in places.items()
    }


def _pattern(path: Path, knob: str, value: Any) -> "re.Pattern[str]":
    """``BLOCK = 64``, ``"BLOCK": 64`` and ``BLOCK: int = 64``, with the value in the second group."""
    return re.compile(
        rf"(?<![\w.])([\"']?){re.escape(knob)}\1\s*(?::\s*[A-Za-z_][\w.\[\]]*\s*)?[:=](?!=)\s*"
        rf"({re.escape(_literal(path, value))})(?![\w.\"'])"
    )


def _literal(path: Path, value: Any) -> str:
    return json.dumps(value) if path.suffix == ".toml" or isinstance(value, str) else repr(value)


def _code(line: str) -> str:
    """A line without its comment, as far as a number sign tells."""
    return line.split("#", 1)[0]


def _lines(path: Path) -> Sequence[str]:
    try:
        return boundary.read_text(path, most=_MAX_BYTES).splitlines()
    except InputError:
        return ()
