"""What was asked of the compiler, as a journal holds it: a capture may come from a stranger."""

import dataclasses
from dataclasses import dataclass
from typing import Any

import msgspec

from kprof.captures import records as r
from kprof.compiler.request import CompileRequest, from_json

_DEPTH = 32


def request_of(record: r.KernelRecord, arch: str, notes: list[str]) -> CompileRequest:
    """The request of a kernel; an empty one, with a note, where it is damaged.

    Args:
        record: as it stands in the journal.
        arch: architecture of the capture.
        notes: gets what is damaged.
    """
    empty = CompileRequest(path="", function=record.name, arch=arch, signature={})
    damaged = f"{record.name}: what was asked of the compiler is damaged"
    if _too_deep(record.request):
        notes.append(damaged)
        return empty
    try:
        request = from_json({**empty.to_json(), **record.request, "passes": False})
        _Checked(**{item.name: getattr(request, item.name) for item in dataclasses.fields(_Checked)}).verify()
    except (KeyError, TypeError, ValueError, AttributeError, StopIteration, OverflowError):
        notes.append(damaged)
        return empty
    return request


@dataclass
class _Checked:
    """The parts of a request whose types :func:`from_json` takes on trust."""

    path: Any
    function: Any
    arch: Any
    attributes: Any
    environment: Any
    options: Any

    def verify(self) -> None:
        """Raise :class:`TypeError` for what is no request."""
        msgspec.convert([self.path, self.function, self.arch], list[r.Name])
        msgspec.convert(self.attributes, dict[str, dict[str, int]])
        msgspec.convert(self.environment, dict[str, str | None])
        msgspec.convert(list(self.options), list[r.Name])


def _too_deep(value: Any, depth: int = 0) -> bool:
    if depth > _DEPTH:
        return True
    if isinstance(value, dict):
        value = list(value.values())
    return isinstance(value, list) and any(_too_deep(item, depth + 1) for item in value)
