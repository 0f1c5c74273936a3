"""``kprof.trace_ops``: operators by shape against what the GPU can do."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from kprof.api.options import Values
from kprof.api.trace.answer import Path_, PerTrace, per_file
from kprof.errors import KprofError

if TYPE_CHECKING:
    import pandas as pd

    from kprof.inputs.completeness import Repairs
    from kprof.targets.target import TargetLike
    from kprof.tuning.search_result import Progress
    from kprof_analyzers.profiles.measured.launches import TargetLaunch
    from kprof_analyzers.profiles.timeline.operators.rooflines import OperatorTable


@dataclass(frozen=True, eq=False, repr=False)
class TraceOps(PerTrace):
    """What each operator computes and moves a second, those that lose most time first.

    Attributes:
        traces: one entry a trace: ``rows``, the GPU's ``limits``, and what has no roofline.
        targets: launches of the targets' kernels with the model's time, and what a search found; ``None`` where no
            target was named.
    """

    traces: "Sequence[OperatorTable]"
    targets: "Sequence[TargetLaunch] | None" = None

    @property
    def contents(self) -> dict[str, Any]:
        """Everything, as ``kprof trace ops --json`` writes it."""
        found = {} if self.targets is None else {"targets": self.targets}
        return {"schema": "kprof.trace.ops/1", "traces": self.traces, **found}

    @property
    def conclusion(self) -> str:
        """How much time is lost against the limits, and where most; of targets, what a search would give back."""
        from kprof.reporters.trace_ops_text import verdict
        from kprof.reporters.trace_targets_text import verdict as of_targets

        searched = [] if self.targets is None else [of_targets(self.targets)]
        return "; ".join([verdict(self.traces), *searched])

    def to_frame(self, table: Literal["operators", "targets"] = "operators") -> "pd.DataFrame":
        """A row a trace, operator, shapes and types: ``total_ns``, ``tflops``, ``tbs``, ``share`` of the limit that is
        its ``bound``, and ``lost_ns``. ``targets``: a row a launch of a target's kernel.

        Raises:
            KprofError: there is no such table.
        """  # noqa: D205 - one sentence
        from kprof.reporters._frames import plain_frame, struct_frame
        from kprof.reporters.trace_targets_text import COLUMNS, record
        from kprof_analyzers.profiles.timeline.operators.rooflines import OperatorRoofline

        if table == "targets":
            return plain_frame(map(record, self.targets or ()), COLUMNS)
        if table != "operators":
            raise KprofError(f"there is no table {table!r}", hint="there are operators, targets")
        rows = [({"path": one.info.path}, row) for one in self.traces for row in one.rows]
        return struct_frame(OperatorRoofline, rows, ("path",))


def trace_ops(
    *paths: Path_,
    arch: str | None = None,
    jobs: int = 1,
    scheduler: str | None = None,
    repairs: "Repairs" = (),
    targets: "TargetLike | Sequence[TargetLike]" = (),
    tune: bool = False,
    config: Values | None = None,
    shape: Values | None = None,
    case: str | None = None,
    signature: str | None = None,
    constexpr: Values | None = None,
    grid: str | Sequence[int] = "",
    value: Mapping[str, int | Sequence[int]] | None = None,
    space: Path_ | None = None,
    budget: float | None = None,
    progress: "Callable[[Progress], None] | None" = None,
) -> TraceOps:
    """What each operator computes and moves a second, against the GPU's published limits.

    Work comes from the shapes in the trace (``record_shapes=True``): operations, and every operand and result once.

    Args:
        paths: traces, folders of them, or the tables that ``kprof ingest trace`` wrote.
        arch: the product, where the trace does not name its GPU.
        jobs: processes that read, 0 for one a core.
        scheduler: a Dask scheduler that does the per-file step instead: ``tcp://host:8786``.
        repairs: ``exclude-warm-up``, ``cap-durations``: what to repair in each trace; nothing by default.
        targets: kernels, as for :func:`kprof.analyze`, whose launches get the model's time next to the measured one.
        tune: search their configurations on all cores: what the best one is predicted to give back.
        config: knobs that the targets were launched with, where they are not the kernel's own.
        shape: problem parameters, or values of a function's arguments.
        case: one of a kernel's named shapes.
        signature: argument types of a function.
        constexpr: its compile-time arguments.
        grid: its workgroups: numbers, or with ``tune`` expressions as for :func:`kprof.tune`.
        value: numbers that a launch does not tell, as for :func:`kprof.analyze`.
        space: a file with the values of knobs to search, instead of the kernel's own.
        budget: seconds after which a search begins no compile, by default 300.
        progress: called with the state of each search.

    Raises:
        HardwareError: the product is not known, or an architecture was named, which has no peaks of its own.
        InputError: a named file is missing or cannot be read, none in a folder can, or a target's kernel is in none.
        TargetError: there is an option for targets and no target, or one of a search and no search.
        KprofError: a target cannot be compiled or searched.
    """
    from kprof.api.trace.targets import TracedTargets
    from kprof_analyzers.profiles.timeline import steps

    if arch:
        _check_product(arch)
    given = targets if isinstance(targets, Sequence) and not isinstance(targets, str) else [targets]
    options = {
        "config": config, "shape": shape, "case": case, "signature": signature, "constexpr": constexpr, "value": value,
    }  # fmt: skip
    wanted = TracedTargets(given, options, grid, tune, {"space": space, "budget": budget})
    wanted.check()
    if not given:
        found, left_out = per_file(
            steps.operators_step, paths, jobs=jobs, scheduler=scheduler, repairs=repairs, gpu=arch
        )
        return TraceOps(left_out, found)
    step = steps.operators_and_launches_step
    both, left_out = per_file(step, paths, jobs=jobs, scheduler=scheduler, repairs=repairs, gpu=arch)
    launches = wanted.launches([shapes for _, shapes in both], arch, progress)
    return TraceOps(left_out, [table for table, _ in both], launches)


def _check_product(name: str) -> None:
    from kprof.errors import HardwareError
    from kprof.hardware import machine

    if machine.find_product(name) is None:
        products = ", ".join(machine.load(name).products)
        raise HardwareError(f"{name} has no peaks of its own: name a product", hint=f"its products are {products}")
