"""Compiling TTIR that was recorded, in place of a Python function. Nothing of the user's is imported.

TTIR is what Triton's front end makes of the function: compile-time values and tile sizes are in it, the backend's
options and environment switches are not, so these can be changed. It is read by the MLIR of whichever Triton compiles
it; where that does not know an operation of the recording one, it says so.

Triton's passes of this stage have already run where a capture, or a program that runs again, holds the TTIR. They are
not repeated by the same Triton: the second time they may change the code, and a start would not be what was launched.
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
"""The file beside recorded TTIR that names, as ``triton``, the version that wrote it; as in a capture."""

_RESULT_LIMIT = 1 << 20


@dataclass(frozen=True)
class RecordedFunction(Function):
    """A kernel of which only the TTIR is known; ``jit`` holds only what tells it from others.

    Attributes:
        text: the TTIR.
        beside: what stands in the file that says which Triton wrote it; empty without one.
    """

    text: str = ""
    beside: bytes = b""

    @cached_property
    def dependencies(self) -> Dependencies:
        """The file, and the one that says which Triton wrote it."""
        files = {str(self.path): hashlib.sha256(self.text.encode()).hexdigest()}
        if self.beside:
            files[str(self.path.with_name(RESULT))] = hashlib.sha256(self.beside).hexdigest()
        return Dependencies(files)

    @property
    def written_by(self) -> str:
        """Version of the Triton whose passes it has gone through; empty where that is not known."""
        try:
            found = json.loads(self.beside)
        except (ValueError, RecursionError):
            return ""
        version = found.get("triton") if isinstance(found, dict) else None
        return version if isinstance(version, str) else ""

    @property
    def line(self) -> int | None:
        """Not known here."""
        return None

    def source(self, language: Any) -> "RecordedSource":
        """What stands in for Triton's ``ASTSource``."""
        return RecordedSource(self.text, str(self.path), language, self.written_by)


@dataclass(frozen=True)
class _Identity:
    """The one thing that is asked of a ``@triton.jit`` function that is never called."""

    cache_key: str


def load_recorded(path: str, name: str) -> RecordedFunction:
    """A kernel's TTIR.

    Raises:
        KprofError: the file is missing, a link, no text, or too large.
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
    """See :meth:`RecordedFunction.source`."""

    text: str
    path: str
    language: Any
    written_by: str = ""

    @property
    def ext(self) -> str:
        """The first stage that runs: TTIR, unless this Triton has already run its passes."""
        from kprof.compiler import versions

        return "ttgir" if self.written_by == versions.api().version else "ttir"

    def make_ir(self, *arguments: Any) -> Any:
        """The module; the last argument is MLIR's context.

        Raises:
            KprofError: this Triton does not understand the text, or it has no kernel.
        """
        from kprof.compiler import versions

        api, context = versions.api(), arguments[-1]
        if "tt.func" not in self.text:
            # The compiler would crash.
            raise CompileError("holds no kernel: this is no TTIR", path=self.path)
        # MLIR reads files only. A copy of what was checked: the file itself may be another one by now.
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
        # Triton looks after the context by the module.
        module.context = context
        _locate_block_arguments(module)
        return module


def _locate_block_arguments(module: Any) -> None:
    """Give the block arguments of loops and branches the location of their operation.

    Printed operations have no locations for these values, so the parser gives them their place in the text. What is
    made from them would then name a line that the kernel's source does not have, and instructions and operations of
    the TTGIR could not be joined by it. Triton before 3.5 cannot change locations.
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
