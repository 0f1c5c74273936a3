"""Reading a ``kprof.report/1`` document back."""

from pathlib import Path

import msgspec

from kprof.document import SCHEMA, Report
from kprof.errors import InputError

_MAX_BYTES = 1 << 30
_BLANK = b" \t\r\n\xef\xbb\xbf"


class _Head(msgspec.Struct):
    """What tells documents apart."""

    schema: str | None = None


def read_report(path: Path) -> Report:
    """The document in a file.

    Raises:
        KprofError: the file cannot be read, is cut off, or is another document or another version of it.
    """
    try:
        if path.stat().st_size > _MAX_BYTES:
            raise InputError("too large for a report", path=str(path))
        data = path.read_bytes().lstrip(_BLANK)
    except OSError as error:
        raise InputError(f"cannot be read: {error.strerror}", path=str(path)) from None
    try:
        head = msgspec.json.decode(data, type=_Head)
    except msgspec.ValidationError:
        raise InputError(f"this JSON is no {SCHEMA} document", path=str(path), hint=_HINT) from None
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise InputError(f"this is no whole JSON document: {error}", path=str(path)) from None
    if head.schema is None:
        raise InputError(f"this JSON is no {SCHEMA} document: it names no schema", path=str(path), hint=_HINT)
    if head.schema != SCHEMA:
        raise InputError(f"the document is {head.schema[:60]!r}, and {SCHEMA} is what can be compared", path=str(path))
    try:
        return msgspec.json.decode(data, type=Report)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise InputError(f"the document does not keep to {SCHEMA}: {error}", path=str(path)) from None


_HINT = "kprof analyze kernel TARGET --json FILE writes one; a Triton cache is given as its directory."
