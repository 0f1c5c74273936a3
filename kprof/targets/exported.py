"""Write a Triton function of a notebook or a running script to a file that other processes can import.

Compile workers import a function from its file. A function in a notebook's cell, in ``__main__`` or inside another
function has no file that can be imported without running the program again. Therefore its source is written to a
separate file, with everything that it refers to: other Triton functions, modules, constants. For a function with a
file, the same text is sent with the request, because the function in memory may differ from the file.
"""

import inspect
import sys
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType
from typing import Any

from kprof.compiler.in_memory import written
from kprof.errors import KprofError, TargetError
from kprof.importing.functions import forget_place, place_of, set_place
from kprof.importing.uses import InMemory, is_tritons_own, references, set_in_memory, source_of, uses_of
from kprof.importing.wrappers import is_interpreted, is_jit, jit_function, layers, source_function

_ALIAS = "_kprof_triton"
_PLAIN = (bool, int, float, str, bytes, type(None))


def make_importable(entry: Any) -> None:
    """Ensure that compile workers find the function inside ``entry``, and compile it as it is in memory now.

    The function is written to a file if workers could not find it otherwise.

    Args:
        entry: a Triton function, possibly wrapped by an autotuner or another wrapper.

    Raises:
        KprofError: if the function refers to an object that cannot be sent to another process.
    """
    if any(is_interpreted(layer) for layer in layers(entry)):
        raise TargetError(
            f"{entry.fn.__name__} is run by Triton's interpreter and cannot be compiled",
            hint="Unset TRITON_INTERPRET before Triton is imported.",
        )
    jit = jit_function(entry)
    if jit is None:
        return
    forget_place(jit)
    if not _is_importable(jit):
        text = _Sources(jit.fn.__name__).text(jit)
        set_place(jit, written(text, _file_stem(jit)), jit.fn.__name__)
    set_in_memory(jit, _in_memory(jit))


def _in_memory(jit: Any) -> InMemory:
    try:
        text, reason = _Sources(jit.fn.__name__, complete=True).text(jit), ""
    except KprofError as error:
        text, reason = "", error.message
    return InMemory(uses_of(jit), text, _file_stem(jit), reason)


def _is_importable(jit: Any) -> bool:
    """Return whether importing a function's file gives this function, without running a program."""
    path, name = place_of(jit)
    module = getattr(jit.fn, "__module__", None)
    return module != "__main__" and "<locals>" not in name and path.suffix == ".py" and path.is_file()


@dataclass
class _Sources:
    """Contents of the file to write.

    Attributes:
        owner: name of the function that is written.
        complete: True to also write helpers that could be imported from their files, because they may differ in memory.
        lines: imports and constants by the name that they define.
        functions: further Triton functions by name.
    """

    owner: str
    complete: bool = False
    lines: dict[str, str] = field(default_factory=dict)
    functions: dict[str, Any] = field(default_factory=dict)

    def add(self, jit: Any) -> None:
        """Add a function (also a ``@triton.constexpr_function``) with everything that it refers to."""
        name = jit.fn.__name__
        known = self.functions.get(name)
        if known is jit:
            return
        if known is not None:
            raise self._refused(name, "two different functions")
        self.functions[name] = jit
        for used, value in references(jit):
            # A name with a dot is an attribute of a module, which is imported as a whole.
            if "." not in used:
                self._add_reference(used, value)

    def _add_reference(self, name: str, value: Any) -> None:
        inner = None if is_tritons_own(value) else source_function(value)
        if inner is None or (not self.complete and not is_jit(inner) and inner.fn.__module__ != "__main__"):
            self._define(name, self._statement(name, value))
        elif not self.complete and _is_importable(inner):
            path, place = place_of(inner)
            loads = f"{_ALIAS}_load({str(path)!r}, {place!r}).jit"
            self._define(name, f"{name} = {loads}")
        else:
            self.add(inner)
            if inner.fn.__name__ != name:
                self._define(name, f"{name} = {inner.fn.__name__}", last=True)

    def _define(self, name: str, line: str, *, last: bool = False) -> None:
        key = f"~{name}" if last else name
        if self.lines.setdefault(key, line) != line:
            raise self._refused(name, "defined differently in two places")

    def _statement(self, name: str, value: Any) -> str:
        literal = _literal(value)
        if literal is not None:
            return f"{name} = {literal}"
        if isinstance(value, ModuleType) and value.__name__ != "__main__":
            return f"import {value.__name__} as {name}"
        module, place = getattr(value, "__module__", None), getattr(value, "__qualname__", None)
        found: Any = sys.modules.get(module) if isinstance(module, str) and module != "__main__" else None
        for part in str(place).split(".") if found is not None else ():
            found = getattr(found, part, None)
        if found is not None and found is value:
            return f"import {module} as {_ALIAS}_module; {name} = {_ALIAS}_module.{place}"
        raise self._refused(name, f"a {type(value).__name__}")

    def _refused(self, name: str, what: str) -> KprofError:
        return TargetError(
            f"{self.owner} cannot be sent to another process: it refers to {name!r}, which is {what}",
            hint="Move the function with what it needs into a module, or give kprof FILE.py::FUNCTION.",
        )

    def text(self, jit: Any) -> str:
        """Return the text of the file with a function. Line numbers are kept if the preceding lines leave enough room.

        Raises:
            KprofError: if the function refers to an object that source code cannot express.
        """
        self.add(jit)
        first = [line for key, line in self.lines.items() if not key.startswith("~")]
        last = [line for key, line in self.lines.items() if key.startswith("~")]
        head = [
            f"import triton as {_ALIAS}, triton.language as {_ALIAS}_language",
            f"from kprof.importing.functions import load_function as {_ALIAS}_load",
            *first,
        ]
        lines = ["; ".join(head)]
        for function in sorted(self.functions.values(), key=lambda one: one.fn.__code__.co_firstlineno):
            source = source_of(function)
            # The decorator goes into the line before the definition.
            lines.extend([""] * (_line_of(function) - 2 - len(lines)))
            lines.extend((_decorator(function), *source.rstrip().splitlines()))
        return "\n".join([*lines, *last, ""])


def _line_of(jit: Any) -> int:
    """Return the line number of ``def``, which follows the decorators."""
    decorators = next((at for at, line in enumerate(_lines(jit)) if line.lstrip().startswith("def ")), 0)
    return int(jit.starting_line_number) + decorators


def _decorator(jit: Any) -> str:
    if not is_jit(jit):
        return f"@{_ALIAS}.constexpr_function"
    gluon = jit.is_gluon() if hasattr(jit, "is_gluon") else False
    where = "__import__('triton.experimental.gluon', fromlist=['jit'])" if gluon else _ALIAS
    return f"@{where}.jit(noinline=True)" if getattr(jit, "noinline", None) else f"@{where}.jit"


def _literal(value: Any) -> str | None:
    """Return a value as a Python expression; ``None`` if there is none."""
    if type(value) in _PLAIN:
        return f"float({str(value)!r})" if isinstance(value, float) else repr(value)
    if type(value) in {tuple, list}:
        parts = [_literal(item) for item in value]
        inner = ", ".join(part for part in parts if part is not None) + ("," if type(value) is tuple and parts else "")
        return None if None in parts else (f"({inner})" if type(value) is tuple else f"[{inner}]")
    kind = type(value).__module__, type(value).__name__
    if kind == ("triton.language.core", "constexpr"):
        literal = _literal(value.value)
        return None if literal is None else f"{_ALIAS}_language.constexpr({literal})"
    if kind == ("triton.language.core", "dtype"):
        return f"{_ALIAS}_language.dtype({value.name!r})"
    return None


def _file_stem(jit: Any) -> str:
    """Return a file name that shows the function's origin: the script's name, or in a notebook the function's name."""
    stem = Path(jit.fn.__code__.co_filename).stem
    return stem if stem.isidentifier() else str(jit.fn.__name__)


def _lines(jit: Any) -> list[str]:
    """Return the source lines of a function including decorators; Triton before 3.5 does not store them."""
    kept = getattr(jit, "raw_src", None)
    return list(kept) if kept is not None else inspect.getsourcelines(jit.fn)[0]
