"""Determine the files that a user's module depends on, to detect stale cached results."""

import ast
import hashlib
import sys
import sysconfig
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

LIMIT = 400
"""Maximum number of files of a module, because hashing more files at every start would take too long."""

# Packages whose files are not hashed. Triton's version is checked separately, and the other packages do not affect
# the source of a user's kernel.
_FOREIGN = frozenset({"triton", "torch", "numpy", "kprof", "helion"})

# A module whose source contains one of these strings reads the environment or files, or imports dynamically. It may
# define something else at its next import, even if no file changed.
_DYNAMIC = (b"environ", b"getenv", b"import_module", b"__import__", b"open(", b"read_text", b"read_bytes", b"exec(")


@dataclass
class Dependencies:
    """Files that a module depends on.

    Attributes:
        files: SHA-256 of the content by path.
        complete: True if these files alone determine what the module defines. If not, a result may still be cached
            under a hash of the values that it was computed from.
        values: names and values of the modules' plain constants, as text.
    """

    files: dict[str, str] = field(default_factory=dict)
    complete: bool = True
    values: list[str] = field(default_factory=list)


def dependencies(module: ModuleType) -> Dependencies:
    """Return the files of a module and its imports, except those of the standard library, Triton and torch."""
    found = Dependencies()
    todo, seen = [module], {module.__name__}
    while todo:
        current = todo.pop()
        file = getattr(current, "__file__", None)
        content = _read(file)
        if file is None or content is None:
            found.complete = False
            continue
        found.files[str(file)] = hashlib.sha256(content).hexdigest()
        found.values.extend(_constants(current))
        if any(word in content for word in _DYNAMIC) or len(found.files) > LIMIT:
            found.complete = False
        if len(found.files) > LIMIT:
            break
        for name, needed in _imports(content, current):
            imported = sys.modules.get(name)
            if imported is None:
                found.complete = found.complete and not needed
            elif imported.__name__ not in seen and is_own(imported):
                seen.add(imported.__name__)
                todo.append(imported)
    return found


def unchanged(files: Mapping[str, str]) -> bool:
    """Return whether every file still has the given SHA-256."""
    for path, digest in files.items():
        content = _read(path)
        if content is None or hashlib.sha256(content).hexdigest() != digest:
            return False
    return True


Stamp = tuple[int, int]
"""Size of a file in bytes and time of its last change in nanoseconds."""
GONE: Stamp = (0, 0)


def stamps(files: Iterable[str]) -> dict[str, Stamp]:
    """Return the stamps of files; :data:`GONE` for a missing file."""
    return {path: _stamp(path) for path in files}


def stale(known: Mapping[str, Stamp]) -> bool:
    """Return whether a file has changed since its stamp was taken."""
    return any(_stamp(path) != stamp for path, stamp in known.items())


def _stamp(path: str) -> Stamp:
    try:
        stat = Path(path).stat()
    except OSError:
        return GONE
    return (stat.st_size, stat.st_mtime_ns)


def _read(path: str | None) -> bytes | None:
    try:
        return Path(path).read_bytes() if path else None
    except OSError:
        return None


def is_own(module: ModuleType) -> bool:
    """Return whether a module may be the user's: not built in, and not of the standard library or a large package."""
    if module.__name__.partition(".")[0] in _FOREIGN or module.__name__ in sys.stdlib_module_names:
        return False
    file = getattr(module, "__file__", None)
    if file is None or not file.endswith(".py"):
        return False
    return not any(Path(file).is_relative_to(folder) for folder in _standard_library()) or "site-packages" in file


@cache
def _standard_library() -> tuple[str, ...]:
    return tuple({sysconfig.get_path("stdlib"), sysconfig.get_path("platstdlib")})


def _imports(content: bytes, module: ModuleType) -> Iterator[tuple[str, bool]]:
    """Yield each module that the code imports, and whether the import runs at top level rather than in a function."""
    package = module.__package__ or ""
    try:
        tree = ast.parse(content)
    except (SyntaxError, ValueError):
        return
    for node, needed in _statements(tree.body, top=True):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield from ((name, needed) for name in _prefixes(alias.name))
        else:
            base = _absolute(node, package)
            yield from ((name, needed) for name in _prefixes(base))
            # The name may be a submodule or any other object; only a submodule is in sys.modules.
            yield from ((f"{base}.{alias.name}", False) for alias in node.names)


def _statements(body: list[Any], *, top: bool) -> Iterator[tuple[Any, bool]]:
    for node in body:
        if isinstance(node, ast.Import | ast.ImportFrom):
            yield node, top
        inner = top and not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        for name in ("body", "orelse", "finalbody", "handlers"):
            yield from _statements(getattr(node, name, None) or [], top=inner)


def _absolute(node: ast.ImportFrom, package: str) -> str:
    if not node.level:
        return node.module or ""
    parts = package.split(".")
    base = parts[: len(parts) - node.level + 1]
    return ".".join(filter(None, (*base, node.module)))


def _prefixes(name: str) -> Iterator[str]:
    """Yield a module and its parent packages: ``a.b.c`` also imports ``a`` and ``a.b``."""
    parts = name.split(".") if name else []
    for end in range(1, len(parts) + 1):
        yield ".".join(parts[:end])


def _constants(module: ModuleType) -> Iterator[str]:
    for name, value in sorted(vars(module).items()):
        if name.startswith("__"):
            continue
        plain = getattr(value, "value", None) if type(value).__name__ == "constexpr" else value
        if isinstance(plain, bool | int | float | str | tuple):
            yield f"{module.__name__}.{name}={plain!r}"
