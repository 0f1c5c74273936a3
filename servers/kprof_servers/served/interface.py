"""Interface of servers: which functions of their code look up a tuned file, and with which arguments."""

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
        loose: whether to drop arguments that are not parameters of the function in this version of the server.
    """

    files: tuple[str, ...]
    function: str
    options: Mapping[str, Any]
    loose: bool = False


@dataclass(frozen=True)
class LookupAnswer:
    """The result of a call of a server's lookup function.

    Attributes:
        asked: paths that the function tested or opened, in order.
        opened: the path that the function read, if any.
        result: the value that the function returned.
        error: the exception that the function raised; "" if it returned a value.
    """

    asked: tuple[str, ...] = ()
    opened: str | None = None
    result: Any = None
    error: str = ""


@dataclass(frozen=True)
class NeededLookup:
    """One tuned file that a model's layers need.

    Attributes:
        kernel: name of the kernel or kernel family, as in :attr:`.NeededFile.kernel`.
        layer: layers that use the file, as in :attr:`.NeededFile.layer`.
        layers: number of these layers; ``None`` if unknown.
        shape: sizes that the lookup is called with: E and N, or N and K.
        name: name of the file in kprof's table, with ``{device}`` for the GPU's name.
        folder: folder of the file in kprof's table.
        calls: map from number of rows to lookup call; the key is 0 if one call answers for all batches.
        launch: how the kernel is launched; ``None`` if kprof does not know it.
        alternative: True if the file is for a kernel family that the server's caller may choose instead of the main
            one for the same weights.
        optional: True if a version of the server without the function needs no such file; False if a missing function
            is an error.
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
        version: version of the server that kprof's table of names was taken from.
        package: name of the server's Python package.
        sign: a folder in the package that distinguishes it from other packages of the same name.
        nearest: whether the server uses the bucket with the nearest number of rows.
        models: glob pattern, relative to the server's root, of files that name the supported model architectures;
            empty if there are none.
        kernels: file and function of each :attr:`NeededLookup.kernel`'s Triton kernel, newest first.
        parts: file and function of the kernels that are launched after the first one, by label of the launch.
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
        """Return the lookups of the tuned files that the server needs for these layers."""

    @abstractmethod
    def notes(self, weights: WeightFormat, arch: str) -> list[str]:
        """Return notes on layers without a tuned file, and on conditions under which the server uses these kernels."""

    def device_call(self) -> LookupCall | None:
        """Return the call that returns the server's table of GPU names by PCI id; None if it has no such table."""
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
        """Return the values that the server's code sets for kernels without a tuned file, one sentence each."""
        return []

    def wanted(self, answer: LookupAnswer) -> str:
        """Return the path of the file for the exact shape, which is one of the paths in ``answer.asked``."""
        return answer.asked[0]

    def status(self, answer: LookupAnswer) -> Found:
        """Return the status that the JSON document gives for a tuned file, from the result of its lookup."""
        if answer.opened is None:
            return "default"
        wanted = PurePosixPath(self.wanted(answer))
        opened = PurePosixPath(answer.opened)
        return "exact" if opened.name == wanted.name and opened.parent.name == wanted.parent.name else "fallback"
