"""Cut a server's Triton kernel out of its code: the function and what it names, as a file that needs Triton alone.

A server's files import half a gigabyte and ask for a GPU; the kernel in them is a function of Triton's language. It is
taken as it stands, with the functions and constants that it names in its own file and in others of the checkout.
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
"""Of the cache: a file a kernel, named by its content."""

_HEAD = "import triton\nimport triton.language as tl\n"
_TRITON = ("triton", "tl")
_TORCH = """from types import ModuleType

torch = ModuleType("torch")
torch.Tensor = torch.dtype = None
"""
"""Of torch a kernel names types only, in annotations."""
_MOST = 4 << 20


def parameters(root: Path, file: Path, function: str) -> tuple[str, ...]:
    """Names of a function's parameters, in order.

    Raises:
        KprofError: the file has no such function, or cannot be read.
    """
    node = _function(root, file, function)
    return tuple(argument.arg for argument in (*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs))


def has_function(root: Path, file: Path, function: str) -> bool:
    """Whether a file of the checkout defines a function under this name."""
    try:
        _function(root, file, function)
    except KprofError:
        return False
    return True


def cut(root: Path, file: Path, function: str) -> Path:
    """Write a kernel with what it names into a file of its own.

    Args:
        root: the folder that the server's package is in.
        file: of the server, with the kernel.
        function: the kernel's name.

    Returns:
        A file of the cache whose content is nothing but this kernel.

    Raises:
        KprofError: the file has no such function, or cannot be read.
    """
    return written(cut_text(root, file, function), file.stem)


def written(text: str, stem: str) -> Path:
    """The file of the cache that has a kernel's text, by its content.

    Args:
        text: what :func:`cut_text` gives.
        stem: the file's name without its suffix.
    """
    folder = private_folder(FOLDER) / sha256(text.encode()).hexdigest()[:16]
    folder.mkdir(mode=0o700, exist_ok=True)
    place = folder / f"{stem}.py"
    if boundary.content_of(place, _MOST) != text.encode():
        write_output(str(place), text)
    return place


def cut_text(root: Path, file: Path, function: str) -> str:
    """What :func:`cut` writes.

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
    """What defines the names of a kernel, each after what it needs.

    Attributes:
        texts: name to source.
    """

    def __init__(self, root: Path) -> None:
        self._root = root
        self._seen: set[tuple[Path, str]] = set()
        self.texts: dict[str, str] = {}

    def add(self, file: Path, name: str) -> None:
        """Take what defines a name of a file, unless it is Python's or Triton's own."""
        if (file, name) in self._seen or name in self.texts or name in _TRITON or hasattr(builtins, name):
            return
        self._seen.add((file, name))
        owner = owner_of(self._root, file, name)
        if owner is None:
            return
        if owner != file:
            self.add(owner, name)
            return
        # Of definitions under an `if` or `try` the first counts, which is for what is newer; else the last.
        for outer in reversed(tree_of(file).body):
            for node in statements(ast.Module([outer], [])):
                if name in names_defined(node) and name not in self.texts:
                    self._define(file, node, name)

    def _define(self, file: Path, node: ast.stmt, name: str) -> None:
        """Take a statement with what it names."""
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
    """Names that a statement reads; annotations of parameters are Triton's own."""
    for inner in ast.walk(node):
        if isinstance(inner, ast.Name) and isinstance(inner.ctx, ast.Load):
            yield inner.id


def _text(file: Path, node: ast.stmt) -> str:
    """The statement as it stands in the file, a function with its decorators."""
    lines = (boundary.content_of(file, _MOST) or b"").decode().splitlines()
    first = min([node.lineno, *(d.lineno for d in getattr(node, "decorator_list", []))]) - 1
    block = lines[first : node.end_lineno]
    indent = min((len(line) - len(line.lstrip()) for line in block if line.strip()), default=0)
    return "\n".join(line[indent:] for line in block) + "\n"
