"""A launch's place under the rooflines, as a report has it."""

import msgspec


class RooflineLevel(msgspec.Struct, frozen=True):
    """What a launch moves through one memory level.

    Attributes:
        name: ``lds``, ``l1``, ``l2``, ``mall`` or ``hbm``.
        bytes: of all lanes in the whole launch.
        peak_gbs: the GPU's published peak in GB/s; ``None`` where it is not known.
    """

    name: str
    bytes: float
    peak_gbs: float | None


class Roofline(msgspec.Struct, frozen=True):
    """A launch's place under the rooflines of its GPU, from the compiled code; its time is the prediction's.

    Attributes:
        flops: kind of arithmetic (``matrix_fp16``, ``valu_fp32``) to the floating-point operations of the launch, the
            most first; an FMA counts as two.
        peaks_tflops: kind to the GPU's published peak in 1e12 operations a second, where that is known.
        levels: the memory levels that the launch uses, the nearest first.
    """

    flops: dict[str, float]
    peaks_tflops: dict[str, float]
    levels: list[RooflineLevel]

    @property
    def main_kind(self) -> str | None:
        """The kind of arithmetic that a launch is judged by: the matrix units' where they are used, else the most."""
        matrix = (kind for kind in self.flops if kind.startswith("matrix"))
        return next(matrix, next(iter(self.flops), None))
