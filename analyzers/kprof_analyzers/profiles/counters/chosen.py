"""Read measured kernels, apply the user's selection, and group equal launches of several runs."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from kprof.errors import KprofError
from kprof.inputs import rocprof
from kprof.inputs.rocprof import Data
from kprof.output.progress import step
from kprof_analyzers.profiles.counters.identity import parse_fields
from kprof_analyzers.profiles.counters.kernels import KernelCounters, kernels
from kprof_analyzers.profiles.counters.machine import Gpus, MeasuredGpu, unknown_gpu
from kprof_analyzers.profiles.counters.metrics import Metric
from kprof_analyzers.profiles.counters.runs import Runs, runs_of

Derived = tuple[KernelCounters, dict[str, Metric]]
"""A kernel with its metrics."""


@dataclass(frozen=True)
class Chosen:
    """The data read from measurement files, and the kernels that the user selected.

    Attributes:
        fields: names of the :class:`Identity` fields that distinguish kernels.
        left_out: notes on kernels or files that are not shown, and the reasons.
        dispatches: ids of the requested dispatches; ``None`` for all.
    """

    data: Data
    runs: Runs
    gpus: Gpus
    kernels: list[KernelCounters]
    fields: tuple[str, ...]
    left_out: tuple[str, ...] = ()
    dispatches: tuple[int, ...] | None = None

    @property
    def used(self) -> list[int]:
        """Indexes of the runs that contain selected kernels."""
        return sorted({one.run for one in self.kernels})

    def gpu_at(self, index: int) -> MeasuredGpu:
        """Return a GPU by index."""
        found = self.gpus[index]
        assert found is not None
        return found

    def gpu(self, kernel: KernelCounters) -> MeasuredGpu:
        """Return the GPU that a kernel ran on."""
        return self.gpu_at(kernel.gpu)

    def identity(self, kernel: KernelCounters) -> dict[str, Any]:
        """Return a kernel's identity for JSON; ``None`` for fields that are unknown or differ in merged launches."""
        gpu = self.gpu(kernel)
        values = {
            field: found.pop() if len(found) == 1 else None
            for field in ("agent", "grid", "workgroup", "lds", "vgprs")
            for found in [{getattr(one, field) for one in kernel.identities}]
        }
        return {
            "run": self.runs.labels[kernel.run],
            "gpu": {"arch": gpu.arch.name, "product": gpu.product.name if gpu.product else None, "cus": gpu.cus},
            **values,
        }


def choose(
    paths: Sequence[str],
    *,
    arch: str | None,
    kernel: str,
    run: Sequence[str],
    dispatch: Sequence[int],
    by: str,
) -> Chosen:
    """Read files and select kernels.

    Args:
        paths: files and folders; each is a run.
        arch: GPU of files that do not name theirs.
        kernel: selects kernels whose name contains this text.
        run: selects runs by number or by a part of their path; empty selects all.
        dispatch: selects dispatches by id; empty selects all.
        by: :class:`Identity` fields that distinguish kernels, as text: ``name,grid``.

    Raises:
        KprofError: if nothing can be read, there are no counters, nothing matches a selection, or no GPU is known.
    """
    fields = parse_fields(by)
    data = rocprof.read(list(paths))
    if not len(data.counters):
        raise KprofError(
            "no counters in these files",
            path=paths[0],
            hint="they may be a trace: kprof ingest counters shows what a file holds",
        )
    runs, gpus = runs_of(data), Gpus(data, arch)
    wanted = _runs(runs, run)
    with step("grouping dispatches by kernel"):
        found = kernels(data, by=fields, runs=runs, gpus=gpus, dispatches=list(dispatch) or None)
    if not found:
        raise KprofError(f"no dispatch {' or '.join(map(str, dispatch))} has counters")
    found = [one for one in found if one.run in wanted]
    chosen = [one for one in found if kernel.lower() in one.name.lower()]
    if not chosen:
        raise KprofError(f"no kernel has {kernel!r} in its name" if kernel else "these runs have no kernels")
    known = [one for one in chosen if one.gpu >= 0]
    if not known:
        raise unknown_gpu()
    lost = len(chosen) - len(known)
    words = f"left out: {lost:,} kernels of files that do not name the measured GPU; name it with --arch"
    return Chosen(data, runs, gpus, known, fields, (words,) if lost else (), tuple(dispatch) or None)


def _runs(runs: Runs, asked: Sequence[str]) -> set[int]:
    if not asked:
        return set(range(len(runs.labels)))
    found = set()
    for text in asked:
        number = int(text) - 1 if text.isdecimal() else -1
        fitting = [place for place, label in enumerate(runs.labels) if text in label]
        if 0 <= number < len(runs.labels):
            fitting = [number]
        if not fitting:
            raise KprofError(f"no run {text!r}", hint=f"there are {', '.join(runs.labels)}")
        found.update(fitting)
    return found


def side_by_side(derived: Sequence[Derived]) -> list[list[Derived]]:
    """Group kernels that are the same launch in different runs; each group is in the order of the runs."""
    groups: dict[Any, list[Derived]] = {}
    for pair in derived:
        one = pair[0]
        shapes = frozenset((i.grid, i.workgroup, i.lds, i.vgprs) for i in one.identities)
        agents = frozenset(i.agent for i in one.identities)
        groups.setdefault((one.name, shapes, agents), []).append(pair)
    return [sorted(members, key=lambda pair: pair[0].run) for members in groups.values()]
