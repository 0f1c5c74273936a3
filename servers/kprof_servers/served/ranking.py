"""Predict the times of a server's current configurations and of candidates, and rank them for each batch size.

If the server has tuned files for other shapes, the candidates come from these files: the best configuration of a shape
is usually also the best one of a similar shape, see :mod:`.tuned_neighbours`. Compiling the candidates excludes those
that cannot be launched or that spill, and the model excludes those that do not suit this shape. Without such files
the model alone ranks the configurations of the tuner's search space.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from kprof.errors import KprofError
from kprof.tuning import journal
from kprof.tuning.candidates import is_tie
from kprof.tuning.evaluation import Evaluation
from kprof.tuning.space import Space
from kprof_servers.served.choosing import RUNNERS_UP, for_all_rows, in_table, predicted
from kprof_servers.served.default_config import default_config
from kprof_servers.served.devices import ServedGpu
from kprof_servers.served.document import NeededFile, RankedBatch
from kprof_servers.served.interface import ModelServer, NeededLookup
from kprof_servers.served.kernel_source import cut, has_function
from kprof_servers.served.launches import SPACE, ServedExperts, ServedProduct
from kprof_servers.served.lookup import ServerCode
from kprof_servers.served.subject import ServedSubject
from kprof_servers.served.tuned_neighbours import of_gpu, read_all, votes

if TYPE_CHECKING:
    from kprof.hardware.machine import Architecture, Product
    from kprof.importing.functions import Function
    from kprof.tuning.search_result import Progress, SearchResult
    from kprof_servers.served.verify import Verifier

VOTED = 5
"""Number of configurations with the highest votes that are compiled for each batch size."""

_VETO = 1.0
"""Exponent of the predicted time in a vote's weight: with 1, twice the predicted time requires twice the votes.

In a test on 80 left-out buckets, this exponent found the best configuration of 43 buckets, as many as votes alone; the
model alone found 34.
"""

_Votes = Mapping[int, Sequence[tuple[Mapping[str, Any], float]]]


@dataclass(frozen=True)
class Ranker:
    """Ranks configurations of the kernels in a server's code.

    Attributes:
        server: the server.
        code: the server's code.
        gpu: the GPU.
        arch: architecture of the GPU.
        product: hardware data of the product, if one was named.
        batches: numbers of rows of a step, ranked one by one.
        trials: number of configurations to try per batch if no tuned file helps. It is not a time limit, so that two
            runs write the same files.
        jobs: number of worker processes; 0 for one per core.
        tell: called with the file's name and the state of its search.
        verifier: measures the best configurations on a GPU; ``None`` to only predict them.
        scheduler: address of a Dask scheduler whose workers compile; the results are the same.
        alternatives: whether to also rank the kernel families that the server's caller may choose instead of the main
            one for the same weights.
    """

    server: ModelServer
    code: ServerCode
    gpu: ServedGpu
    arch: "Architecture"
    product: "Product | None"
    batches: tuple[int, ...]
    trials: int
    jobs: int = 0
    tell: "Callable[[str, Progress], None]" = lambda _name, _progress: None
    verifier: "Verifier | None" = None
    scheduler: str | None = None
    alternatives: bool = False

    def ranked(self, need: NeededLookup, file: NeededFile, device: str) -> NeededFile:
        """Return the file with predicted times and proposals, or with the reason why there are none.

        Args:
            need: the file that is looked up.
            file: the file as looked up.
            device: the server's name of the GPU.
        """
        if need.alternative and not self.alternatives:
            return msgspec.structs.replace(
                file, unranked="--alternatives ranks other families for the same weights, too"
            )
        try:
            subject = self._tuning_subject(need, file)
            asked, basis = self._votes(file, device)
            found = self._searched(subject, file.name, asked)
        except KprofError as error:
            return msgspec.structs.replace(file, unranked=error.message)
        taken = "default" if file.status == "default" else "this"
        ranked = [
            _batch(rows, found, place, asked.get(rows, ()), taken=taken) for place, rows in enumerate(subject.batches)
        ]
        assumed = [f"times: {subject.launch.assumed}"] if subject.launch.assumed else []
        done = msgspec.structs.replace(file, ranked=ranked, basis=basis, notes=[*file.notes, *assumed])
        if subject.launch.is_shape_independent:
            done = in_table(done, subject.launch.table, for_all_rows(ranked, found), Path(self.code.root))
        if self.verifier is None:
            return done
        if not subject.launch.measured:
            said = "not measured, only predicted: kprof cannot check this kernel's result"
            return msgspec.structs.replace(done, notes=[*done.notes, said])
        return self.verifier.measured(subject, done)

    def _tuning_subject(self, need: NeededLookup, file: NeededFile) -> ServedSubject:
        reason = self.server.unranked(need, file, self.arch.name)
        if reason:
            raise KprofError(reason)
        if need.launch is None:
            raise KprofError(f"kprof does not know how this {need.kernel} is launched")
        runs = {batch.rows: batch.config for batch in file.batches if batch.config}
        if not runs and isinstance(need.launch, ServedProduct):
            call = next(iter(need.calls.values()))
            block = (need.launch.block_n, need.launch.block_k)
            found = (default_config(self.code.root / name, call.function, block) for name in call.files)
            default = next((each for each in found if each is not None), None)
            runs = {} if default is None else dict.fromkeys(self.batches, default)
        packed = isinstance(need.launch, ServedExperts) and need.launch.weights == "w4a16"
        kernel = f"{need.kernel}, w4a16" if packed else need.kernel
        function = self._function(kernel, self.server.kernels.get(kernel, ()))
        parts = {part: self.server.parts.get(part, ()) for part in need.launch.parts}
        others = {label: self._function(label, places) for label, places in parts.items()}
        label = f"{function.name} of {self.server.shown}"
        batches = tuple(rows for rows in self.batches if need.launch.supports_rows(rows))
        if not batches:
            raise KprofError(f"not launched in steps of these sizes: {need.launch.assumed}")
        return ServedSubject(label, function, self.arch, self.product, need.launch, batches, runs, others)

    def _function(self, kernel: str, places: Sequence[tuple[str, str]]) -> "Function":
        from kprof.importing.functions import load_function

        root = self.code.root.resolve()
        for name, function in places:
            if has_function(root, root / name, function):
                return load_function(cut(root, root / name, function), function)
        raise KprofError(f"version {self.code.version} has no kernel for {kernel} where kprof looks for it")

    def _votes(self, file: NeededFile, device: str) -> tuple[_Votes, str]:
        """Return the votes for each batch size, and a description of the tuned files that they come from."""
        folder = Path(self.code.root) / file.folder
        folders = sorted(folder.parent.glob("triton_*")) if folder.name.startswith("triton_") else [folder]
        known, devices = of_gpu(read_all(folders, file.name), device, self.gpu)
        if not known:
            return {}, "the model alone: the server has no tuned file of this kind for an AMD GPU"
        sizes = list(file.shape.values())
        asked = {rows: votes(known, (sizes[0], sizes[1]), rows) for rows in self.batches}
        count = "1 tuned file" if len(known) == 1 else f"{len(known)} tuned files"
        return asked, f"{count} of the server for other shapes, {devices}"

    def _candidates(self, subject: ServedSubject) -> list[Mapping[str, Any]]:
        """Return the current configurations and the kernel's candidates; those that lack a knob are dropped."""
        known = [*subject.launch.candidates]
        names = dict.fromkeys(name for config in known for name in config)
        today = [subject.base(problem) for problem in subject.problems] if known else []
        return [config for config in (*today, *known) if all(name in config for name in names)]

    def _searched(self, subject: ServedSubject, name: str, asked: _Votes) -> "SearchResult":
        from kprof.compiler.versions import installed
        from kprof.tuning import request, space
        from kprof.tuning.search import Search

        installed()
        judge = request.judge()
        own, ranges = subject.launch.default_knobs, subject.launch.space
        heard = [config for votes in asked.values() for config, _ in votes[:VOTED]] or self._candidates(subject)
        listed = {repr(sorted(c.items(), key=str)): {**own, **complete(c)} for c in heard}
        chosen = Space("tuned files for other shapes", listed=tuple(listed.values()))
        chosen = space.supported(chosen if listed else Space("the tuner's space", ranges), {})
        place = journal.place(None, subject.label, subject.arch.name, tuple(sorted(subject.dependencies())))
        kept = journal.TuningJournal(place, in_cache=True)
        executor = request.executor(judge, subject, self.jobs, self.scheduler)
        search = Search(
            subject, chosen, judge=judge, executor=executor, journal=kept,
            report=lambda progress: self.tell(name, progress), most=None if listed else self.trials,
        )  # fmt: skip
        try:
            found = search.run()
        finally:
            kept.close()
        if found.ended == "interrupted":
            raise KeyboardInterrupt
        return found


def complete(config: Mapping[str, Any]) -> dict[str, Any]:
    """Add Triton's defaults for the compiler options that a file leaves out."""
    from kprof.compiler import versions
    from kprof.kernel_spec import BACKEND_OPTIONS

    known = versions.option_defaults(versions.api().hip_options)
    wanted = {"num_warps", "num_stages", *(name for name in SPACE if name in BACKEND_OPTIONS)}
    return {**{name: known[name] for name in sorted(wanted) if name in known}, **config}


def _batch(
    rows: int, found: "SearchResult", place: int, heard: Sequence[tuple[Mapping[str, Any], float]], *, taken: str
) -> RankedBatch:
    own, ranked = found.own[place], [one for one in found.ranked[place] if one.time_us is not None]
    looked_at = sum(1 + len(one.alike) for one in ranked)
    runs = predicted(own, None) if own is not None and own.time_us is not None else None
    reason = "" if runs is not None else found.own_problems[place] or "the server's current configuration is not known"
    unlaunchable = runs is None and any(found.own_unlaunchable[place : place + 1])
    if unlaunchable:
        reason = f"{taken} cannot be launched: {reason}"
    order = in_order(ranked, heard)
    if not order:
        reason = reason or found.example or "no configuration compiles"
        return RankedBatch(rows, looked_at, runs, reason=reason, unlaunchable=unlaunchable)
    if own is not None and own.time_us is not None and not heard and own.time_us < (order[0][0].time_us or 0.0):
        # Without votes only the model ranks. If the current configuration is the fastest, it is the proposal.
        order = [(own, None), *order]
    best, share = order[0]
    return RankedBatch(
        rows,
        looked_at,
        runs,
        predicted(best, share),
        tie=own is not None and runs is not None and is_tie(best, own) and is_tie(own, best),
        runners_up=[predicted(one, votes) for one, votes in order[1 : 1 + RUNNERS_UP]],
        reason=reason,
        unlaunchable=unlaunchable,
    )


def in_order(
    ranked: Sequence[Evaluation], heard: Sequence[tuple[Mapping[str, Any], float]]
) -> list[tuple[Evaluation, float | None]]:
    """Return evaluated programs with their shares of the votes, the proposal first.

    Without votes, the shares are ``None`` and the programs are sorted by time.
    """
    pairs = list(zip(ranked, _shares(ranked, heard), strict=True))
    return sorted(pairs, key=lambda pair: _rank(*pair))


def _shares(ranked: Sequence[Evaluation], heard: Sequence[tuple[Mapping[str, Any], float]]) -> list[float | None]:
    """Return each program's share of the votes: the sum over all configurations that compile to the program."""
    if not heard:
        return [None] * len(ranked)
    total = sum(weight for _, weight in heard)

    def share(one: Evaluation) -> float:
        mine = [one.config, *one.alike]
        return sum(weight for config, weight in heard if any(config.items() <= each.items() for each in mine)) / total

    return [share(one) for one in ranked]


def _rank(one: Evaluation, share: float | None) -> tuple[bool, float]:
    """Return a sort key: programs with spills last, then by votes and time, or by time alone."""
    time = math.log(max(one.time_us or 0.0, 1e-9))
    spills = bool(one.resources.get("vgpr_spills"))
    return spills, time if share is None else _VETO * time - math.log(max(share, 1e-9))
