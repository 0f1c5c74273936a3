"""Damage that keeps a file's structure: spellings, two files in one, trees of JSON, columns, series of numbers.

:mod:`validation.fuzz.mutations` damages places; these change a whole file in one way, so that readers get further with
it. A result is at most a megabyte larger than the input. The same seed gives the same damage.
"""

import json
import random
import re
from collections.abc import Callable, Sequence
from typing import Any

Change = Callable[[random.Random, bytes, bytes], bytes]
"""Changes a file, with another file of the same format beside it."""

_MOST = 1 << 20
_NUMBER = re.compile(rb"-?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?")
_ENDS = (b"\r\n", b"\r", b"\n\r", b"\n\n", b"\x0b", b"\x0c", b"\xc2\x85", b"\xe2\x80\xa8", b"\x00\n", b" \n", b"\t\n")
_LETTERS = (
    ("0123456789", "\uff10\uff11\uff12\uff13\uff14\uff15\uff16\uff17\uff18\uff19"),
    ("0123456789", "\u0660\u0661\u0662\u0663\u0664\u0665\u0666\u0667\u0668\u0669"),
    (" ", "\u00a0"), (" ", "\u3000"), ("-", "\u2212"), ("-", "\u2013"), ('"', "\u201c"), ("'", "\u2019"),
    (".", "\u066b"), (",", "\uff0c"), ("_", "\uff3f"), ("a", "\u0430"), ("e", "\u00e9"), ("o", "\U0001f525"),
    ("i", "\u0131"), (":", "\ufe55"),
)  # fmt: skip
"""Characters, and others that look like them or count like them."""
_FACTORS = (0, -1, 1e-300, 1e-9, 1e3, 1e9, 1e18, 1e300, 2**31, 2**63)


def _ends(chance: random.Random, data: bytes, _other: bytes) -> bytes:
    """Other ends of lines, everywhere or in some lines."""
    end, share = chance.choice(_ENDS), chance.choice((1.0, 1.0, 0.3, 0.01))
    lines = data.split(b"\n")
    return b"".join(line + (end if chance.random() < share else b"\n") for line in lines[:-1]) + lines[-1]


def _encoding(chance: random.Random, data: bytes, _other: bytes) -> bytes:
    """The same text in another encoding, with or without its mark, in the middle too."""
    text = data.decode("utf-8", "surrogateescape")
    how = chance.randrange(6)
    if how == 0:
        return b"\xef\xbb\xbf" * chance.choice((1, 2)) + data
    if how == 1:
        at = chance.randrange(len(data) + 1)
        return data[:at] + b"\xef\xbb\xbf" + data[at:]
    if how == 2:
        return text.encode(chance.choice(("utf-16", "utf-16-le", "utf-16-be", "utf-32")), "replace")
    if how == 3:
        return text.encode("latin-1", "replace")
    if how == 4:
        # Characters in more bytes than they need, which a decoder has to refuse.
        return data.replace(b"/", b"\xc0\xaf").replace(b".", b"\xc0\xae")
    return text.encode("utf-8", "surrogateescape") + chance.choice((b"\x1a", b"\x00" * 512, b"\xff\xfe", b"\n" * 5000))


def _letters(chance: random.Random, data: bytes, _other: bytes) -> bytes:
    """Characters by others that look like them or count like them."""
    text = data.decode("utf-8", "surrogateescape")
    plain, others = chance.choice(_LETTERS)
    swapped = {ord(one): other for one, other in zip(plain, others, strict=True)}
    if chance.random() < 0.5:
        return text.translate(swapped).encode("utf-8", "surrogateescape")
    at = chance.randrange(len(text) + 1)
    size = chance.choice((1, 20, 400))
    return (text[:at] + text[at : at + size].translate(swapped) + text[at + size :]).encode("utf-8", "surrogateescape")


def _spliced(chance: random.Random, data: bytes, other: bytes) -> bytes:
    """Lines of two files: one behind the other, in turns, or a part of one inside the other."""
    one, two = data.split(b"\n"), other.split(b"\n")[:4000]
    how = chance.randrange(4)
    if how == 0:
        return data + chance.choice((b"", b"\n")) + other
    if how == 1:
        step = chance.choice((1, 3, 10))
        turns = [one[at : at + step] + two[at : at + step] for at in range(0, max(len(one), len(two)), step)]
        return b"\n".join(line for turn in turns for line in turn)
    start, end = sorted((chance.randrange(len(two) + 1), chance.randrange(len(two) + 1)))
    at = chance.randrange(len(one) + 1)
    return b"\n".join([*one[:at], *two[start:end], *one[at + (end - start if how == 2 else 0) :]])


def _reordered(chance: random.Random, data: bytes, _other: bytes) -> bytes:
    """All lines, or those of a part, backwards, sorted, shuffled, or each twice."""
    lines = data.split(b"\n")
    start, end = sorted((chance.randrange(len(lines) + 1), chance.randrange(len(lines) + 1)))
    if chance.random() < 0.3:
        start, end = 0, len(lines)
    part = lines[start:end]
    how = chance.randrange(4)
    if how == 0:
        part.reverse()
    elif how == 1:
        part.sort()
    elif how == 2:
        chance.shuffle(part)
    else:
        part = [line for line in part for _ in range(2)]
    return b"\n".join([*lines[:start], *part, *lines[end:]])


def _blocks(chance: random.Random, data: bytes, other: bytes) -> bytes:
    """Blocks of two binary files, at the alignment of their records."""
    size = chance.choice((8, 16, 64, 256, 4096))
    one = [data[at : at + size] for at in range(0, len(data), size)] or [b""]
    two = [other[at : at + size] for at in range(0, len(other), size)] or [b""]
    how = chance.randrange(4)
    at, count = chance.randrange(len(one)), chance.choice((1, 1, 4, 50))
    if how == 0:
        one[at : at + count] = two[at : at + count]
    elif how == 1:
        source = chance.randrange(len(one))
        one[at : at + count] = one[source : source + count]
    elif how == 2:
        one[at:at] = [bytes(size)] * count
    else:
        part = one[at : at + count]
        part.reverse()
        one[at : at + count] = part
    return b"".join(one)


def _series(chance: random.Random, data: bytes, _other: bytes) -> bytes:
    """All numbers at one place of their lines, or each n-th one: scaled, equal, or in the reverse order."""
    step, first, factor = chance.choice((1, 2, 3, 7, 20)), chance.randrange(20), chance.choice(_FACTORS)
    how, count = chance.randrange(3), -1
    held = b"0"

    def changed(match: "re.Match[bytes]") -> bytes:
        nonlocal count, held
        count += 1
        if count % step != first % step:
            return match[0]
        if how == 0:
            value = float(match[0]) * factor
            return str(int(value)).encode() if b"." not in match[0] and abs(value) < 1e30 else repr(value).encode()
        before, held = held, match[0]
        return before if how == 1 else b"%d" % (1 << 40) if len(match[0]) > 4 else match[0] + b"0"

    return _NUMBER.sub(changed, data)


def _columns(chance: random.Random, data: bytes, _other: bytes) -> bytes:
    """Columns of separated values: swapped, doubled, gone, shifted in some rows, with another mark, in quotes."""
    mark = max((b",", b"\t", b";", b"|", b" "), key=data.count)
    rows = [line.split(mark) for line in data.split(b"\n")]
    width = max(map(len, rows))
    one, two, how = chance.randrange(width), chance.randrange(width), chance.randrange(7)
    share = chance.choice((1.0, 1.0, 0.2))
    new = chance.choice((b";", b"\t", b",", b"|", b",,", b" , ")) if how == 4 else mark
    for row in rows:
        if len(row) <= max(one, two) or chance.random() > share:
            continue
        if how == 0:
            row[one], row[two] = row[two], row[one]
        elif how == 1:
            row.insert(one, row[two])
        elif how == 2:
            del row[one]
        elif how == 3:
            row.insert(one, b"")
        elif how == 5:
            row[one] = b'"' + row[one] + chance.choice((b'"', b'""', b'\n"', b""))
        elif how == 6:
            row[one] = chance.choice((row[one].upper(), row[one].title(), b" " + row[one] + b" ", row[one].lower()))
    return b"\n".join(new.join(row) for row in rows)


def _tree(chance: random.Random, data: bytes, other: bytes) -> bytes:
    """A document of JSON, or a line of it: another shape of its values, two documents in one, keys twice."""
    by_line = data.startswith(b"{") and data.count(b"\n{") > 1
    lines = data.split(b"\n") if by_line else [data]
    at = chance.randrange(len(lines))
    try:
        document = json.loads(lines[at])
        beside = json.loads(other.split(b"\n")[0] if by_line else other)
    except (ValueError, RecursionError):
        return _series(chance, data, other)
    changed = chance.choice((_wrapped, _nested, _long, _other_kinds, _merged, _key_twice, _keys_respelled))
    try:
        text = changed(chance, document, beside)
    except (ValueError, RecursionError):
        # What an earlier change made too deep or too long to be written again.
        return _series(chance, data, other)
    lines[at] = text.encode("utf-8", "replace")[: len(lines[at]) + _MOST]
    return b"\n".join(lines)


def _places(value: Any, found: list[tuple[Any, Any]] | None = None) -> list[tuple[Any, Any]]:
    """Every container of a document with each of its keys, at most so many."""
    found = [] if found is None else found
    keys = list(value) if isinstance(value, dict) else list(range(len(value))) if isinstance(value, list) else []
    for key in keys[:200]:
        if len(found) < 3000:
            found.append((value, key))
            _places(value[key], found)
    return found


def _wrapped(chance: random.Random, document: Any, _other: Any) -> str:
    """All values of one key in a list or an object, or out of one."""
    places = _places(document)
    if not places:
        return json.dumps([document])
    key, how = chance.choice(places)[1], chance.randrange(4)
    for holder, name in places:
        if name == key:
            value = holder[name]
            inner = (
                value[0]
                if isinstance(value, list) and value
                else next(iter(value.values()), None)
                if isinstance(value, dict) and value
                else None
            )
            holder[name] = ([value], {"value": value}, str(value), inner)[how]
    return json.dumps(document)


def _nested(chance: random.Random, document: Any, _other: Any) -> str:
    """A value some levels further in, with sound values on each level."""
    places = _places(document)
    depth = chance.choice((2, 30, 400))
    if not places:
        return "[" * depth + json.dumps(document) + "]" * depth
    holder, key = chance.choice(places)
    inner, mark = json.dumps(holder[key]), "@@here@@"
    holder[key] = mark
    left, right = chance.choice((("[", "]"), ('{"children": [', "]}"), ('{"args": ', "}"), ("[1, ", ", 2]")))
    return json.dumps(document).replace(json.dumps(mark), left * depth + inner + right * depth, 1)


def _long(chance: random.Random, document: Any, _other: Any) -> str:
    """A list with its items many times, a text many times as long, an object with thousands of keys."""
    places = _places(document)
    if places:
        holder, key = chance.choice(places)
        value, times = holder[key], chance.choice((10, 300, 3000))
        if isinstance(value, list):
            holder[key] = (value * times)[: max(4000, len(value))]
        elif isinstance(value, dict):
            holder[key] = {
                **{f"{name}{n}": v for n in range(min(times, 300)) for name, v in list(value.items())[:3]},
                **value,
            }
        else:
            holder[key] = (str(value) + "/") * times
    return json.dumps(document)


def _other_kinds(chance: random.Random, document: Any, _other: Any) -> str:
    """Each number as a text, each text as a number, or both kinds in turns."""
    how, share = chance.randrange(4), chance.choice((1.0, 0.2))
    for holder, key in _places(document):
        value = holder[key]
        if chance.random() > share or isinstance(value, list | dict | bool) or value is None:
            continue
        if how == 0 and isinstance(value, int | float):
            holder[key] = str(value)
        elif how == 1 and isinstance(value, str):
            holder[key] = len(value)
        elif how == 2 and isinstance(value, int):
            holder[key] = value + 0.5
        elif how == 3 and isinstance(value, int | float):
            holder[key] = bool(value)
    return json.dumps(document)


def _merged(chance: random.Random, document: Any, other: Any) -> str:
    """Parts of another document of the format under the same keys."""
    if isinstance(document, dict) and isinstance(other, dict):
        for key in list(other)[:50]:
            if isinstance(document.get(key), list) and isinstance(other[key], list) and chance.random() < 0.7:
                document[key] = [*document[key], *other[key][:2000]]
            elif chance.random() < 0.4:
                document[key] = other[key]
    elif isinstance(document, list) and isinstance(other, list):
        document = [item for pair in zip(document, other, strict=False) for item in pair]
    return json.dumps(document)


def _key_twice(chance: random.Random, document: Any, _other: Any) -> str:
    """A key that an object has twice, with the same value or another one."""
    places = [(holder, key) for holder, key in _places(document) if isinstance(holder, dict)]
    if not places:
        return json.dumps(document)
    holder, key = chance.choice(places)
    second = chance.choice((json.dumps(holder[key]), "null", "0", "{}", '"other"'))
    holder["@@twice@@"] = 0
    return json.dumps(document).replace('"@@twice@@": 0', f"{json.dumps(key)}: {second}", 1)


def _keys_respelled(chance: random.Random, document: Any, _other: Any) -> str:
    """One key in another case, with blanks, or with another mark between its words, wherever it is."""
    places = [(holder, key) for holder, key in _places(document) if isinstance(holder, dict)]
    if not places:
        return json.dumps(document)
    name = chance.choice(places)[1]
    new = chance.choice((name.upper(), name.title(), f" {name}", name.replace("_", "-"), name + "\u200b", name[::-1]))
    for holder, key in places:
        if key == name and key in holder:
            holder[new] = holder.pop(key)
    return json.dumps(document)


_TEXT: Sequence[Change] = (
    _ends, _encoding, _letters, _spliced, _reordered, _series, _series, _columns, _tree, _tree, _tree, _tree,
)  # fmt: skip
_BINARY: Sequence[Change] = (_blocks, _blocks, _blocks, _encoding)


def restructured(chance: random.Random, data: bytes, other: bytes) -> bytes:
    """The content of a file, changed once or twice, with another file of its format to take parts of."""
    for _ in range(chance.choice((1, 1, 2))):
        binary = b"\0" in data[:512]
        data = chance.choice(_BINARY if binary else _TEXT)(chance, data, other)[: len(data) + _MOST]
    return data
