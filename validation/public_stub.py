"""Generate ``kprof/__init__.pyi``, which describes the public functions and options to type checkers."""

import ast
import builtins
import importlib
import inspect
import textwrap
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from kprof.options.keywords import options_of
from kprof.options.option import Declared, declared

_HEAD = '"""What type checkers and editors know of ``kprof``; made by ``make docs`` from ``kprof.options``."""\n\n'
_PLAIN = (bool, int, float, str, type(None))
_ALWAYS = {"Any": "typing", "Mapping": "collections.abc", "Sequence": "collections.abc"}


def stub(public: dict[str, str]) -> str:
    """Return the file's text.

    Args:
        public: names to the modules that define them.
    """
    imports: dict[str, str] = dict(_ALWAYS)
    functions: list[str] = []
    lines = ["import os", "from kprof.version import __version__ as __version__"]
    for name, module in sorted(public.items()):
        value = getattr(importlib.import_module(module), name)
        if hasattr(value, "view"):
            imports[value.view.__name__] = module
            functions.append("\n".join(_view(value, name, imports)))
        elif hasattr(value, "__wrapped__") and "options" in inspect.signature(value.__wrapped__).parameters:
            functions.append("\n".join(_functions(value, name, imports)))
        else:
            lines.append(f"from {module} import {name} as {name}")
    lines += [f"from {module} import {name}" for name, module in imports.items()]
    return _HEAD + "\n".join(lines) + f"\n\n__all__ = {sorted([*public, '__version__'])}\n\n" + "\n".join(functions)


def _view(function: Callable[..., Any], name: str, imports: dict[str, str]) -> Iterator[str]:
    """Return the definition of a view's function, which is not in any source file."""
    known = {"TargetLike": "kprof.targets.target", "Callable": "collections.abc",
             "Progress": "kprof.tuning.search_result"}  # fmt: skip
    shown = []
    for each in inspect.signature(inspect.unwrap(function)).parameters.values():
        if each.name == "options":
            shown += [*([] if "*" in "".join(shown) else ["*"]), *map(_option, declared(options_of(function)))]
            continue
        imports |= {word: origin for word, origin in known.items() if word in str(each.annotation)}
        if each.kind is inspect.Parameter.KEYWORD_ONLY and "*" not in "".join(shown):
            shown.append("*")
        star = "*" if each.kind is inspect.Parameter.VAR_POSITIONAL else ""
        default = "" if each.default is inspect.Parameter.empty else " = ..."
        shown.append(f"{star}{each.name}: {each.annotation}{default}")
    yield f"def {name}({', '.join(shown)}) -> {function.view.__name__}:"  # type: ignore[attr-defined]  # a view's
    yield textwrap.indent(f'"""{inspect.cleandoc(function.__doc__ or "")}\n"""', "    ")


def _functions(function: Callable[..., Any], name: str, imports: dict[str, str]) -> Iterator[str]:
    """Return the definitions of a function: one, or its overloads."""
    inner = inspect.unwrap(function)
    tree = ast.parse(Path(inspect.getfile(inner)).read_text(encoding="utf-8"))
    found = [node for node in tree.body if isinstance(node, ast.FunctionDef) and node.name == name]
    for node in found[:-1] or found:
        _collect(node, inner.__module__, tree, imports)
        if len(found) > 1:
            imports["overload"] = "typing"
            yield "@overload"
        yield f"def {name}({', '.join(_parameters(node, function))}) -> {_text(node.returns)}:"
        yield textwrap.indent(f'"""{inspect.cleandoc(function.__doc__ or "")}\n"""', "    ")


def _parameters(node: ast.FunctionDef, function: Callable[..., Any]) -> Iterator[str]:
    arguments = node.args
    defaults = len(arguments.args) - len(arguments.defaults)
    for place, each in enumerate(arguments.args):
        yield f"{each.arg}: {_text(each.annotation)}{' = ...' if place >= defaults else ''}"
    yield "*" if arguments.vararg is None else f"*{arguments.vararg.arg}: {_text(arguments.vararg.annotation)}"
    for each, default in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True):
        if each.arg == "options":
            yield from map(_option, declared(options_of(function)))
        else:
            yield f"{each.arg}: {_text(each.annotation)}{'' if default is None else ' = ...'}"


def _option(each: Declared) -> str:
    return f"{each.name}: {each.accepts} = {each.default!r}" if isinstance(each.default, _PLAIN) else (
        f"{each.name}: {each.accepts} = ..."
    )  # fmt: skip


def _text(annotation: ast.expr | None) -> str:
    """Return an annotation without the quotes that defer its evaluation."""

    class Unquoted(ast.NodeTransformer):
        def visit_Constant(self, node: ast.Constant) -> ast.expr:
            return ast.parse(node.value, mode="eval").body if isinstance(node.value, str) else node

    assert annotation is not None
    return ast.unparse(Unquoted().visit(annotation))


def _collect(node: ast.FunctionDef, module: str, tree: ast.Module, imports: dict[str, str]) -> None:
    """Record the modules that the names in a function's annotations come from."""
    origins = {
        alias.asname or alias.name: each.module or ""
        for each in ast.walk(tree)
        if isinstance(each, ast.ImportFrom)
        for alias in each.names
    }
    arguments = node.args
    every = [*arguments.args, *arguments.kwonlyargs, *([arguments.vararg] if arguments.vararg else ())]
    annotations = [each.annotation for each in every if each.arg != "options"] + [node.returns]
    for annotation in annotations:
        for name in (one.id for one in ast.walk(ast.parse(_text(annotation))) if isinstance(one, ast.Name)):
            if not hasattr(builtins, name) and name != "os":
                origin = origins.get(name, module)
                assert imports.setdefault(name, origin) == origin, f"{name} is of {imports[name]} and of {origin}"
