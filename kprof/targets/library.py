"""Load kernels by name: bundled kernels, and kernels in a user's own file.

A target is a bundled kernel's name (``gemm``), one of its further functions (``gemm::reduce``), a Python file with a
``KERNEL`` or, as ``file.py::function``, any ``@triton.jit`` function.

Loading a file runs it, as ``import`` does. :func:`catalogue` reads files without running anything.
"""

import ast
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

from kprof.errors import InputError, TargetError, near
from kprof.importing.functions import find_entry, triton_functions
from kprof.importing.loading import load_module
from kprof.importing.permission import own_folder
from kprof.importing.uses import forget_in_memory
from kprof.importing.wrappers import jit_function, kernel_function, other_language
from kprof.inputs import boundary
from kprof.kernel_spec import Config, Kernel, Launch, Shape


@dataclass(frozen=True)
class KernelSummary:
    """Facts about a kernel from the text of its file: name, summary, names of cases, checks and parts."""

    name: str
    path: Path
    summary: str
    cases: tuple[str, ...]
    checks: tuple[str, ...]
    parts: tuple[str, ...]


def bundled() -> dict[str, Path]:
    """Return the files of bundled kernels, sorted by name. A file whose name begins with ``_`` is not a kernel."""
    return {p.stem: p for p in sorted(own_folder().glob("*.py")) if not p.stem.startswith("_")}


def load(target: str, *, interpret: bool = True) -> Kernel:
    """Load a kernel by its name or path.

    Args:
        target: ``softmax``, ``gemm::reduce``, ``my.py`` or ``my.py::function``.
        interpret: see :func:`kprof.importing.loading.load_module`; False for kernels to be compiled.

    Raises:
        KprofError: if the kernel, file or function does not exist, or the file cannot be imported.
    """
    place, _, function = target.partition("::")
    known = bundled()
    if place in known:
        kernel = load_file(known[place], interpret=interpret)
        return kernel.part(function) if function and function != _name_of(kernel.entry) else kernel
    if is_python(place):
        return load_file(Path(place), function or None, interpret=interpret)
    if "/" in place or Path(place).exists():
        raise not_python(place)
    raise TargetError(
        f"no kernel {place!r}{near(place, list(known))}",
        hint="'kprof list kernels' shows the bundled ones; a file of your own is given as file.py::function",
    )


def is_python(place: str) -> bool:
    """Return whether a file may be imported as Python, judged by its suffix alone."""
    return place.endswith(".py")


def not_python(place: str) -> TargetError:
    """Return the error for a file that was given with a function's name, but is not a Python file."""
    return TargetError(
        "is not a Python file, so it is not imported",
        path=place,
        hint="FILE.py::FUNCTION names a function; compiled code, captures and folders are given without ::FUNCTION.",
    )


def load_file(path: Path | str, function: str | None = None, *, interpret: bool = True) -> Kernel:
    """Load the kernel that a file describes, or one of its functions.

    Without a ``KERNEL`` in the file the result has no cases and its ``launch`` raises; the caller then provides the
    signature.

    Args:
        path: a Python file. It is run, with its folder on the import path.
        function: a ``@triton.jit`` function or a part of ``KERNEL``; by default ``KERNEL`` itself, or the file's only
            function.
        interpret: see :func:`load`.

    Raises:
        KprofError: if the file is missing, is not Python, fails while it runs, or has no such kernel.
    """
    path = Path(path)
    module = load_module(path, interpret=interpret)
    # The function object itself may have been analysed before; a target named by its file means the code in the file.
    for name in triton_functions(module):
        forget_in_memory(jit_function(getattr(module, name)))
    described = getattr(module, "KERNEL", None)
    if described is not None and not isinstance(described, Kernel):
        raise TargetError(f"KERNEL is a {type(described).__name__}, not a kprof.kernel_spec.Kernel", path=str(path))
    if described is not None and kernel_function(described.entry) is None:
        raise TargetError(
            f"the entry of KERNEL is a {type(described.entry).__name__}, not a Triton function", path=str(path)
        )
    if described is not None and function in {None, described.name, _name_of(described.entry)}:
        return described
    if described is not None and function is not None and function in described.parts:
        return described.part(function)
    _refuse_other_languages(module, path, function)
    return bare(_only_function(module, path) if function is None else find_entry(module, path, function))


def catalogue() -> Iterator[KernelSummary]:
    """Yield facts about the bundled kernels. Nothing is imported, so Triton need not be installed."""
    for name, path in bundled().items():
        yield read_entry(name, path)


def read_entry(name: str, path: Path) -> KernelSummary:
    """Read a kernel file's ``KERNEL = Kernel(...)`` without running it.

    Raises:
        KprofError: if the file cannot be read or is not Python.
    """
    try:
        tree = ast.parse(boundary.read_text(path))
    except (InputError, SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise TargetError(f"cannot read the kernel file: {error}", path=str(path)) from error
    values = {name: value for statement in tree.body for name, value in _assigned(statement)}
    call = values.get("KERNEL")
    fields = {k.arg: k.value for k in call.keywords if k.arg} if isinstance(call, ast.Call) else {}
    summary = fields.get("summary")
    return KernelSummary(
        name=name,
        path=path,
        summary=str(summary.value) if isinstance(summary, ast.Constant) else "",
        cases=_keys(fields.get("shapes"), values),
        checks=_keys(fields.get("checks"), values),
        parts=_keys(fields.get("parts"), values),
    )


def _assigned(node: ast.stmt) -> list[tuple[str, ast.expr]]:
    if isinstance(node, ast.Assign):
        return [(t.id, node.value) for t in node.targets if isinstance(t, ast.Name)]
    if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name) and node.value is not None:
        return [(node.target.id, node.value)]
    return []


def _keys(node: ast.expr | None, values: Mapping[str, ast.expr]) -> tuple[str, ...]:
    """Return the keys of a dict expression, including names of module-level dicts, ``**other`` and ``a | b``."""
    if isinstance(node, ast.Name):
        return _keys(values.get(node.id), {k: v for k, v in values.items() if k != node.id})
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.BitOr):
        return (*_keys(node.left, values), *_keys(node.right, values))
    if not isinstance(node, ast.Dict):
        return ()
    keys: list[str] = []
    for key, value in zip(node.keys, node.values, strict=True):
        if key is None:
            keys.extend(_keys(value, values))
        elif isinstance(key, ast.Constant):
            keys.append(str(key.value))
    return tuple(dict.fromkeys(keys))


def _refuse_other_languages(module: ModuleType, path: Path, function: str | None) -> None:
    """Raise an error if the requested function, or every kernel of the file, is of another language than Triton."""
    found = {name: language for name, value in vars(module).items() if (language := other_language(value)) is not None}
    if function in found:
        name, language = f"{function!r}", found[function]
    elif function is None and found and not triton_functions(module):
        name, language = ", ".join(list(found)[:3]), next(iter(found.values()))
    else:
        return
    raise TargetError(
        f"{name}: a {language} kernel is launched by its program, so only a capture of the program has its launches",
        path=str(path),
        hint=f"kprof capture -o DIR -- python {path}, then: kprof analyze kernel DIR",
    )


def _only_function(module: ModuleType, path: Path) -> Any:
    """Return the only Triton function of a file."""
    names = triton_functions(module)
    if not names:
        raise TargetError("the file has neither a KERNEL nor a @triton.jit function", path=str(path))
    if len(names) > 1:
        choices = "for example " + " or ".join(f"{path}::{name}" for name in names[:3])
        raise TargetError(f"the file has {len(names)} kernels; name one of them", path=str(path), hint=choices)
    return find_entry(module, path, names[0])


def bare(entry: Any) -> Kernel:
    """Return a Triton function without a known launch as a kernel without cases."""

    def no_launch(_shape: Shape, _config: Config) -> Launch:
        raise TargetError(
            f"{_name_of(entry)} does not say how it is launched",
            hint="give --signature and --constexpr, or add KERNEL = Kernel(...) to the file",
        )

    name = _name_of(entry)
    return Kernel(name=name, entry=entry, summary="", launch=no_launch, shapes={}, config={})


def _name_of(entry: Any) -> str:
    return str(kernel_function(entry).fn.__name__)
