"""Find the line of a key in a TOML text, which neither Python's parser nor tomlkit reports."""

import re
from collections import Counter

_HEADER = re.compile(r"^\s*(\[\[?)\s*([^\[\]]+?)\s*\]\]?\s*(?:#.*)?$")
_KEY = re.compile(r"""^\s*((?:"[^"]*"|'[^']*'|[A-Za-z0-9_-]+)(?:\s*\.\s*(?:"[^"]*"|'[^']*'|[A-Za-z0-9_-]+))*)\s*=""")
_TOKEN = re.compile(
    r"""\"{3}(?:\\.|[^\\])*?\"{3,5}|'{3}.*?'{3,5}|"(?:\\.|[^"\\\n])*"|'[^'\n]*'|#[^\n]*|[\[\]{}=\n]""", re.DOTALL
)
"""Matches whole strings and comments, so that their content is ignored, and the delimiters of values."""
_PART = re.compile(r"""["']([^"']*)["']|([A-Za-z0-9_-]+)""")

Keys = tuple[str | int, ...]


def line_of(text: str, keys: Keys) -> int | None:
    """Return the 1-based line of a key, else of the nearest enclosing table that has a line; ``None`` if none has.

    Args:
        text: the TOML text.
        keys: names, and indexes into arrays of tables: ``("tool", "kprof", "kernel", 1, "target")``.
    """
    best: tuple[int, int] | None = None
    table: Keys = ()
    seen: Counter[Keys] = Counter()
    continued = _continued(text)
    for number, line in enumerate(text.split("\n"), 1):
        if number in continued:
            continue
        header = _HEADER.match(line)
        if header is not None:
            table = _with_indices(_names(header[2]), seen, array=header[1] == "[[")
            found = table
        else:
            key = _KEY.match(line)
            if key is None:
                continue
            found = (*table, *_names(key[1]))
        depth = len(found)
        if found == keys[:depth] and (best is None or depth > best[0]):
            best = (depth, number)
    return None if best is None else best[1]


def _continued(text: str) -> set[int]:
    """Return the lines that begin inside a value: a multi-line string, an array or an inline table."""
    found: set[int] = set()
    number, depth, value = 1, 0, False
    for token in _TOKEN.finditer(text):
        breaks = token[0].count("\n")
        if depth or len(token[0]) > 1:
            found.update(range(number + 1, number + breaks + 1))
        number += breaks
        if token[0] == "\n":
            value = value and depth > 0
        elif token[0] == "=":
            value = True
        elif value and token[0] in "[{]}":
            depth += 1 if token[0] in "[{" else -1
    return found


def _names(text: str) -> list[str]:
    return [quoted or bare for quoted, bare in _PART.findall(text)]


def _with_indices(names: list[str], seen: Counter[Keys], *, array: bool) -> Keys:
    """Return the names in a table's header, with the current element's index after the name of each array of tables."""
    result: Keys = ()
    for position, name in enumerate(names):
        result = (*result, name)
        if array and position == len(names) - 1:
            seen[result] += 1
        if seen[result]:
            result = (*result, seen[result] - 1)
    return result
