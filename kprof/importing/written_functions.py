"""Write Triton functions to a file that contains nothing else, even if Python code created them dynamically.

The file contains the functions' source and the helpers, constants and members of Triton that it names. Lines keep their
numbers.
"""

import ast
import inspect
import math
import textwrap
from collections.abc import Iterator
from types import ModuleType
from typing import Any

from kprof.errors import TargetError
from kprof.importing.plain_functions import CONFIG, FormError
from kprof.importing.wrappers import kernel_function

_LANGUAGE = "_language"


def text_of(module: ModuleType, name: str) -> str:
    """Return the text of a file that defines this Triton function, its helpers and constants, and ``CONFIG``.

    Args:
        module: the imported file.
        name: name of the function.

    Raises:
        FormError: a function uses something that is not part of Triton, a constant or a Triton function.
        TargetError: a function's source is not available.
    """
    file = _File()
    file.add_function(name, kernel_function(getattr(module, name)))
    config = getattr(module, CONFIG, None)
    if config is not None:
        file.add_constant(CONFIG, config)
    return file.text


class _File:
    """Builder of the file: imports and constants on its first line, functions at their original line numbers."""

    def __init__(self) -> None:
        self._head = ["import triton", f"import triton.language as {_LANGUAGE}"]
        self._names: dict[str, Any] = {}
        self._functions: list[tuple[int, str]] = []

    @property
    def text(self) -> str:
        """Text of the file; each function keeps its original line number."""
        lines = ["; ".join(self._head)]
        for line, text in sorted(self._functions):
            lines += [""] * (line - 1 - len(lines))
            lines += text.splitlines()
        return "\n".join(lines) + "\n"

    def add_function(self, name: str, function: Any) -> None:
        """Add a Triton function and everything that it uses."""
        self._names[name] = function
        source, line = _source(function)
        tree = ast.parse(source)
        (definition,) = tree.body
        if not isinstance(definition, ast.FunctionDef):
            raise FormError(f"{name} is not a function")
        head = source.replace(f"def {definition.name}", f"def {name}", 1)
        decorator = f"@triton.jit{_decorator_arguments(function)}"
        self._functions.append((line - 1, f"{decorator}\n{head}"))
        for used in _free_names(definition):
            self._add(used, function)

    def add_constant(self, name: str, value: Any) -> None:
        """Add a constant whose value is a literal."""
        if not _is_literal(value):
            raise FormError(f"{name} is not a literal: {type(value).__name__}")
        self._head.append(f"{name} = {value!r}")

    def _add(self, name: str, function: Any) -> None:
        import triton
        from triton.language.core import constexpr

        value = _value_of(function, name)
        if value is _Missing:
            return
        if name in self._names:
            if self._names[name] is not value and not _are_equal(self._names[name], value):
                raise FormError(f"two different values are called {name}")
            return
        self._names[name] = value
        if value is triton:
            return
        if isinstance(value, ModuleType):
            self._head.append(_import_of(value, name))
        elif kernel_function(value) is not None and not _is_of_triton(value):
            self.add_function(name, kernel_function(value))
        elif isinstance(value, constexpr) and _is_literal(value.value):
            self._head.append(f"{name} = {_LANGUAGE}.constexpr({value.value!r})")
        elif _is_literal(value):
            constant = f"{_LANGUAGE}.constexpr({value!r})" if _is_annotated(function, name) else repr(value)
            self._head.append(f"{name} = {constant}")
        else:
            self._head.append(_member_of_triton(value, name))


class _Missing:
    """Marker for a name that a function's file does not define."""


def _source(function: Any) -> tuple[str, int]:
    """Return a function's source from ``def`` on, and the line of its ``def``."""
    text = getattr(function, "src", None)
    if not isinstance(text, str):
        raise TargetError("the source of a function is not available")
    raw = getattr(function, "raw_src", None) or _raw_lines(function)
    before = next((number for number, line in enumerate(raw) if str(line).lstrip().startswith("def ")), 0)
    return textwrap.dedent(text), int(function.starting_line_number) + before


def _raw_lines(function: Any) -> list[str]:
    """Return the lines of a function with its decorators, which Triton before 3.5 does not store."""
    try:
        return inspect.getsourcelines(function.fn)[0]
    except (OSError, TypeError):
        return []


def _decorator_arguments(function: Any) -> str:
    words = []
    for name in ("do_not_specialize", "do_not_specialize_on_alignment", "noinline"):
        value = getattr(function, name, None)
        if value and _is_literal(value if isinstance(value, bool) else list(value)):
            words.append(f"{name}={value if isinstance(value, bool) else list(value)!r}")
    return f"({', '.join(words)})" if words else ""


def _free_names(definition: ast.FunctionDef) -> Iterator[str]:
    """Yield the names that a function's source reads and does not assign."""
    names = [node for node in ast.walk(definition) if isinstance(node, ast.Name)]
    own = {node.id for node in names if not isinstance(node.ctx, ast.Load)}
    own |= {node.arg for node in ast.walk(definition) if isinstance(node, ast.arg)}
    yield from dict.fromkeys(node.id for node in names if node.id not in own)


def _value_of(function: Any, name: str) -> Any:
    python = function.fn
    cells = dict(zip(python.__code__.co_freevars, python.__closure__ or (), strict=True))
    if name in cells:
        try:
            return cells[name].cell_contents
        except ValueError:
            return _Missing
    return python.__globals__.get(name, _Missing)


def _is_annotated(function: Any, name: str) -> bool:
    """Return whether a global is declared as ``NAME: tl.constexpr``, which makes it a constant for Triton."""
    annotation = function.fn.__globals__.get("__annotations__", {}).get(name, "")
    return "constexpr" in str(annotation)


def _is_literal(value: Any) -> bool:
    if isinstance(value, dict):
        return all(map(_is_literal, (*value, *value.values())))
    if isinstance(value, list | tuple):
        return all(map(_is_literal, value))
    if isinstance(value, float):
        return math.isfinite(value)
    return value is None or isinstance(value, bool | int | str)


def _are_equal(one: Any, other: Any) -> bool:
    return _is_literal(one) and _is_literal(other) and type(one) is type(other) and bool(one == other)


def _import_of(module: ModuleType, name: str) -> str:
    place, _, leaf = module.__name__.rpartition(".")
    if module.__name__ in {"math", "triton.language"}:
        return f"import {module.__name__} as {name}"
    return f"from {place or leaf} import {leaf} as {name}"


def _is_of_triton(function: Any) -> bool:
    return str(getattr(kernel_function(function).fn, "__module__", "")).startswith("triton.")


def _member_of_triton(value: Any, name: str) -> str:
    """Return an import line for a member of Triton's language.

    Raises:
        FormError: the value is not a member of Triton.
    """
    from importlib import import_module

    own = str(getattr(getattr(value, "fn", value), "__module__", ""))
    for place in ("triton.language", "triton", *([own] if own.startswith("triton.language.") else [])):
        for member, known in vars(import_module(place)).items():
            if known is value and not member.startswith("_"):
                return f"from {place} import {member} as {name}"
    raise FormError(f"uses {name}, which is neither a constant, a Triton function nor a part of Triton's language")
