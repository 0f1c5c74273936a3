"""Extract a server's Triton kernel from its code: the function and everything it refers to, as a standalone file.

Importing a server's files loads half a gigabyte of packages and needs a GPU, but the kernel is a function in Triton's
language. The kernel is copied unchanged, with the functions and constants that it uses, from its own file and from
other files of the checkout.
"""

import ast
import builtins
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path

from kprof.cache.folders import private_folder
from kprof.errors import KprofError
from kprof.inputs import boundary
from kprof.output.writing import write_output
from kprof_servers.served.lookup_process import module_files, names_defined, owner_of, statements, tree_of

FOLDER = "servers"
"""Folder in the cache: one file per kernel, named by its content."""

_HEAD = "import triton\nimport triton.language as tl\n"
_TRITON = ("triton", "tl")
_TORCH = """from types import ModuleType

torch = ModuleType("torch")
torch.Tensor = torch.dtype = None
"""
"""Source text that replaces torch in the extracted file, where kernels use torch's types only in annotations."""
_MOST = 4 << 20


def parameters(root: Path, file: Path, function: str) -> tuple[str, ...]:
    """Return the names of a function's parameters, in order.

    Raises:
        KprofError: the file does not define the function, or cannot be read.
    """
    node = _function(root, file, function)
    return tuple(argument.arg for argument in (*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs))


def has_function(root: Path, file: Path, function: str) -> bool:
    """Return whether a file of the checkout defines a function of this name."""
    try:
        _function(root, file, function)
    except KprofError:
        return False
    return True


def cut(root: Path, file: Path, function: str) -> Path:
    """Write a kernel, with everything it refers to, to a separate file.

    Args:
        root: the folder that contains the server's package.
        file: the server's file that contains the kernel.
        function: name of the kernel.

    Returns:
        A file in the cache that contains only this kernel.

    Raises:
        KprofError: the file does not define the function, or cannot be read.
    """
    return written(cut_text(root, file, function), file.stem)


def written(text: str, stem: str) -> Path:
    """Return the cache file that contains a kernel's text, named by its content; write it if necessary.

    Args:
        text: text returned by :func:`cut_text`.
        stem: name of the file without its suffix.
    """
    folder = private_folder(FOLDER) / sha256(text.encode()).hexdigest()[:16]
    folder.mkdir(mode=0o700, exist_ok=True)
    place = folder / f"{stem}.py"
    if boundary.content_of(place, _MOST) != text.encode():
        write_output(str(place), text)
    return place


def cut_text(root: Path, file: Path, function: str) -> str:
    """Return the text that :func:`cut` writes.

    Raises:
        KprofError: as :func:`cut`.
    """
    _function(root, file, function)
    pieces = _Pieces(root)
    pieces.add(file, function)
    return "\n".join([_HEAD, *dict.fromkeys(pieces.texts.values())]) + "\n"


def _function(root: Path, file: Path, name: str) -> ast.FunctionDef:
    place = str(file.relative_to(root))
    try:
        found = [n for n in statements(tree_of(file)) if isinstance(n, ast.FunctionDef) and n.name == name]
    except (OSError, SyntaxError, ValueError, RecursionError) as error:
        raise KprofError(f"the server's kernel cannot be read: {error}", path=place) from None
    if not found:
        raise KprofError(f"the server has no kernel {name}", path=place)
    return found[0]


class _Pieces:
    """Collects the definitions that a kernel uses, each after the definitions that it depends on.

    Attributes:
        texts: map from name to source text.
    """

    def __init__(self, root: Path) -> None:
        self._root = root
        self._seen: set[tuple[Path, str]] = set()
        self.texts: dict[str, str] = {}

    def add(self, file: Path, name: str) -> None:
        """Add the definition of a name used in a file, unless the name is a builtin of Python or is Triton's."""
        if (file, name) in self._seen or name in self.texts or name in _TRITON or hasattr(builtins, name):
            return
        self._seen.add((file, name))
        owner = owner_of(self._root, file, name)
        if owner is None:
            return
        if owner != file:
            self.add(owner, name)
            return
        # The last of several top-level definitions is used. Inside one `if` or `try` the first is used, which usually
        # is for newer versions.
        for outer in reversed(tree_of(file).body):
            for node in statements(ast.Module([outer], [])):
                if name in names_defined(node) and name not in self.texts:
                    self._define(file, node, name)

    def _define(self, file: Path, node: ast.stmt, name: str) -> None:
        """Add a statement, and everything that it refers to."""
        if isinstance(node, ast.Import | ast.ImportFrom):
            self._import(file, node, name)
            return
        for inner in _names(node):
            self.add(file, inner)
        self.texts[name] = _text(file, node)

    def _import(self, file: Path, node: ast.Import | ast.ImportFrom, name: str) -> None:
        alias = next(a for a in node.names if (a.asname or a.name.partition(".")[0]) == name)
        if isinstance(node, ast.Import):
            if alias.name.partition(".")[0] in {"triton", "math"}:
                self.texts[name] = ast.unparse(ast.Import([alias]))
            elif name == "torch":
                self.texts[name] = _TORCH
            return
        for place in module_files(self._root, file, node):
            if owner_of(self._root, place, alias.name) is not None:
                self.add(place, alias.name)
                if alias.asname and alias.name in self.texts:
                    self.texts[name] = f"{alias.asname} = {alias.name}"
                return
        if not node.level and (node.module or "").partition(".")[0] == "triton":
            self.texts[name] = ast.unparse(ast.ImportFrom(node.module, [alias], 0))


def _names(node: ast.stmt) -> Iterator[str]:
    """Yield the names that a statement reads, including names in annotations."""
    for inner in ast.walk(node):
        if isinstance(inner, ast.Name) and isinstance(inner.ctx, ast.Load):
            yield inner.id


def _text(file: Path, node: ast.stmt) -> str:
    """Return the source text of a statement, including the decorators of a function."""
    lines = (boundary.content_of(file, _MOST) or b"").decode().splitlines()
    first = min([node.lineno, *(d.lineno for d in getattr(node, "decorator_list", []))]) - 1
    block = lines[first : node.end_lineno]
    indent = min((len(line) - len(line.lstrip()) for line in block if line.strip()), default=0)
    return "\n".join(line[indent:] for line in block) + "\n"
