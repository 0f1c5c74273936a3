"""Read ``triton.Config`` from Python files, such as lists for ``@triton.autotune``. Files are parsed, not executed."""

import ast
import warnings
from collections.abc import Iterator
from pathlib import PurePath
from typing import Any, ClassVar

from kprof_servers.configs.formats.interface import ConfigFormat
from kprof_servers.configs.json_text import JsonNode, JsonPlace
from kprof_servers.configs.model import UNKNOWN, Broken, Bucket, ConfigFile, Knob

_KEYWORDS = ("num_warps", "num_stages", "num_ctas", "maxnreg")
_NOT_KNOBS = {"pre_hook", "ir_override", "kwargs"}
_MAX_NODES = 500_000
ALONE = "alone"
"""First element of :attr:`Bucket.path` for a configuration outside of lists, which is not checked for duplicates."""


class TritonConfig(ConfigFormat):
    """Reader of Python files with calls of ``triton.Config`` or ``Config`` whose settings are literals."""

    name: ClassVar[str] = "triton.Config"
    order: ClassVar[int] = 40
    suffix: ClassVar[str] = ".py"

    def claims(self, path: PurePath) -> bool:
        """See :class:`ConfigFormat`."""
        return path.suffix == ".py"

    def resembles(self, document: JsonNode) -> bool:  # noqa: ARG002 - the base class's
        """Return False: this format is not JSON."""
        return False

    def read(self, path: str, text: str) -> ConfigFile:
        """See :class:`ConfigFormat`."""
        try:
            with warnings.catch_warnings():
                # Warnings about invalid escapes in strings are irrelevant here.
                warnings.simplefilter("ignore")
                tree = ast.parse(text)
        except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
            line, column = getattr(error, "lineno", None) or 1, getattr(error, "offset", None) or 1
            reason = str(getattr(error, "msg", None) or error)
            return ConfigFile(path=path, format=self.name, broken=Broken(JsonPlace(line, max(column, 1)), reason))
        return ConfigFile(path=path, format=self.name, buckets=tuple(_buckets(tree)))


def _buckets(tree: ast.AST) -> Iterator[Bucket]:
    """Yield the configurations in file order. The path of each names its tuned function or the line of its list."""
    owners = {
        id(inner): f"list in line {node.lineno}"
        for node in _walk(tree)
        if isinstance(node, ast.List)
        for inner in node.elts
    }
    owners |= {id(call): name for name, call in _decorated(tree)}
    calls = [node for node in _walk(tree) if isinstance(node, ast.Call) and _is_config(node)]
    for call in sorted(calls, key=lambda c: (c.lineno, c.col_offset)):
        knobs = tuple(_knobs(call))
        if knobs:
            path = (owners.get(id(call), ALONE), f"line {call.lineno}")
            yield Bucket(path, JsonPlace(call.lineno, call.col_offset + 1), knobs)


def _walk(tree: ast.AST) -> Iterator[ast.AST]:
    for number, node in enumerate(ast.walk(tree)):
        if number > _MAX_NODES:
            return
        yield node


def _decorated(tree: ast.AST) -> Iterator[tuple[str, ast.Call]]:
    for node in _walk(tree):
        if isinstance(node, ast.FunctionDef):
            for decorator in node.decorator_list:
                for inner in ast.walk(decorator):
                    if isinstance(inner, ast.Call):
                        yield node.name, inner


def _is_config(call: ast.Call) -> bool:
    function = call.func
    if isinstance(function, ast.Attribute):
        return function.attr == "Config" and isinstance(function.value, ast.Name) and function.value.id == "triton"
    # Other classes are called Config, too. Triton's class is recognised by its first argument, a dictionary.
    return (
        isinstance(function, ast.Name)
        and function.id == "Config"
        and bool(call.args[:1])
        and isinstance(call.args[0], ast.Dict)
    )


def _knobs(call: ast.Call) -> Iterator[Knob]:
    for argument in [*call.args[:1], *(k.value for k in call.keywords if k.arg == "kwargs")]:
        if isinstance(argument, ast.Dict):
            for key, value in zip(argument.keys, argument.values, strict=True):
                if isinstance(key, ast.Constant) and isinstance(key.value, str):
                    yield Knob(key.value, _literal(value), JsonPlace(key.lineno, key.col_offset + 1))
    for name, value in zip(_KEYWORDS, call.args[1:], strict=False):
        yield Knob(name, _literal(value), JsonPlace(value.lineno, value.col_offset + 1))
    for keyword in call.keywords:
        if keyword.arg is not None and keyword.arg not in _NOT_KNOBS:
            yield Knob(keyword.arg, _literal(keyword.value), JsonPlace(keyword.lineno, keyword.col_offset + 1))


def _literal(node: ast.expr) -> Any:
    """Return the value of a literal, or :data:`UNKNOWN` if the expression is not a literal."""
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub) and isinstance(node.operand, ast.Constant):
        number = node.operand.value
        return -number if isinstance(number, int | float) else UNKNOWN
    if isinstance(node, ast.Constant) and isinstance(node.value, int | float | str | None):
        return node.value
    return UNKNOWN
