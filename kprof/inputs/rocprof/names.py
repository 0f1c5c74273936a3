"""Normalise and shorten kernel names, which each tool decorates differently."""

import re

from kprof.inputs.mangled import demangled

_DECORATION = re.compile(r"(?:\s*\[clone [^\]]*\]|\s*\(\.kd\)|\.kd)+$")
_SPACE = re.compile(r"\s*\n\s*")
_TO_HOST = re.compile(r"TO_HOST|ToHost")


def normalise(name: str) -> str:
    """Return a kernel name without suffixes and quotes that tools add, so that names of two tools can be compared.

    >>> normalise("void k<int>(float*) [clone .kd]"), normalise("k (.kd)"), normalise('"_Z1kv.kd"')
    ('void k<int>(float*)', 'k', '_Z1kv')
    """
    text = name.strip()
    if len(text) > 1 and text[0] == text[-1] == '"':
        text = text[1:-1]
    if "\n" in text:
        text = _SPACE.sub(" ", text)
    if text.endswith((")", "]", ".kd")):
        text = _DECORATION.sub("", text)
    return text


def gpu_of_copy(direction: str, source: int | None, destination: int | None) -> int | None:
    """Return the GPU to whose timeline a copy belongs: its destination, or its source for a copy to the host.

    CPUs and GPUs are numbered together as agents, so the host's number would look like an additional idle GPU.

    >>> gpu_of_copy("MEMORY_COPY_DEVICE_TO_HOST", 4, 1), gpu_of_copy("MEMORY_COPY_HOST_TO_DEVICE", 1, 4)
    (4, 4)
    """
    first, second = (source, destination) if _TO_HOST.search(direction) else (destination, source)
    return second if first is None else first


def short(name: str) -> str:
    """Return the function's own name without return type, template arguments and parameters, for tables.

    >>> short("void at::native::f<4, g<int>>(int, (anonymous namespace)::T)"), short("_ZN5aiter3fooILi4EEEvPf")
    ('at::native::f', 'aiter::foo')
    """
    text = normalise(name)
    if text.startswith("_Z"):
        written = demangled(text)
        if written is None:
            return _nested(text) or text
        text = written
    kept: list[str] = []
    depth = 0
    text = text.replace("(anonymous namespace)", "{anonymous}")
    for at, char in enumerate(text):
        if char == "<" and not text[:at].endswith("operator"):
            depth += 1
        elif char == ">" and depth:
            depth -= 1
        elif depth == 0 and char == "(":
            break
        elif depth == 0:
            kept.append(char)
    plain = "".join(kept).strip()
    return plain.split(" ")[-1] if "operator" not in plain else plain


def _nested(mangled: str) -> str | None:
    """Return ``aiter::foo`` for ``_ZN5aiter3foo...``, or ``None`` if the name does not begin with plain names."""
    text = mangled.removeprefix("_Z").removeprefix("N")
    parts = []
    while match := re.match(r"(\d{1,4})", text):
        length = int(match[1])
        rest = text[match.end() :]
        if not 0 < length <= len(rest):
            return None
        parts.append(rest[:length])
        text = rest[length:]
    return "::".join(parts) or None
