"""Compare times that ``kprof bench --keep`` measured with predicted times, for ``kprof validate``; needs no GPU."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import UNSET
from msgspec.structs import replace as changed

from kprof.api.analyze import Analysis
from kprof.bench.kept import folder_of, read_call, read_times
from kprof.condition import Condition
from kprof.errors import InputError, KprofError
from kprof.hardware.machine import find_product, product_in

if TYPE_CHECKING:
    from kprof.bench.document import BenchReport, Measurement, Timing
    from kprof.bench.kept import KeptCall
    from kprof.document import KernelReport
    from kprof.hardware.machine import Product
    from kprof.measured import Measured
    from kprof.targets.loaded import LoadedKernel

# Implementations (--provider) that launch only the Triton kernels of the measured kernel's own file.
_OWN = ("triton", "tuned")


def validated_times(folders: Sequence[str], kernel: str | None = None) -> Analysis:
    """Analyse the timed kernels as they were launched, and attach the measured time of each call.

    Args:
        folders: folders that ``kprof bench --keep`` wrote.
        kernel: the kernel to compare; ``None`` compares all.

    Raises:
        KprofError: a folder cannot be read, or no measurement in it can be compared.
    """
    from kprof_analyzers.verdict import report

    found: list[KernelReport] = []
    problems: list[KprofError] = []
    for folder in map(Path, folders):
        times = read_times(folder)
        for measurement in times.measurements:
            if kernel in {None, measurement.kernel}:
                try:
                    found += _compared(folder, times, measurement)
                except KprofError as error:
                    problems.append(error)
    if not found:
        raise (
            problems[0]
            if problems
            else InputError(
                "no kept kernel was timed here" if kernel is None else f"no kept kernel {kernel!r} was timed here",
                path=folders[0],
                hint="kprof bench --keep keeps Triton kernels; --check-only times none.",
            )
        )
    return Analysis(report(found, failed=[str(one) for one in problems]), problems, [None] * len(found))


def _compared(folder: Path, times: "BenchReport", measurement: "Measurement") -> "Iterator[KernelReport]":
    """Yield the report of each launch of a measured call; the first report also holds the measured time of the call."""
    from kprof_analyzers.pipeline import analyze

    place = folder_of(folder, measurement)
    if place is None or measurement.timing is None:
        return
    call = read_call(place)
    title = f"{measurement.kernel} {measurement.case} {measurement.who}"
    condition = _condition(measurement.timing, call)
    kernels = list(_loaded(place, call, _product(times), condition))
    several = len(kernels) > 1
    reports = []
    for number, kernel in enumerate(kernels):
        name = f"{title}, launch {number + 1}: {kernel.name}" if several else title
        found = analyze(replace(kernel, name=name, job=title if several else ""), model=True)
        reports.append(found)
    yield changed(reports[0], measured=_measured(times, measurement, kernels, reports))
    yield from reports[1:]


def _loaded(place: Path, call: "KeptCall", product: "Product | None", condition: Condition) -> "Iterator[LoadedKernel]":
    """Yield the kernels of a call with their recorded grid and arguments."""
    from kprof.targets.artefacts import load_file

    for launch in call.launches:
        file = place / f"{launch.file}.amdgcn"
        if not file.is_file():
            raise InputError("is not there: only kernels of AMD GPUs can be compared", path=str(file))
        for kernel in load_file(file):
            if product is not None and product.arch != kernel.arch.name:
                raise InputError(f"is for {kernel.arch.name}, and {product.name} was measured", path=str(file))
            yield replace(
                kernel,
                grid=tuple(launch.grid),
                arguments=launch.arguments,
                contents=launch.contents,
                product=product,
                condition=condition,
            )


def _product(times: "BenchReport") -> "Product | None":
    name = product_in(times.device.name)
    return None if name is None else find_product(name)


def _condition(timing: "Timing", call: "KeptCall") -> Condition:
    """Return the timing condition of a call that was timed by ``kprof bench``.

    Calls cycle through several sets of inputs and outputs, so the caches hold the data of other sets before a call.
    """
    graph = timing.method == "graph"
    how = "a device graph replayed" if graph else "each call between two events"
    return Condition(
        "bench",
        "kept" if call.set_bytes else "clean",
        events=not graph,
        replayed=graph,
        between=float(timing.buffers * call.set_bytes) or None,
        text=f"{how}, {timing.buffers} sets of inputs and outputs in turn",
        short=f"{timing.buffers} sets of data in turn",
    )


def _measured(
    times: "BenchReport",
    measurement: "Measurement",
    kernels: "Sequence[LoadedKernel]",
    reports: "Sequence[KernelReport]",
) -> "Measured":
    """Return the measured time of a call, compared with the predicted time."""
    from kprof.measured import Measured
    from kprof_analyzers.profiles.measured.judge import compare_call

    assert measurement.timing is not None
    notes = []
    if len(kernels) > 1:
        notes.append(f"the measured time covers the whole call: {', '.join(kernel.name for kernel in kernels)}")
    if any(one.model is UNSET or one.model.time_us is None for one in reports):
        why = [note for one in reports for note in one.notes if "not modelled" in note]
        notes.append("; ".join(dict.fromkeys(why)) or "the model predicts no time")
    doubt = "" if _is_own(measurement) else f"{measurement.provider} may launch kernels that were not kept"
    if measurement.timing.note:
        notes.append(measurement.timing.note)
    found = compare_call(1e3 * measurement.timing.median, reports, doubt)
    return Measured(times.device.name, [], [], [], notes=notes, comparisons=[] if found is None else [found])


def _is_own(measurement: "Measurement") -> bool:
    """Return whether the timed implementation launches only kernels of the kernel's own file."""
    from kprof.targets.library import bundled

    return measurement.provider in {*_OWN, *bundled()}
