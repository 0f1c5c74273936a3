"""``kprof counters roofline``: place kernels on the GPU's roofline."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from kprof.api.counter_views import CounterView
from kprof.api.options import Path_
from kprof.api.views import draw, function_of
from kprof.errors import KprofError
from kprof.output.tables import number
from kprof.reporters._trace_format import kernel_label
from kprof.reporters.grids import Column, ViewTable

if TYPE_CHECKING:
    from kprof_analyzers.profiles.counters.chosen import Chosen
    from kprof_analyzers.profiles.counters.roofline import Point, Roof


@dataclass(frozen=True, eq=False, repr=False)
class CounterRoofline(CounterView):
    """Place kernels on the GPU's roofline: the limit of each kernel, and the share of it that the kernel reaches.

    Example:  kprof counters roofline results/ --arch MI300X -o roofline.svg

    Attributes:
        gpu: the GPU's name.
        roofs: the GPU's limits, in GB/s and GFLOP/s.
        points: one point per kernel; ``share`` of the roof is 0 to 1, or ``None`` with a ``reason``.
    """

    help = "Place kernels on the GPU's roofline."
    kind = "roofline"
    has_picture = True
    gpu: str
    roofs: "Sequence[Roof]"
    points: "Sequence[Point]"

    @classmethod
    def of_chosen(cls, chosen: "Chosen") -> "CounterRoofline":
        """Compute the roofline points of the selected kernels.

        Raises:
            KprofError: the kernels ran on several GPUs.
        """
        from kprof_analyzers.profiles.counters.machine import gpu_name
        from kprof_analyzers.profiles.counters.roofline import place_all, roofs

        indexes = sorted({one.gpu for one in chosen.kernels})
        if len(indexes) > 1:
            found = ", ".join(gpu_name(chosen.gpu_at(index)) for index in indexes)
            hint = "A roofline shows one GPU: choose its runs with --only-run."
            raise KprofError(f"the kernels ran on several GPUs: {found}", hint=hint)
        gpu = chosen.gpu_at(indexes[0])
        limits = roofs(gpu, chosen.data)
        return cls(chosen, gpu_name(gpu), limits, place_all(chosen.kernels, gpu, limits))

    @property
    def document(self) -> dict[str, Any]:
        """The JSON document that ``kprof counters roofline --json`` writes."""
        kernels = zip(self.points, self.chosen.kernels, strict=True)
        return {
            "schema": "kprof.roofline/1",
            "gpu": self.gpu,
            "roofs": [asdict(roof) for roof in self.roofs],
            "kernels": [asdict(point) | self.chosen.identity(kernel) for point, kernel in kernels],
        }

    @property
    def conclusion(self) -> str:
        """The number of kernels on the roofline, and the best kernel's share of its roof, in one line."""
        from kprof.reporters import roofline_text

        return roofline_text.verdict(self.points)

    @classmethod
    def tables(cls) -> Sequence[ViewTable]:
        """Return the only table, with one row per kernel: FLOP/byte, GFLOP/s, GB/s, and its share of its roof."""
        from kprof_analyzers.profiles.counters.roofline import Point

        columns = (
            Column("kernel", lambda point: kernel_label(point.kernel), wide=True),
            Column("FLOP/byte", lambda point: number(point.intensity)),
            Column("GFLOP/s", lambda point: number(point.flop_rate)),
            Column("reaches", lambda point: f"not placed: {point.reason}" if point.share is None
                   else f"{100 * point.share:.1f} % of {point.bound}"),
        )  # fmt: skip
        return (ViewTable("kernels", columns, lambda found: found.points, Point),)

    def lines(self, display: Any) -> list[str]:
        """Return the text report: the plot and the table of kernels."""
        from kprof.reporters import roofline_text

        if display.show:
            return super().lines(display)
        from kprof.reporters._measured_kernels import heading, remark

        remarks = [remark(self.chosen, one) for one in self.chosen.kernels]
        top = display.top or len(self.points)
        return [*heading(self.chosen), "", *roofline_text.page(self.points, self.roofs, top, remarks)]

    def draw(self, path: Path_) -> None:
        """Write the plot to a file.

        Raises:
            KprofError: the file's suffix is neither ``.svg`` nor ``.png``, or the file cannot be written.
        """
        draw(path, self.svg)

    def svg(self) -> str:
        """Return the plot as SVG."""
        from kprof_analyzers.profiles.counters.roofline_svg import render

        return render(list(self.points), list(self.roofs), f"Roofline, {self.gpu}")


counter_roofline = function_of(CounterRoofline)
