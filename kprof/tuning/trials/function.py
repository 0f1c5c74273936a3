"""Advise on a bare Triton function whose arguments, sizes and workgroups are given."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from kprof.deadline import Deadline
from kprof.errors import KprofError, TargetError
from kprof.hardware.machine import Architecture, Product
from kprof.kernel_spec import BACKEND_OPTIONS
from kprof.tuning.trials.trial import Trials

if TYPE_CHECKING:
    from kprof.kernel_spec import Kernel
    from kprof.options.groups import CompileOptions
    from kprof.tuning.recorded.relaunch import LaunchDescription
    from kprof.tuning.subject import SignatureSubject


def advise_function(
    kernel: "Kernel",
    machine: Architecture,
    options: "CompileOptions",
    *,
    product: Product | None = None,
    budget: float = 60.0,
    progress: Callable[[int, str], None] | None = None,
) -> Trials:
    """Search for better knobs of a function, as :func:`kprof.tuning.trials.advise` does for kernels with cases.

    Only tile sizes that the function's source reveals, and values that its autotuner lists, are changed.

    Args:
        kernel: the function.
        machine: architecture.
        options: its sizes as the shape, its knobs as the configuration; signature, grid and constexprs of its launch.
        product: the GPU; ``None``: the architecture's first product.
        budget: seconds after which no further compile starts.
        progress: called with the number of finished compiles and a status text.

    Raises:
        TargetError: if it is a kernel with cases, or the launch is incomplete.
        KprofError: if the present configuration does not compile, or the model has no time for it.
    """
    from kprof.tuning.recorded.knobs import changes_in, values
    from kprof.tuning.trials.analysed import analysed_start
    from kprof.tuning.trials.climb import ClimbScope, climb_around

    deadline = Deadline(budget)
    subject, start, ready = _subject(kernel, machine, options, product)
    (problem,) = subject.problems
    (job,) = subject.jobs(problem, start)
    begun = analysed_start(job, start, use_cache=options.use_cache)
    assert begun.report is not None
    constants = {name for name in start if name not in BACKEND_OPTIONS}
    around = ClimbScope(
        f"neighbours of {kernel.name}'s given configuration",
        changes_in(values(start, constants, ready), machine, {finding.rule for finding in begun.report.findings}),
        lambda base: [{**base, **config} for config in ready.configs],
    )
    found = climb_around(
        subject, begun, around, deadline=deadline, progress=progress,
        jobs=options.jobs, use_cache=options.use_cache,
    )  # fmt: skip
    if isinstance(found, str):
        raise TargetError(
            f"the model has no time for {kernel.name}: {found}", hint="kprof analyze kernel says what is unknown."
        )
    return found


def _subject(
    kernel: "Kernel",
    machine: Architecture,
    options: "CompileOptions",
    product: Product | None,
) -> "tuple[SignatureSubject, dict[str, Any], LaunchDescription]":
    """Return the function with its launch, the starting configuration, and the knobs that may change."""
    from kprof.targets.target import kind_of
    from kprof.targets.usable_options import check, given
    from kprof.tuning.problems import Problem
    from kprof.tuning.request import check_grid, check_sizes, grid_of
    from kprof.tuning.subject import SignatureSubject

    check(kind_of(kernel), kernel.name, given(options))
    ready, start = _ready(kernel, options)
    grid = grid_of(options.grid)
    product = product or next(iter(machine.products.values()), None)
    problem = Problem("as given", dict(options.sizes))
    subject = SignatureSubject(
        kernel, machine, product, (problem,), options.signature or "", grid, options.constexpr, options.value, start,
        options.condition,
    )  # fmt: skip
    check_sizes(subject, problem)
    check_grid(subject, {*start, *options.sizes, *options.constexpr})
    return subject, start, ready


def _ready(kernel: "Kernel", options: "CompileOptions") -> "tuple[LaunchDescription, dict[str, Any]]":
    """Return the knobs of the function that may change, and the starting configuration."""
    from kprof.importing.functions import unwrap
    from kprof.recording.tile_arguments import tiles_of
    from kprof.tuning.recorded.relaunch import LaunchDescription

    function = unwrap(kernel.entry)
    if function is None:
        raise KprofError(f"{kernel.name} is not a Triton function")
    tiles = tiles_of(function.jit)
    configs = [dict(config) for config in function.configs]
    start = {**(configs[0] if configs else {}), **options.config}
    return LaunchDescription(tiles.dealt, tiles.stepped, tiles.orders, configs), start
