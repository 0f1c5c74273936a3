"""Which files decide what a user's module defines, so that a cached result can be told from a stale one."""

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
"""With more files than this, hashing them at every start takes too long."""

# Packages that hold no kernels of the user and are either pinned otherwise (Triton) or never decide a kernel's source.
_FOREIGN = frozenset({"triton", "torch", "numpy", "kprof"})

# A module that does these may define something else the next time, with the same files.
_DYNAMIC = (b"environ", b"getenv", b"import_module", b"__import__", b"open(", b"read_text", b"read_bytes", b"exec(")


@dataclass
class Dependencies:
    """Files that a module was made from.

    Attributes:
        files: path to the SHA-256 of its content.
        complete: whether these files alone decide what the module defines. Where not, a result may still be kept
            under a hash of the values themselves.
        values: names of the modules' plain constants with their values, as text.
    """

    files: dict[str, str] = field(default_factory=dict)
    complete: bool = True
    values: list[str] = field(default_factory=list)


def dependencies(module: ModuleType) -> Dependencies:
    """The module's file and those of the modules that it imports, except the standard library, Triton and torch."""
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
    """Whether every file still has the content of this SHA-256."""
    for path, digest in files.items():
        content = _read(path)
        if content is None or hashlib.sha256(content).hexdigest() != digest:
            return False
    return True


Stamp = tuple[int, int]
"""Size and time of last change of a file, in ns."""
GONE: Stamp = (0, 0)


def stamps(files: Iterable[str]) -> dict[str, Stamp]:
    """Files with their stamps; :data:`GONE` for one that is not there."""
    return {path: _stamp(path) for path in files}


def stale(known: Mapping[str, Stamp]) -> bool:
    """Whether one of the files has changed since its stamp was taken."""
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
    """Whether the module may be the user's: not built in, not of the standard library, not one of the big ones."""
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
    """Names of imported modules, and whether each is needed: imported when the module itself is."""
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
            # What is imported from a package may be a module or something else; it is there only in the first case.
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
    """``a.b.c`` imports ``a`` and ``a.b`` too."""
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
