"""Position of a launch under the rooflines of its GPU, as part of a report."""

import msgspec


class RooflineLevel(msgspec.Struct, frozen=True):
    """Traffic of a launch through one memory level.

    Attributes:
        name: ``lds``, ``l1``, ``l2``, ``mall`` or ``hbm``.
        bytes: bytes that all lanes move through this level in the whole launch.
        peak_gbs: the GPU's published peak in GB/s; ``None`` if not known.
    """

    name: str
    bytes: float
    peak_gbs: float | None


class Roofline(msgspec.Struct, frozen=True):
    """Position of a launch under the rooflines of its GPU, from the compiled code and the predicted time.

    Attributes:
        flops: floating-point operations of the launch by kind of arithmetic (``matrix_fp16``, ``valu_fp32``), largest
            first; an FMA counts as two.
        peaks_tflops: the GPU's published peak in 1e12 operations per second by kind, if known.
        levels: memory levels that the launch uses, the nearest first.
    """

    flops: dict[str, float]
    peaks_tflops: dict[str, float]
    levels: list[RooflineLevel]

    @property
    def main_kind(self) -> str | None:
        """Kind of arithmetic by which a launch is rated: that of the matrix units if used, else the most frequent."""
        matrix = (kind for kind in self.flops if kind.startswith("matrix"))
        return next(matrix, next(iter(self.flops), None))
