"""What a server is: which of its own functions look a tuned file up, and with what."""

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
        files: that may have it, newest version first, relative to the server's root.
        function: its name.
        options: its arguments, by name; those that a version's function does not have are left out where ``loose``.
        loose: earlier versions have fewer parameters.
    """

    files: tuple[str, ...]
    function: str
    options: Mapping[str, Any]
    loose: bool = False


@dataclass(frozen=True)
class LookupAnswer:
    """What came of a call.

    Attributes:
        asked: paths that it asked for, in order.
        opened: the one that it read, if any.
        result: what it returned.
        error: what it raised, empty where it returned.
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
        name: the file's name by kprof's table, with ``{device}`` for the GPU's name.
        folder: where it belongs by kprof's table.
        calls: by rows of a batch; under 0 where one call answers for all of them.
        launch: how its kernel is launched; ``None`` where kprof does not know that.
        alternative: another family for the same weights, which the caller chooses.
        optional: a version without the function has no such file; else it is another version than kprof knows.
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
    """A server that looks tuned files up.

    Attributes:
        name: ``vllm``.
        shown: as people write it.
        version: that the table of names was taken from.
        package: the folder of its code.
        sign: a folder in it that others of the name do not have.
        nearest: the bucket with the nearest number of rows is taken.
        models: files that name the architectures that it serves, a pattern below its root; empty where it has none.
        kernels: where the Triton kernel of a :attr:`NeededLookup.kernel` may be: file and function, newest first.
        parts: the same of kernels that follow in a launch, by its label.
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
        """The files that it looks up for these layers."""

    @abstractmethod
    def notes(self, weights: WeightFormat, arch: str) -> list[str]:
        """Return notes: layers of the model without a tuned file, and what decides whether these kernels run at all."""

    def device_call(self) -> LookupCall | None:
        """What gives its names of GPUs by PCI id, where it has such a table."""
        return None

    def tables(
        self,
        shapes: LayerShapes,  # noqa: ARG002
        weights: WeightFormat,  # noqa: ARG002
        gpu: ServedGpu,  # noqa: ARG002
        root: Path,  # noqa: ARG002
        batches: Sequence[int],  # noqa: ARG002
    ) -> list[NeededFile]:
        """What one table for all shapes has of them, where the server has such."""
        return []

    def unranked(self, need: NeededLookup, file: NeededFile, arch: str) -> str:  # noqa: ARG002
        """Why a kernel cannot be ranked on an architecture; empty where nothing is known against it."""
        return ""

    def in_code(
        self,
        root: Path,  # noqa: ARG002
        shapes: LayerShapes,  # noqa: ARG002
        gpu: ServedGpu,  # noqa: ARG002
        batches: Sequence[int],  # noqa: ARG002
    ) -> list[str]:
        """What its code has or chooses where it looks no file up, a sentence each."""
        return []

    def wanted(self, answer: LookupAnswer) -> str:
        """The path that is best of those asked for: the file's name and folder."""
        return answer.asked[0]

    def status(self, answer: LookupAnswer) -> Found:
        """What the answer means."""
        if answer.opened is None:
            return "default"
        wanted = PurePosixPath(self.wanted(answer))
        opened = PurePosixPath(answer.opened)
        return "exact" if opened.name == wanted.name and opened.parent.name == wanted.parent.name else "fallback"
