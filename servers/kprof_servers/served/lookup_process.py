"""Run a server's own lookup functions, and no other code of the server, in a process with only the standard library.

A server imports half a gigabyte of packages and needs a GPU before it looks up a file, but the lookup itself is a few
lines. Only these are executed: the function, and the definitions that it uses, from its own file and from other files
of the checkout. Other names (torch, the platform, the logger) get stand-ins that describe the simulated GPU.

Standard input: ``{"root", "device", "arch", "triton", "calls": [{"file", "function", "options"}]}``. Standard output:
a list with, for each call, ``{"asked": [paths], "opened": path or null, "result": value}`` or ``{"error": text}``.
"""

import ast
import builtins
import functools
import importlib
import inspect
import json
import logging
import os
import re
import sys
import warnings
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

STANDARD = (
    "copy",
    "functools",
    "itertools",
    "json",
    "math",
    "os",
    "re",
    "typing",
    "collections",
    "dataclasses",
    "warnings",
)
"""Modules that are really imported; all others get stand-ins."""


class MissingStandIn:
    """Stand-in for a name that a lookup should not need; using it raises an error that names it."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, part: str) -> Any:
        raise LookupError(f"the lookup needs {self._name}.{part}, which kprof has no stand-in for")

    def __call__(self, *_: Any, **__: Any) -> Any:
        raise LookupError(f"the lookup calls {self._name}, which kprof has no stand-in for")


class _Settings:
    """Stand-in for the server's settings: paths come from environment variables, and all other settings are False."""

    def __getattr__(self, name: str) -> Any:
        return os.environ.get(name) if name.endswith(("_FOLDER", "_DIR", "_PATH")) else False


class _Arch(str):
    """Name of an architecture that also has the attributes of AITER's architecture object."""

    __slots__ = ()

    @property
    def name(self) -> str:
        return str(self)

    @property
    def is_rdna(self) -> bool:
        return self.startswith(("gfx10", "gfx11", "gfx12")) and self != "gfx1250"


def stand_ins(device: str, arch: str, triton: str) -> dict[str, Any]:
    """Return the stand-ins for names that lookup functions import, keyed by the last part of the imported name."""
    platform = SimpleNamespace(
        get_device_name=lambda *_: device.replace("_", " "),
        is_rocm=lambda: True,
        is_cuda=lambda: False,
        is_cuda_alike=lambda: True,
        is_xpu=lambda: False,
        is_cpu=lambda: False,
    )
    cuda = SimpleNamespace(
        get_device_name=platform.get_device_name, is_available=lambda: True, current_device=lambda: 0
    )
    logger = logging.getLogger("lookup")
    logger.disabled = True
    warnings.simplefilter("ignore")
    for name in ("warning_once", "info_once", "debug_once"):
        setattr(logger, name, lambda *_, **__: None)
    return {
        "torch": SimpleNamespace(
            cuda=cuda,
            float=object(),
            float32=object(),
            bfloat16="bfloat16",
            float16="float16",
            uint8="uint8",
            _dynamo=SimpleNamespace(is_compiling=lambda: False),
        ),
        "triton": SimpleNamespace(
            __version__=triton, cdiv=lambda a, b: -(-a // b), next_power_of_2=lambda n: 1 << max(n - 1, 0).bit_length()
        ),
        "e4m3_dtype": "float8_e4m3",
        "current_platform": platform,
        "envs": _Settings(),
        "logger": logger,
        "init_logger": lambda *_: logger,
        "logging": SimpleNamespace(getLogger=lambda *_: logger),
        "log_info_on_rank0": lambda *_, **__: None,
        "arch_info": SimpleNamespace(get_arch=lambda: arch),
        "get_arch": lambda: _Arch(arch),
        "is_hip": lambda: True,
        "is_cuda": lambda: False,
        "is_musa": lambda: False,
        "is_xpu": lambda: False,
        "is_npu": lambda: False,
        "get_config": lambda: None,
        "get_exec": lambda: SimpleNamespace(deterministic=SimpleNamespace(enable_deterministic_inference=False)),
        "get_global_server_args": lambda: SimpleNamespace(enable_deterministic_inference=False),
    }


def module_files(root: Path, file: Path, node: ast.ImportFrom) -> Iterator[Path]:
    """Yield the existing files of a checkout that an import statement in ``file`` may refer to."""
    base = file.parents[node.level - 1] if node.level else root
    parts = (node.module or "").split(".") if node.module else []
    for place in (base.joinpath(*parts).with_suffix(".py"), base.joinpath(*parts, "__init__.py")):
        if place.is_file():
            yield place


def owner_of(root: Path, file: Path, name: str) -> Path | None:
    """Return the file that defines a name used in ``file``: itself, or a file imported with ``import *``."""
    for node in statements(tree_of(file)):
        if name in names_defined(node):
            return file
        if isinstance(node, ast.ImportFrom) and any(alias.name == "*" for alias in node.names):
            for place in module_files(root, file, node):
                owner = owner_of(root, place, name) if place != file else None
                if owner is not None:
                    return owner
    return None


class LookupModules:
    """Namespaces for files of a checkout, in which only called functions and the names that they use are executed."""

    def __init__(self, root: Path, given: dict[str, Any]) -> None:
        self._root = root
        self._given = given
        self._loaded: dict[Path, dict[str, Any]] = {}
        self._done: set[tuple[Path, str]] = set()

    def function(self, file: Path, name: str) -> Any:
        """Return a function of a file, ready to be called.

        Raises:
            LookupError: the file has no such name.
        """
        space = self._loaded.setdefault(file, {"__file__": str(file), "__name__": file.stem, "__builtins__": builtins})
        self._define(file, name, space)
        if name not in space:
            raise LookupError(f"{file} has no {name}")
        return space[name]

    def _define(self, file: Path, name: str, space: dict[str, Any]) -> None:
        if (file, name) in self._done:
            return
        self._done.add((file, name))
        if name in self._given:
            space[name] = self._given[name]
            return
        owner = owner_of(self._root, file, name)
        if owner is not None and owner != file:
            space[name] = self.function(owner, name)
            return
        for node in statements(tree_of(file)):
            if name not in names_defined(node):
                continue
            if isinstance(node, ast.Import | ast.ImportFrom):
                space[name] = self._imported(file, node, name)
                continue
            plain = _Plain().visit(node)
            for inner in ast.walk(plain):
                if isinstance(inner, ast.Import | ast.ImportFrom):
                    continue
                if isinstance(inner, ast.Name) and isinstance(inner.ctx, ast.Load) and inner.id != name:
                    self._define(file, inner.id, space)
            _import_nothing(plain, self._inner(file, space))
            module = ast.fix_missing_locations(ast.Module([plain], []))
            exec(compile(module, str(file), "exec"), space)  # noqa: S102 - what this process is for

    def _inner(self, file: Path, space: dict[str, Any]) -> Any:
        """Return a callback that makes the names of an import inside a function global names of the function's file."""

        def found(node: ast.Import | ast.ImportFrom) -> None:
            for name in names_defined(node):
                space[name] = self._given[name] if name in self._given else self._imported(file, node, name)

        return found

    def _imported(self, file: Path, node: ast.Import | ast.ImportFrom, name: str) -> Any:
        alias = next(a for a in node.names if (a.asname or a.name.partition(".")[0]) == name)
        module = alias.name if isinstance(node, ast.Import) else node.module or ""
        if module == "regex":
            return re
        if module.partition(".")[0] in STANDARD and not getattr(node, "level", 0):
            loaded = importlib.import_module(module if isinstance(node, ast.ImportFrom) else module.partition(".")[0])
            return getattr(loaded, alias.name) if isinstance(node, ast.ImportFrom) else loaded
        if alias.name in self._given:
            return self._given[alias.name]
        if isinstance(node, ast.ImportFrom):
            for place in module_files(self._root, file, node):
                owner = owner_of(self._root, place, alias.name)
                if owner is not None:
                    return self.function(owner, alias.name)
        return MissingStandIn(f"{module}.{alias.name}")


class _Plain(ast.NodeTransformer):
    """Transformer that removes annotations and decorators, except caches: evaluating them would need more imports."""

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        node.decorator_list = [d for d in node.decorator_list if "cache" in ast.dump(d)]
        node.returns = None
        for argument in (*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs):
            argument.annotation = None
        return self.generic_visit(node)

    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.AST:
        if node.value is None:
            return ast.Pass()
        return ast.Assign([node.target], node.value, lineno=node.lineno, col_offset=node.col_offset)


def _import_nothing(node: ast.AST, found: Any) -> None:
    """Remove imports inside a function, after passing each to ``found``, which defines the imported names."""
    for inner in ast.walk(node):
        for body in ("body", "orelse", "finalbody"):
            lines = getattr(inner, body, None)
            if isinstance(lines, list):
                for place, line in enumerate(lines):
                    if isinstance(line, ast.Import | ast.ImportFrom):
                        found(line)
                        lines[place] = ast.copy_location(ast.Pass(), line)


@functools.cache
def tree_of(file: Path) -> ast.Module:
    """Return the syntax tree of a file."""
    return ast.parse(file.read_text(encoding="utf-8"))


def statements(tree: ast.Module) -> Iterator[ast.stmt]:
    """Yield the top-level statements of a file, including those under ``if`` and ``try``."""
    waiting: list[ast.stmt] = list(tree.body)
    while waiting:
        node = waiting.pop(0)
        if isinstance(node, ast.If | ast.Try):
            waiting = [*node.body, *node.orelse, *waiting]
        else:
            yield node


def names_defined(node: ast.stmt) -> set[str]:
    """Return the names that a statement of a file defines."""
    if isinstance(node, ast.FunctionDef | ast.ClassDef):
        return {node.name}
    if isinstance(node, ast.Import | ast.ImportFrom):
        return {alias.asname or alias.name.partition(".")[0] for alias in node.names}
    if isinstance(node, ast.Assign):
        return {target.id for target in node.targets if isinstance(target, ast.Name)}
    if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
        return {node.target.id}
    return set()


class PathWatch:
    """Records the paths that a lookup tests or opens, and the last one that it opened."""

    def __init__(self) -> None:
        self.paths: dict[str, None] = {}
        self.opened: str | None = None
        self._exists = os.path.exists
        os.path.exists = self._noted_exists
        self._open = builtins.open
        builtins.open = self._opening  # type: ignore[assignment]

    def _noted_exists(self, path: Any) -> bool:
        self._note(path)
        return self._exists(path)

    def _opening(self, path: Any, *arguments: Any, **options: Any) -> Any:
        self._note(path)
        file = self._open(path, *arguments, **options)
        if str(path).endswith((".json", ".csv")):
            self.opened = os.path.realpath(path)
        return file

    def _note(self, path: Any) -> None:
        if str(path).endswith((".json", ".csv")):
            self.paths[os.path.abspath(path)] = None  # noqa: PTH100 - links stay links


def _answer(modules: LookupModules, root: Path, call: dict[str, Any], watch: PathWatch) -> dict[str, Any]:
    watch.paths, watch.opened = {}, None
    try:
        named = modules.function(root / call["file"], call["function"])
        result = named(**_arguments_of(named, call)) if callable(named) else named
        json.dumps(result)
    except Exception as error:  # noqa: BLE001 - foreign code: whatever it raises is its answer
        text = f"{type(error).__name__}: {error}"
        return {"error": text, "asked": list(watch.paths), "opened": watch.opened}
    return {"result": result, "asked": list(watch.paths), "opened": watch.opened}


def _arguments_of(function: Any, call: dict[str, Any]) -> dict[str, Any]:
    """Return the arguments of a call; if it is loose, drop arguments that this version's function does not have."""
    options: dict[str, Any] = call["options"]
    if not call.get("loose"):
        return options
    known = inspect.signature(function).parameters
    return {name: value for name, value in options.items() if name in known}


def main() -> None:
    """Run the calls given on standard input, each with empty caches, and print the answers."""
    wanted = json.load(sys.stdin)
    root = Path(wanted["root"])
    given = stand_ins(wanted["device"], wanted["arch"], wanted["triton"])
    watch = PathWatch()
    # Each call gets new namespaces, because a function with a cached result would not open its file again.
    answers = [_answer(LookupModules(root, given), root, call, watch) for call in wanted["calls"]]
    json.dump(answers, sys.stdout)


if __name__ == "__main__":
    main()
