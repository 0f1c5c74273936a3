"""What writers of tuned configurations get and give."""

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
        shape: problem parameters, complete.
        ranked: configurations, the one to use first; never empty.
    """

    shape: Mapping[str, Any]
    ranked: "Sequence[Evaluation]"

    @property
    def best(self) -> Mapping[str, Any]:
        """The configuration to use."""
        return self.ranked[0].config


@dataclass(frozen=True)
class TunedResults:
    """Everything that a file of configurations may say.

    Attributes:
        kernel: its name.
        arch: architecture.
        product: the GPU, when one was named.
        triton: version of the compiling Triton.
        tuned: one entry a problem.
        keys: a format's key to the kernel's knob that it stands for, or to a value, where names do not tell.
        device_name: the device as the serving framework calls it; made from the product when empty.
        device: what measured the configurations; empty for predictions.
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
        path: below the output folder, with ``/``.
        text: its content.
        notes: what the user has to know about it, one sentence each.
    """

    path: str
    text: str
    notes: tuple[str, ...] = ()


class Writer(Protocol):
    """Writes one format."""

    @property
    def name(self) -> str:
        """As ``--format`` takes it."""
        ...

    def write(self, results: TunedResults) -> list[WrittenFile]:
        """The files.

        Raises:
            KprofError: the kernel lacks a key that the format needs, or a file's name cannot be made.
        """
        ...


def device_of(results: TunedResults, form: str) -> str:
    """The device's name in a file's name: ``AMD_Instinct_MI300X``.

    Raises:
        KprofError: no product was named.
    """
    if results.device_name:
        name = results.device_name.replace(" ", "_")
        if not name.replace("_", "").replace("-", "").replace("(", "").replace(")", "").isalnum():
            raise KprofError(f"{results.device_name!r} is no name of a device")
        return name
    if results.product is None:
        raise KprofError(
            f"{form} names its files by the GPU, and {results.arch} is an architecture",
            hint="name a product, --arch MI300X, or give --device-name AMD_Instinct_MI300X",
        )
    from kprof.tuning.formats.mapping import device_name

    return device_name(results.product.name)
