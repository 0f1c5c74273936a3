"""Parse protocol-buffer messages from blocks of a file. Callers declare only the fields that they need."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from importlib import import_module
from typing import Any

from kprof.errors import KprofError
from kprof.plug_ins import install_command

DOUBLE, INT64, UINT64, INT32, BOOL, STRING, BYTES, UINT32 = 1, 3, 4, 5, 8, 9, 12, 13
"""Field types, numbered as in ``descriptor.proto``."""
_MESSAGE = 11
_REPEATED, _OPTIONAL = 3, 1
_DELIMITED = 2
_FIXED = {1: 8, 5: 4}
_LONGEST_VARINT = 10

Fields = Mapping[str, Sequence[tuple[int, str, Any]]]
"""Fields of each message as (number, name, type). A type in a list means a repeated field; a string names a message."""


def parser(package: str, root: str, fields: Fields) -> Callable[[bytes], Any]:
    """Return a function that parses one message and raises :func:`decode_error` for damaged data.

    Args:
        package: package name that no other declaration uses.
        root: name of the message to parse.
        fields: declarations of all needed messages.

    Raises:
        KprofError: if ``protobuf`` is not installed.
    """
    try:
        descriptor, pools, factory = (
            import_module(f"google.protobuf.{name}")
            for name in ("descriptor_pb2", "descriptor_pool", "message_factory")
        )
    except ImportError as error:
        raise KprofError("this format needs protobuf", hint=install_command("perfetto")) from error
    file = descriptor.FileDescriptorProto(name=f"{package}.proto", package=package, syntax="proto2")
    for message, declared in fields.items():
        found = file.message_type.add(name=message)
        for number, name, kind in declared:
            single = kind[0] if isinstance(kind, list) else kind
            field = found.field.add(name=name, number=number, label=_REPEATED if isinstance(kind, list) else _OPTIONAL)
            if isinstance(single, str):
                field.type, field.type_name = _MESSAGE, f".{package}.{single}"
            else:
                field.type = single
    pool = pools.DescriptorPool()
    pool.Add(file)
    parse: Callable[[bytes], Any] = factory.GetMessageClass(pool.FindMessageTypeByName(f"{package}.{root}")).FromString
    return parse


def decode_error() -> type[Exception]:
    """Return the exception class that is raised for a damaged message."""
    found: type[Exception] = import_module("google.protobuf.message").DecodeError
    return found


def text(value: str | bytes) -> str:
    r"""Return a text field's value; text that is not UTF-8 arrives as bytes and is decoded with replacements.

    >>> text("gemm"), text(b"gemm\xff")
    ('gemm', 'gemm\ufffd')
    """
    return value if isinstance(value, str) else value.decode(errors="replace")


def varint(data: "bytes | bytearray | memoryview", at: int) -> tuple[int, int] | None:
    """Return the varint at a position, and the position after it; ``None`` if the data ends within the varint.

    Raises:
        ValueError: if the varint is longer than ten bytes.
    """
    value = 0
    for place in range(at, min(at + _LONGEST_VARINT, len(data))):
        byte = data[place]
        value |= (byte & 0x7F) << 7 * (place - at)
        if byte < 0x80:
            return value, place + 1
    if len(data) - at < _LONGEST_VARINT:
        return None
    raise ValueError("not a number")


def fields_of(data: "bytes | memoryview") -> Iterator[tuple[int, int, int]]:
    """Yield field number, begin and end of each length-delimited field; other fields are skipped.

    Raises:
        ValueError: if the data is not a message or ends within one.
    """
    at = 0
    while at < len(data):
        tag, at = _whole_varint(data, at)
        number, kind = tag >> 3, tag & 7
        if kind == _DELIMITED and number:
            length, at = _whole_varint(data, at)
            if at + length > len(data):
                raise ValueError("cut off")
            yield number, at, at + length
            at += length
        elif kind == 0 and number:
            _, at = _whole_varint(data, at)
        elif kind in _FIXED:
            at += _FIXED[kind]
        else:
            raise ValueError("not a message")


def _whole_varint(data: "bytes | memoryview", at: int) -> tuple[int, int]:
    found = varint(data, at)
    if found is None:
        raise ValueError("cut off")
    return found
