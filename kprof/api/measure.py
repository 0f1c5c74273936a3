"""``kprof.measure``: check and time a kernel on the GPU of this machine."""

import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from msgspec.structs import replace

from kprof.api.options import Path_
from kprof.api.result import Result
from kprof.bench import plan as bench
from kprof.bench.document import BenchReport, Measurement
from kprof.bench.values import VALUES
from kprof.errors import HardwareError, KprofError, near
from kprof.inputs.assignments import listed
from kprof.options.keywords import keywords
from kprof.options.programs import MeasureOptions

if TYPE_CHECKING:
    import pandas as pd

    from kprof.kernel_spec import Kernel
    from kprof.tuning.dispatch_table import Table


__all__ = ["Measurement", "Measurements", "measure"]


@dataclass(frozen=True, eq=False, repr=False)
class Measurements(Result):
    """Measured times of a kernel, in milliseconds.

    Attributes:
        document: the JSON document that ``kprof bench --json`` writes (``kprof.bench/1``).
        kernel: the kernel's name.
    """

    document: BenchReport
    kernel: str
    kind: ClassVar[str] = "bench"

    @property
    def exit_code(self) -> int:
        """Exit code: 0 for success, 1 for a wrong result, 2 if a measurement failed."""
        return bench.verdict(self.document)[0]

    @property
    def ok(self) -> bool:
        """Whether every requested measurement succeeded with a correct result."""
        return self.exit_code == 0

    @property
    def summary(self) -> str:
        """The number of measurements and failures, in one line."""
        return f"bench {self.kernel} on {self.document.device.name}: {bench.verdict(self.document)[1]}"

    def to_frame(self) -> "pd.DataFrame":
        """Return one row per case and provider.

        The columns include ``ms`` with percentiles, ``tflops``, ``gbs``, ``percent_of_limit`` and errors.
        """
        from kprof.api.frames import plain_frame
        from kprof.bench.document import flat

        rows = [flat(one) for one in self.document.measurements]
        return plain_frame(rows, rows[0] if rows else ())

    def draw(self, path: "Path_") -> None:
        """Draw the throughput over the cases as SVG, with one line per provider.

        Raises:
            KprofError: the file cannot be written.
        """
        from kprof.bench.plot import as_svg
        from kprof.output.writing import write_output

        write_output(os.fspath(path), as_svg(self.document))


@keywords
def measure(
    kernel: "Path_", *, options: MeasureOptions, progress: Callable[[Measurement], None] | None = None
) -> Measurements:
    """Check and time a kernel on a real GPU, ROCm or CUDA.

    Results are first compared with the kernel's reference; a case with a wrong result is reported but not timed.

    Args:
        kernel: a bundled kernel, or a file with a ``KERNEL``.
        options: cases, providers to compare with, and measuring time.
        progress: called with each measurement.

    Raises:
        HardwareError: there is no GPU.
        TargetError: the kernel does not exist.
        KprofError: a case, a provider or a table cannot be used, or torch is missing.
    """
    from kprof.targets import library

    _check_gpus(options)
    target = os.fspath(kernel)
    loaded = library.load(target)
    plan = bench.Plan(
        target=_absolute(target),
        cases=tuple(listed(options.case or "")),
        shape=dict(options.sizes),
        providers=tuple(options.provider),
        config=dict(options.config),
        seed=options.seed,
        values=_known_values(options.inputs),
        warmup_ms=options.warmup_ms,
        rep_ms=options.rep_ms,
        use_graph=options.graph,
        check_only=options.check_only,
        profile=options.profile,
        keep=options.keep,
        tuned=_tuned(loaded, options.table),
        timeout=options.timeout,
        given_limits=dict(options.limit),
        measure_limits=options.measure_limits,
        gpus=options.gpus,
    )
    before = _table_before(options.write_table)
    if options.keep is not None:
        _make_folder(options.keep)
    report = _run(loaded, plan, progress)
    if options.keep is not None:
        report = _with_reports(report, options.keep)
    if options.write_table is not None:
        _add_to_table(options.write_table, before, report)
    return Measurements(report, loaded.name)


def _check_gpus(options: MeasureOptions) -> None:
    """Reject options that cannot be used with several GPUs, before a kernel is loaded or a GPU is searched.

    Raises:
        KprofError: an option cannot be combined with several GPUs.
    """
    if options.gpus > 1 and options.write_table is not None:
        raise KprofError("a dispatch table is for one GPU: it cannot be written from times of several at once")
    if options.gpus > 1 and "tuned" in options.provider:
        raise KprofError("the provider tuned times configurations one by one, which several GPUs cannot do in step",
                         hint="find the configuration on one GPU and give it with --config")  # fmt: skip


def _absolute(target: str) -> str:
    """Return the target with an absolute file path, because the worker's current folder may differ."""
    path, separator, function = target.partition("::")
    return os.path.abspath(path) + separator + function if path.endswith(".py") else target  # noqa: PTH100


def _known_values(values: str) -> str:
    if values not in VALUES:
        raise KprofError(
            f"unknown kind of values {values!r}{near(values, VALUES)}", hint=f"there are {', '.join(VALUES)}"
        )
    return values


def _run(kernel: "Kernel", plan: bench.Plan, progress: Callable[[Measurement], None] | None) -> BenchReport:
    try:
        return bench.run(kernel, plan, progress)
    except HardwareError as error:
        hint = f"without a GPU: kprof analyze kernel {kernel.name} --arch gfx942"
        raise HardwareError(error.message, hint="\n  ".join(filter(None, (error.hint, hint)))) from error


def _tuned(kernel: "Kernel", table: "Path_ | None") -> Any:
    """Return a function that finds the configuration for ``--provider tuned`` in a table; ``None`` without a table."""
    if table is None:
        return None
    from kprof.tuning import dispatch_table
    from kprof.tuning.choice.tabled import tabled

    known = dispatch_table.read(os.fspath(table))

    def configuration(shape: Any, arch: str) -> Any:
        found = tabled(kernel, shape, arch, known).selection
        return found.config if found is not None and found.implementation == kernel.name else None

    return configuration


def _make_folder(path: str) -> None:
    """Create the folder for ``--keep``, which must be new or empty so that runs are not mixed up.

    Raises:
        KprofError: the folder cannot be created, or contains files.
    """
    folder = Path(path)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        used = any(folder.iterdir())
    except OSError as error:
        raise KprofError(f"--keep: {error.strerror}", path=path) from error
    if used:
        raise KprofError("--keep needs a new or an empty folder", path=path)


def _with_reports(report: BenchReport, folder: str) -> BenchReport:
    """Write kprof's report next to each kernel that ``--keep`` wrote, and the measured times into the folder."""
    from kprof.api.analyze import analyze
    from kprof.options.kernels import AnalyzeOptions
    from kprof.output.writing import write_output
    from kprof.reporters.json_document import encoded

    notes = list(report.notes)
    for kept in dict.fromkeys(one.kept for one in report.measurements if one.kept is not None):
        instructions = sorted(Path(kept).glob("*.amdgcn"))
        try:
            if instructions:
                found = analyze(*map(str, instructions), options=AnalyzeOptions())
                write_output(str(Path(kept) / "report.json"), encoded(found.document))
        except KprofError as error:
            notes.append(f"{kept}: no report: {error.message}")
    report = replace(report, notes=notes)
    write_output(str(Path(folder) / "bench.json"), encoded(report))
    return report


def _table_before(path: "Path_ | None") -> "Table | None":
    """Read the dispatch table to extend. This happens before measurements, so that a bad file is reported early."""
    from kprof.tuning import dispatch_table

    return dispatch_table.read(os.fspath(path)) if path is not None and Path(path).exists() else None


def _add_to_table(path: "Path_", before: "Table | None", report: BenchReport) -> None:
    from kprof.output.writing import write_output
    from kprof.reporters.json_document import encoded
    from kprof.tuning import dispatch_table

    write_output(os.fspath(path), encoded(dispatch_table.merge(before, dispatch_table.entries_of(report))))
