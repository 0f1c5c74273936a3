"""``kprof.counter_roofline``: kernels under the GPU's roofs."""

import os
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from kprof.api.counters.answer import FIELDS, CounterAnswer, Path_, choose
from kprof.api.options import Names
from kprof.errors import KprofError

if TYPE_CHECKING:
    import pandas as pd

    from kprof_analyzers.profiles.counters.roofline import Point, Roof


@dataclass(frozen=True, eq=False, repr=False)
class CounterRoofline(CounterAnswer):
    """What bounds each kernel, and how near it is.

    Attributes:
        gpu: the GPU's name.
        roofs: its limits, in GB/s and GFLOP/s.
        points: the kernels; ``share`` of the roof, 0 to 1, is ``None`` where ``reason`` says why.
    """

    gpu: str
    roofs: "Sequence[Roof]"
    points: "Sequence[Point]"
    kind: ClassVar[str] = "roofline"

    @property
    def document(self) -> dict[str, Any]:
        """Everything, as ``kprof counters roofline --json`` writes it."""
        kernels = zip(self.points, self.chosen.kernels, strict=True)
        return {
            "schema": "kprof.roofline/1",
            "gpu": self.gpu,
            "roofs": [asdict(roof) for roof in self.roofs],
            "kernels": [asdict(point) | self.chosen.identity(kernel) for point, kernel in kernels],
        }

    @property
    def summary(self) -> str:
        """How many kernels could be placed, and how near the best is to its roof."""
        from kprof.inputs.completeness import with_headline
        from kprof.reporters.roofline_text import verdict

        return with_headline(verdict(self.points), self.issues)

    def to_frame(self) -> "pd.DataFrame":
        """A row a kernel: ``intensity`` in FLOP a byte, ``flop_rate`` in GFLOP/s, ``bandwidth`` in GB/s, the roof that
        is its ``bound``, and its ``share`` of that.
        """  # noqa: D205 - one sentence
        from kprof.reporters._frames import struct_frame
        from kprof_analyzers.profiles.counters.roofline import Point

        return struct_frame(Point, [({}, point) for point in self.points])

    def draw(self, path: Path_) -> None:
        """Write the picture as SVG.

        Raises:
            KprofError: the file cannot be written.
        """
        from kprof.output.writing import write_output
        from kprof_analyzers.profiles.counters.roofline_svg import render

        write_output(os.fspath(path), render(list(self.points), list(self.roofs), f"Roofline, {self.gpu}"))


def counter_roofline(
    *paths: Path_,
    arch: str | None = None,
    kernel: str = "",
    run: Sequence[str] = (),
    dispatch: Sequence[int] = (),
    by: Names = FIELDS,
) -> CounterRoofline:
    """Kernels under the GPU's roofline, from the files of any ROCm profiler.

    Args:
        paths: files and folders, as for :func:`kprof.read_counters`.
        arch: the GPU when the files do not say: ``MI300X`` or ``gfx942``. A product gives peaks.
        kernel: only kernels with this in their names.
        run: only these runs: their numbers from 1, or parts of their paths.
        dispatch: only these dispatches.
        by: launches that agree in these are put together: ``name,grid``.

    Raises:
        InputError: a file cannot be read.
        KprofError: there are no counters, a choice fits nothing, or the kernels ran on several GPUs or an unknown one.
    """
    from kprof_analyzers.profiles.counters.machine import gpu_name
    from kprof_analyzers.profiles.counters.roofline import place_all, roofs

    chosen = choose(paths, arch=arch, kernel=kernel, run=run, dispatch=dispatch, by=by)
    indexes = sorted({one.gpu for one in chosen.kernels})
    if len(indexes) > 1:
        found = ", ".join(gpu_name(chosen.gpu_at(index)) for index in indexes)
        raise KprofError(f"the kernels ran on several GPUs: {found}", hint="a roofline is of one: choose with --run")
    gpu = chosen.gpu_at(indexes[0])
    limits = roofs(gpu, chosen.data)
    return CounterRoofline(chosen, gpu_name(gpu), limits, place_all(chosen.kernels, gpu, limits))
