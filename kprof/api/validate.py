"""``kprof.validate``: compare the performance model with measurements."""

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from msgspec import UNSET

from kprof.api.analyze import Analysis, analyzed
from kprof.api.result import Result
from kprof.bench.kept import is_kept
from kprof.errors import KprofError, TargetError
from kprof.measured import Measured, Verdict
from kprof.options.kernels import ValidateOptions
from kprof.options.keywords import keywords
from kprof.targets.target import TargetLike
from kprof.targets.usable_options import FLAGS, given

if TYPE_CHECKING:
    import pandas as pd

_COLUMNS = ("kernel", "arch", "part", "quantity", "unit", "measured", "modelled", "ratio", "standing")


@dataclass(frozen=True, eq=False, repr=False)
class Validation(Result):
    """Comparison of the measured and modelled values of kernels.

    Attributes:
        analysis: the kernels; kernels without measurements have no ``measured``, but a note.
    """

    analysis: Analysis
    kind: ClassVar[str] = "validation"

    @property
    def kernels(self) -> "Sequence[tuple[str, str, Measured]]":
        """Name, architecture and comparison of each measured kernel."""
        found = self.analysis.kernels
        return [(one.name, one.arch, one.measured) for one in found if one.measured is not UNSET]

    @property
    def standing(self) -> Verdict:
        """``refuted`` if a time is outside the model's range, ``confirmed`` if all are in it, or ``cannot tell``."""
        standings = [time_standing(measured) for _, _, measured in self.kernels]
        if "refuted" in standings:
            return "refuted"
        return "cannot tell" if "cannot tell" in standings or not standings else "confirmed"

    @property
    def document(self) -> dict[str, Any]:
        """The JSON document that ``kprof validate --json`` writes."""
        import msgspec

        kernels = []
        for name, arch, measured in self.kernels:
            built = msgspec.to_builtins(measured)
            kept = {key: built[key] for key in ("gpu", "matches", "comparisons", "loops", "notes")}
            kernels.append({"kernel": name, "arch": arch, "standing": time_standing(measured), **kept})
        return {"schema": "kprof.validation/1", "standing": self.standing, "kernels": kernels}

    @property
    def summary(self) -> str:
        """The error of the predicted times, in one line."""
        from kprof.reporters.validation_text import verdict

        return verdict(self.kernels, self.standing)

    def to_frame(self) -> "pd.DataFrame":
        """Return one row per kernel and quantity, and one row per traced loop and source line.

        The columns include ``measured``, ``modelled`` and their ``ratio``, and for a quantity with a range its
        ``standing``.
        """
        from kprof.api.frames import plain_frame

        return plain_frame(self._rows(), _COLUMNS)

    def _rows(self) -> Iterator[dict[str, Any]]:
        for name, arch, measured in self.kernels:
            first = {"kernel": name, "arch": arch}
            for one in measured.comparisons:
                numbers = {"measured": one.measured, "modelled": one.modelled, "ratio": one.ratio}
                yield {**first, "quantity": one.id, "unit": one.unit, **numbers, "standing": one.standing}
            for loop in measured.loops:
                part = {**first, "part": f"loop {loop.header}", "unit": "cycles per iteration"}
                whole = {"measured": loop.measured, "modelled": loop.modelled, "ratio": loop.ratio}
                yield {**part, "quantity": "all", **whole}
                for line in loop.by_line:
                    yield {**part, "quantity": line.place, "measured": line.measured, "modelled": line.modelled}


def time_standing(measured: Measured) -> Verdict:
    """Return the verdict on a kernel's time: ``confirmed`` if the measured time is within the model's range."""
    return next((one.standing for one in measured.comparisons if one.id == "time_us"), "cannot tell")


def _refuse(folder: str, options: ValidateOptions) -> None:
    """Reject compile options for a folder of ``kprof bench --keep``, whose kernels were compiled already.

    Raises:
        TargetError: a compile option is set.
    """
    named = [*(["--arch"] if options.arch else []), *(FLAGS[name] for name in given(options))]
    if named:
        raise TargetError(
            f"a folder of kprof bench --keep does not use {' and '.join(named)}",
            path=folder,
            hint="The folder contains the kernels' compile options, launches and GPU.",
        )


def _path(target: TargetLike) -> str:
    return os.fspath(target) if isinstance(target, str | os.PathLike) else ""


@keywords
def validate(*targets: TargetLike, options: ValidateOptions, program: Sequence[str] | None = None) -> Validation:
    """Compare the performance model's predictions for kernels with measurements.

    Args:
        targets: as for :func:`kprof.analyze`; or folders of ``kprof bench --keep``, which have the measured times.
        options: as for :func:`kprof.analyze`, including ``counters``, ``trace`` or ``thread_trace``. Folders of
            ``kprof bench --keep`` support only ``kernel``.
        program: arguments of the one Python file in ``targets``, as for :func:`kprof.analyze`.

    Raises:
        KprofError: as :func:`kprof.analyze`, or no measurement is named.
    """
    if not options.counters and not options.trace and options.thread_trace is None:
        folders = [text for text in map(_path, targets) if is_kept(text)]
        if folders and len(folders) == len(targets) and program is None:
            from kprof.api.kept_times import validated_times

            _refuse(folders[0], options)
            return Validation(validated_times(folders, options.kernel))
        raise KprofError(
            "no measurement is named",
            hint="--counters PATH, --trace PATH or --thread-trace FOLDER, of this kernel; or the folder of kprof bench "
            "--keep in place of the kernel",
        )
    return Validation(analyzed(targets, options, program=program))
