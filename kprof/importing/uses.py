"""Describe what a Triton function uses from outside it, to compare the function in memory with the one in its file.

A global, a helper or a function of Triton itself may have another value in a process that imports the file anew.
:func:`uses_of` describes these values by text that does not depend on the process.
"""

import ast
import builtins
import dis
import hashlib
import inspect
import symtable
import textwrap
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import CodeType, FunctionType, ModuleType
from typing import Any

from kprof.importing.wrappers import source_function

_PLAIN = (bool, int, float, str, bytes, type(None))
_DIGITS = 12
_MAX_DEPTH = 8


@dataclass(frozen=True)
class InMemory:
    """A Triton function as it exists in the process that requests a compile.

    Attributes:
        uses: descriptions of everything that it uses, see :func:`uses_of`.
        text: Python file with the function and everything it uses; empty if it cannot be written.
        stem: name of that file, without its suffix.
        reason: why the file cannot be written.
    """

    uses: Mapping[str, str]
    text: str = ""
    stem: str = ""
    reason: str = ""


_IN_MEMORY: dict[int, tuple[Any, InMemory]] = {}


def set_in_memory(jit: Any, memory: InMemory) -> None:
    """Store what a function uses now, for later compile requests of the function."""
    _IN_MEMORY[id(jit)] = jit, memory


def forget_in_memory(jit: Any) -> None:
    """Undo :func:`set_in_memory`: from now on the function is compiled from its file."""
    _IN_MEMORY.pop(id(jit), None)


def in_memory(jit: Any) -> InMemory | None:
    """Return the value that :func:`set_in_memory` stored; None for a function that kprof imported from its file."""
    known = _IN_MEMORY.get(id(jit))
    return known[1] if known is not None else None


def uses_of(jit: Any) -> dict[str, str]:
    """Describe a Triton function and everything that it uses from outside it.

    Returns:
        Names mapped to texts: the function's own name, its globals and closure variables (``UNROLL``), attributes of
        modules (``helper.SCALE``), and what its helpers use (``helper: SCALE``). Functions are described by a digest of
        their source, which is the same in every process.
    """
    found: dict[str, str] = {}
    _describe(jit, jit.fn.__name__, "", found, set())
    return found


def differences(one: Mapping[str, str], other: Mapping[str, str]) -> list[str]:
    """Return the sorted names whose descriptions differ, including names that only one of the mappings contains.

    If a helper itself differs, the names that it uses are left out.
    """
    names = {name for name in {*one, *other} if one.get(name) != other.get(name)}
    return sorted(name for name in names if name.rpartition(": ")[0] not in names)


def _describe(function: Any, label: str, prefix: str, found: dict[str, str], seen: set[int]) -> None:
    """Add a function's description to ``found`` under ``label``, and the descriptions of everything that it uses.

    The keys of its defaults, globals and helpers begin with ``prefix``.
    """
    found[label] = _of_source(function)
    if id(function) in seen:
        return
    seen.add(id(function))
    for parameter in getattr(function, "params", ()):
        if getattr(parameter, "has_default", False):
            found[f"{prefix}{parameter.name}="] = _text(parameter.default)
    for used, value in references(function):
        helper = None if is_tritons_own(value) else source_function(value)
        if helper is None:
            found[f"{prefix}{used}"] = _text(value)
        else:
            _describe(helper, f"{prefix}{used}", f"{prefix}{used}: ", found, seen)


def references(function: Any) -> Iterator[tuple[str, Any]]:
    """Yield the names in a Triton function that refer to something outside it, each with its current value.

    Attributes of modules and classes count as names of their own: ``tl.load``.
    """
    source = source_of(function)
    free = free_names(source)
    scope = {**function.fn.__globals__, **inspect.getclosurevars(function.fn).nonlocals}
    own = function.fn.__name__
    known = {
        name: scope[name]
        for name in free
        if name in scope and name != own and scope[name] is not getattr(builtins, name, scope)
    }
    yielded: set[str] = set()
    for node in ast.walk(ast.parse(source)):
        for name, value in _chain(node, known):
            if name not in yielded:
                yielded.add(name)
                yield name, value


def _chain(node: ast.AST, known: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """Yield a name with its value, or an attribute chain as long as each part is a module or a class."""
    if isinstance(node, ast.Name) and node.id in known:
        yield node.id, known[node.id]
    if not isinstance(node, ast.Attribute):
        return
    parts: list[str] = []
    root: ast.AST = node
    while isinstance(root, ast.Attribute):
        parts.insert(0, root.attr)
        root = root.value
    if not isinstance(root, ast.Name) or root.id not in known:
        return
    name, value = root.id, known[root.id]
    for part in parts:
        if not isinstance(value, ModuleType | type) or not hasattr(value, part):
            return
        name, value = f"{name}.{part}", getattr(value, part)
        yield name, value


def source_of(function: Any) -> str:
    """Return the source of a Triton function from ``def`` on, without decorators."""
    return textwrap.dedent(str(function.src))


def free_names(source: str) -> set[str]:
    """Return the names that a function takes from outside it, including those in its annotations and defaults."""
    found: set[str] = set()
    waiting = [symtable.symtable(source, "<kernel>", "exec")]
    while waiting:
        table = waiting.pop()
        outside = table.get_type() == "module"
        found |= {s.get_name() for s in table.get_symbols() if s.is_referenced() and (outside or s.is_global())}
        waiting += table.get_children()
    return found


def _of_source(function: Any) -> str:
    kind = "inlined" if not getattr(function, "noinline", None) else "not inlined"
    text = f"{kind}\n{source_of(function).rstrip()}"
    return f"the function {function.fn.__name__} ({_digest(text)})"


def _text(value: Any, depth: int = 0) -> str:
    """Return a value as text that is the same in every process."""
    if type(value) in _PLAIN:
        return repr(value)
    if depth > _MAX_DEPTH:
        return "..."
    if type(value) in {tuple, list, set, frozenset}:
        parts = [_text(item, depth + 1) for item in value]
        return f"{type(value).__name__}({', '.join(sorted(parts) if isinstance(value, set | frozenset) else parts)})"
    if type(value) is dict:
        return f"{{{', '.join(f'{_text(key)}: {_text(item, depth + 1)}' for key, item in value.items())}}}"
    if is_tritons_own(value):
        return f"{value.__module__}.{getattr(value, '__qualname__', value.__name__)}"
    kind = type(value).__module__, type(value).__name__
    if kind == ("triton.language.core", "constexpr"):
        return _text(value.value, depth + 1)
    if kind == ("triton.language.core", "dtype"):
        return str(value.name)
    if isinstance(value, ModuleType):
        file = getattr(value, "__file__", None)
        return f"the module {Path(file).absolute() if file else value.__name__}"
    helper = source_function(value)
    if helper is not None:
        return _of_source(helper)
    if isinstance(value, FunctionType):
        return f"the function {value.__name__} ({_digest(_code_text(inspect.unwrap(value), depth + 1))})"
    if isinstance(value, type):
        return f"the class {value.__qualname__}"
    return _stable_repr(value)


def _stable_repr(value: Any) -> str:
    """Return the ``repr`` of a user-defined object, or its type if the ``repr`` contains a memory address."""
    try:
        shown = repr(value)
    except Exception:  # noqa: BLE001 - a user-defined class may raise any exception
        shown = " at 0x"
    return shown if " at 0x" not in shown else f"a {type(value).__name__}"


def _code_text(function: Any, depth: int) -> str:
    """Return a description of a Python function without its location: instructions, constants, names and closure."""
    if not isinstance(function, FunctionType):
        return repr(type(function))
    cells = [cell.cell_contents for cell in function.__closure__ or ()]
    enclosed = [_text(cell) if type(cell) in _PLAIN else type(cell).__name__ for cell in cells]
    return "\n".join((_instructions(function.__code__), _text(function.__defaults__, depth), *enclosed))


def _instructions(code: CodeType) -> str:
    lines = []
    for one in dis.get_instructions(code):
        inner = _instructions(one.argval) if isinstance(one.argval, CodeType) else _text(one.argval)
        lines.append(f"{one.opname} {inner}")
    return "\n".join(lines)


def is_tritons_own(value: Any) -> bool:
    """Return whether a function or class belongs to Triton itself. Its code's location decides, not only its name."""
    module = str(getattr(value, "__module__", ""))
    if module != "triton" and not module.startswith("triton."):
        return False
    if isinstance(value, type):
        return True
    helper = source_function(value)
    function = inspect.unwrap(value if helper is None else helper.fn) if callable(value) else None
    return isinstance(function, FunctionType) and "/triton/" in function.__code__.co_filename.replace("\\", "/")


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode(errors="surrogatepass")).hexdigest()[:_DIGITS]
