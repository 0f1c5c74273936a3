"""Compile recorded TTIR instead of a Python function, without importing any of the user's code.

TTIR is the output of Triton's front end. Compile-time values and tile sizes are fixed in it; the backend's options and
environment switches are not, so they can be changed. The MLIR parser of the compiling Triton reads the TTIR, and
reports operations of the recording Triton that it does not know.

TTIR from a capture, or from a program that runs again, has already been through Triton's TTIR passes. The same version
of Triton does not repeat them: a second run may change the code, so it would differ from what was launched.
"""

import hashlib
import json
import tempfile
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from kprof.errors import CompileError, KprofError
from kprof.importing.dependencies import Dependencies
from kprof.importing.functions import Function
from kprof.inputs import plain_files

SUFFIX = ".ttir"
RESULT = "result.json"
"""Name of a file next to recorded TTIR, as in a capture; its member ``triton`` is the version that wrote the TTIR."""

_RESULT_LIMIT = 1 << 20


@dataclass(frozen=True)
class RecordedFunction(Function):
    """A kernel of which only the TTIR is known; ``jit`` holds only its cache key.

    Attributes:
        text: the TTIR.
        beside: content of the file that names the recording Triton; empty without such a file.
    """

    text: str = ""
    beside: bytes = b""

    @cached_property
    def dependencies(self) -> Dependencies:
        """The TTIR file, and the file that names the recording Triton."""
        files = {str(self.path): hashlib.sha256(self.text.encode()).hexdigest()}
        if self.beside:
            files[str(self.path.with_name(RESULT))] = hashlib.sha256(self.beside).hexdigest()
        return Dependencies(files)

    @property
    def written_by(self) -> str:
        """Version of the Triton whose passes the TTIR has been through; empty if unknown."""
        try:
            found = json.loads(self.beside)
        except (ValueError, RecursionError):
            return ""
        version = found.get("triton") if isinstance(found, dict) else None
        return version if isinstance(version, str) else ""

    @property
    def line(self) -> int | None:
        """``None``, because the function's line is unknown."""
        return None

    def source(self, language: Any) -> "RecordedSource":
        """Return the replacement for Triton's ``ASTSource``."""
        return RecordedSource(self.text, str(self.path), language, self.written_by)


@dataclass(frozen=True)
class _Identity:
    """Replacement for a ``@triton.jit`` function, with the only attribute that a compile from TTIR needs."""

    cache_key: str


def load_recorded(path: str, name: str) -> RecordedFunction:
    """Load a kernel's TTIR.

    Raises:
        KprofError: if the file is missing, a link, not text, or too large.
    """
    try:
        data = plain_files.read_bytes(Path(path), plain_files.STAGE_LIMIT)
        text = data.decode()
    except FileNotFoundError:
        raise CompileError("no such file", path=path) from None
    except UnicodeDecodeError:
        raise CompileError("is not text", path=path) from None
    try:
        beside = plain_files.read_bytes(Path(path).with_name(RESULT), _RESULT_LIMIT)
    except (OSError, KprofError):
        beside = b""
    identity = _Identity(hashlib.sha256(data + beside).hexdigest())
    return RecordedFunction(Path(path), name, identity, text=text, beside=beside)


@dataclass(frozen=True)
class RecordedSource:
    """Replacement for Triton's ``ASTSource`` whose module is parsed from recorded TTIR."""

    text: str
    path: str
    language: Any
    written_by: str = ""

    @property
    def ext(self) -> str:
        """The first stage to run: TTIR, or TTGIR if this Triton has already run the TTIR passes."""
        from kprof.compiler import versions

        return "ttgir" if self.written_by == versions.api().version else "ttir"

    def make_ir(self, *arguments: Any) -> Any:
        """Return the parsed module. The last argument is MLIR's context.

        Raises:
            KprofError: if this Triton cannot parse the text, or it contains no kernel.
        """
        from kprof.compiler import versions

        api, context = versions.api(), arguments[-1]
        if "tt.func" not in self.text:
            # Without a kernel, the compiler would crash.
            raise CompileError("contains no kernel: this is not TTIR", path=self.path)
        # MLIR reads only files. The checked text is copied, because the file itself may have changed since.
        with tempfile.NamedTemporaryFile("w", suffix=SUFFIX, encoding="utf-8") as copy:
            copy.write(self.text)
            copy.flush()
            try:
                module = api.ir.parse_mlir_module(copy.name, context)
            except RuntimeError as error:
                raise CompileError(
                    f"Triton {api.version} cannot read this TTIR, which another Triton wrote",
                    path=self.path,
                    hint="Compile the kernel's own file with it: kprof diff FILE.py::FUNCTION --triton ...",
                ) from error
        # Triton keeps the context alive through the module.
        module.context = context
        _locate_block_arguments(module)
        return module


def _locate_block_arguments(module: Any) -> None:
    """Give the block arguments of loops and branches the location of their operation.

    Printed operations have no locations for these values, so the parser uses positions in the TTIR text. Code
    generated from them would name lines that the kernel's source does not have, and instructions could not be matched
    with TTGIR operations by line. Triton before 3.5 cannot change locations.
    """
    operations: list[Any] = []
    module.walk(operations.append)
    parents: dict[int, Any] = {}
    for operation in operations:
        if operation.get_num_results() and hasattr(operation.get_result(0), "set_loc"):
            parents |= {operation.get_region(index).id(): operation for index in range(operation.get_num_regions())}
    blocks = {block.id(): block for block in (operation.get_block() for operation in operations) if block is not None}
    for block in blocks.values():
        if (parent := parents.get(block.get_parent().id())) is not None:
            for index in range(block.get_num_arguments()):
                block.arg(index).set_loc(parent.get_result(0).get_loc())
