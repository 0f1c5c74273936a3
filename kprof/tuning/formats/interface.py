"""Input and output types of the writers of tuned configurations."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

from kprof.errors import KprofError

if TYPE_CHECKING:
    from kprof.hardware.machine import Product
    from kprof.tuning.evaluation import Evaluation


@dataclass(frozen=True)
class ProblemResult:
    """The result for one problem.

    Attributes:
        shape: complete problem parameters.
        ranked: configurations, best first; never empty.
    """

    shape: Mapping[str, Any]
    ranked: "Sequence[Evaluation]"

    @property
    def best(self) -> Mapping[str, Any]:
        """The configuration to use."""
        return self.ranked[0].config


@dataclass(frozen=True)
class TunedResults:
    """The tuned configurations and the facts that a writer may put into a file.

    Attributes:
        kernel: name of the kernel.
        arch: architecture.
        product: the GPU, if a product was named.
        triton: version of the compiling Triton.
        tuned: one entry per problem.
        keys: the user's answer for keys of the format that cannot be matched by name: a knob's name, or a fixed value.
        device_name: name of the device in the serving framework; derived from the product if empty.
        device: GPU that measured the configurations; empty for predictions.
    """

    kernel: str
    arch: str
    product: "Product | None"
    triton: str
    tuned: Sequence[ProblemResult]
    keys: Mapping[str, Any] = field(default_factory=dict)
    device_name: str = ""
    device: str = ""


@dataclass(frozen=True)
class WrittenFile:
    """A file to be written.

    Attributes:
        path: path relative to the output folder, with ``/``.
        text: content of the file.
        notes: remarks for the user, one sentence each.
    """

    path: str
    text: str
    notes: tuple[str, ...] = ()


class Writer(Protocol):
    """Writer of one format of configuration files."""

    @property
    def name(self) -> str:
        """Name of the format for ``--format``."""
        ...

    def write(self, results: TunedResults) -> list[WrittenFile]:
        """Return the files to write.

        Raises:
            KprofError: if the kernel lacks a key that the format requires, or a file name cannot be formed.
        """
        ...


def device_of(results: TunedResults, form: str) -> str:
    """Return the device's name for file names: ``AMD_Instinct_MI300X``.

    Raises:
        KprofError: if no product was named, or the device name is invalid.
    """
    if results.device_name:
        name = results.device_name.replace(" ", "_")
        if not name.replace("_", "").replace("-", "").replace("(", "").replace(")", "").isalnum():
            raise KprofError(f"{results.device_name!r} is not a device name")
        return name
    if results.product is None:
        raise KprofError(
            f"{form} names its files after the GPU, but {results.arch} is an architecture",
            hint="name a product, --arch MI300X, or give --device-name AMD_Instinct_MI300X",
        )
    from kprof.tuning.formats.mapping import device_name

    return device_name(results.product.name)
