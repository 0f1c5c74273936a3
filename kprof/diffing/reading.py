"""Read a ``kprof.report/1`` document from a file."""

from pathlib import Path

import msgspec

from kprof.document import SCHEMA, Report
from kprof.errors import InputError
from kprof.inputs import boundary

_BLANK = b" \t\r\n\xef\xbb\xbf"


class _Head(msgspec.Struct):
    """The field that identifies the kind of a document."""

    schema: str | None = None


def read_report(path: Path) -> Report:
    """Return the report in a file.

    Raises:
        KprofError: the file cannot be read, is truncated, or contains another document or another version of it.
    """
    data = boundary.read_bytes(path).lstrip(_BLANK)
    try:
        head = msgspec.json.decode(data, type=_Head)
    except msgspec.ValidationError:
        raise InputError(f"this JSON is not a {SCHEMA} document", path=str(path), hint=_HINT) from None
    except boundary.JSON_ERRORS as error:
        raise InputError(f"this is not a complete JSON document: {error}", path=str(path)) from None
    if head.schema is None:
        raise InputError(f"this JSON is not a {SCHEMA} document: it has no schema", path=str(path), hint=_HINT)
    if head.schema != SCHEMA:
        raise InputError(f"the document is {head.schema[:60]!r}, but only {SCHEMA} can be compared", path=str(path))
    return boundary.json_of(data, Report, str(path), f"the document does not match {SCHEMA}", unique=True)


_HINT = "kprof analyze kernel TARGET --json FILE writes one; a Triton cache is given as its directory."
