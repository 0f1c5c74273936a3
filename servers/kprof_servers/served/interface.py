"""Interface of servers: the functions of their own code that look up a tuned file, and the arguments of the calls."""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import Any, ClassVar

from kprof.inputs.weight_format import WeightFormat
from kprof_servers.served.devices import ServedGpu
from kprof_servers.served.document import Found, NeededFile
from kprof_servers.served.launches import LaunchedKernel
from kprof_servers.served.shapes import LayerShapes


@dataclass(frozen=True)
class LookupCall:
    """One call of a function of the server.

    Attributes:
        files: files that may define the function, newest version first, relative to the server's root.
        function: name of the function.
        options: arguments by name.
        loose: whether arguments that a version's function does not have are left out, for versions with fewer
            parameters.
    """

    files: tuple[str, ...]
    function: str
    options: Mapping[str, Any]
    loose: bool = False


@dataclass(frozen=True)
class LookupAnswer:
    """The result of a lookup call.

    Attributes:
        asked: paths that the function tested or opened, in order.
        opened: the path that it read, if any.
        result: the value that it returned.
        error: the exception that it raised; "" if it returned.
    """

    asked: tuple[str, ...] = ()
    opened: str | None = None
    result: Any = None
    error: str = ""


@dataclass(frozen=True)
class NeededLookup:
    """One tuned file that a model's layers need.

    Attributes:
        kernel: as in the document.
        layer: as in the document.
        layers: as in the document.
        shape: as in the document.
        name: name of the file in kprof's table, with ``{device}`` for the GPU's name.
        folder: folder of the file in kprof's table.
        calls: lookup calls by rows of a batch; under 0 if one call answers for all batches.
        launch: how the kernel is launched; ``None`` if kprof does not know it.
        alternative: True for another family for the same weights, which the caller may choose.
        optional: True if a version without the function has no such file; otherwise, a missing function is an error.
    """

    kernel: str
    layer: str
    layers: int | None
    shape: Mapping[str, int]
    name: str
    folder: str
    calls: Mapping[int, LookupCall] = field(default_factory=dict)
    launch: LaunchedKernel | None = None
    optional: bool = False
    alternative: bool = False


class ModelServer(ABC):
    """A server that looks up tuned files.

    Attributes:
        name: identifier, ``vllm``.
        shown: display name.
        version: version that the table of names was taken from.
        package: folder of its code.
        sign: a folder in the package that distinguishes it from other packages of the same name.
        nearest: whether the server uses the bucket with the nearest number of rows.
        models: glob pattern, below its root, of files that name the supported architectures; empty if there are none.
        kernels: file and function of each :attr:`NeededLookup.kernel`'s Triton kernel, newest first.
        parts: file and function of kernels that follow in a launch, by label.
    """

    name: ClassVar[str]
    shown: ClassVar[str]
    version: ClassVar[str]
    package: ClassVar[str]
    sign: ClassVar[str]
    nearest: ClassVar[bool] = True
    models: ClassVar[str] = ""
    kernels: ClassVar[Mapping[str, tuple[tuple[str, str], ...]]] = {}
    parts: ClassVar[Mapping[str, tuple[tuple[str, str], ...]]] = {}

    @abstractmethod
    def needed(self, shapes: LayerShapes, weights: WeightFormat, batches: Sequence[int]) -> list[NeededLookup]:
        """Return the files that the server looks up for these layers."""

    @abstractmethod
    def notes(self, weights: WeightFormat, arch: str) -> list[str]:
        """Return notes: layers of the model without a tuned file, and what decides whether these kernels run at all."""

    def device_call(self) -> LookupCall | None:
        """Return the call that returns the server's GPU names by PCI id, or None if there is no such table."""
        return None

    def tables(
        self,
        shapes: LayerShapes,  # noqa: ARG002
        weights: WeightFormat,  # noqa: ARG002
        gpu: ServedGpu,  # noqa: ARG002
        root: Path,  # noqa: ARG002
        batches: Sequence[int],  # noqa: ARG002
    ) -> list[NeededFile]:
        """Return the entries of the server's tables for all shapes, if it has such tables."""
        return []

    def unranked(self, need: NeededLookup, file: NeededFile, arch: str) -> str:  # noqa: ARG002
        """Return why a kernel cannot be ranked on an architecture, or "" if it can."""
        return ""

    def in_code(
        self,
        root: Path,  # noqa: ARG002
        shapes: LayerShapes,  # noqa: ARG002
        gpu: ServedGpu,  # noqa: ARG002
        batches: Sequence[int],  # noqa: ARG002
    ) -> list[str]:
        """Return the constants and choices in the server's code where it looks up no file, one sentence each."""
        return []

    def wanted(self, answer: LookupAnswer) -> str:
        """Return the preferred path of the requested paths."""
        return answer.asked[0]

    def status(self, answer: LookupAnswer) -> Found:
        """Return the status of the file for a lookup answer."""
        if answer.opened is None:
            return "default"
        wanted = PurePosixPath(self.wanted(answer))
        opened = PurePosixPath(answer.opened)
        return "exact" if opened.name == wanted.name and opened.parent.name == wanted.parent.name else "fallback"
