"""The search: take configurations best first, compile and analyse them, and collect the results.

The search can end at any time: when all configurations are done, when the budget is spent, by Ctrl-C, or killed. All
results so far are in the journal, and the next run continues from there.

The explored configurations depend neither on the number of workers nor on the cache. Results are used in the order in
which they were requested, and each choice uses all results except those still in flight.
"""

import math
import time
from collections import Counter, deque
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Literal

from kprof.errors import KprofError
from kprof.knobs import tile_of
from kprof.tuning.candidates import Candidate, failure_reason, merged
from kprof.tuning.estimate import Estimate
from kprof.tuning.evaluation import Evaluation
from kprof.tuning.inert import Inert
from kprof.tuning.journal import TuningJournal
from kprof.tuning.order import Order, Queue, ShortOrder
from kprof.tuning.pruning import LdsRule, Pruned, legal_values, question, value_problem
from kprof.tuning.search_result import Progress, SearchResult
from kprof.tuning.space import Space
from kprof.tuning.subject import TuningSubject
from kprof.tuning.watched_knobs import Question
from kprof.tuning.work import Executor, Judge, TaskResult, TuningTask, task_of

NEAR_BEST = 4
"""Number of best configurations whose neighbours are explored."""

IN_FLIGHT = 16
"""Maximum number of configurations in flight. The next choice uses every result except those still in flight."""


class Search:
    """One search over all problems of a subject.

    Args:
        subject: kernel, architecture and problems.
        space: the search space.
        judge: function that analyses each compiled configuration.
        executor: executor that compiles.
        journal: file that keeps the results; ``None``: results are not kept.
        budget: seconds after which no further compile starts; ``None``: no limit.
        report: called with the progress after each configuration.
        order: returns the order of a problem's configurations, given the kernel's own configuration; by default
            :class:`kprof.tuning.order.Queue` over the space.
        in_flight: maximum number of configurations submitted and not finished; workers beyond this number stay idle.
        most: maximum number of configurations per problem, besides the kernel's own; ``None``: no limit.
    """

    def __init__(
        self,
        subject: TuningSubject,
        space: Space,
        *,
        judge: Judge,
        executor: Executor,
        journal: TuningJournal | None,
        budget: float | None = None,
        report: Callable[[Progress], None] | None = None,
        order: Callable[[Mapping[str, Any]], Order] | None = None,
        in_flight: int = IN_FLIGHT,
        most: int | None = None,
    ) -> None:
        self._subject, self._space, self._judge = subject, space, judge
        self._executor, self._journal = executor, journal
        self._report = report or (lambda _progress: None)
        self._order, self._in_flight, self._most = order, in_flight, most
        self._files = subject.dependencies()
        self._target = subject.product.name if subject.product is not None else subject.arch.name
        self._answers: dict[str, TaskResult] = {}
        self._before: frozenset[str] = frozenset()
        self._waiting: dict[str, list[Candidate]] = {}
        # Configurations in flight, in the order in which they were chosen. Their results are used in this order, too.
        self._under_way: deque[Candidate] = deque()
        self._fastest: dict[int, float] = {}
        self._scored: list[list[Evaluation]] = [[] for _ in subject.problems]
        self._own: list[Evaluation | None] = [None for _ in subject.problems]
        self._own_problems = ["" for _ in subject.problems]
        self._own_unlaunchable = [False for _ in subject.problems]
        # Axis of the first result per problem: results are compared by time (""), or by cycles per element of an axis.
        self._axes: list[str | None] = [None for _ in subject.problems]
        self._pruned, self._failed = Pruned(), Counter[str]()
        self._lds = [LdsRule(subject.arch, subject.element_bytes(p)) for p in subject.problems]
        self._inert = [Inert(space.knobs) for _ in subject.problems]
        self._queues: list[Order] = []
        self._own_configs: list[dict[str, Any]] = []
        self._began = time.monotonic()
        self._ended: Literal["complete", "budget", "interrupted"] = "complete"
        self._compile_seconds = 0.0
        self._example = ""
        self._tiles: set[tuple[int, tuple[Any, ...]]] = set()
        self._not_kept = ""
        self.progress = Progress(budget=budget, problems=len(subject.problems))

    def run(self) -> SearchResult:
        """Search until all configurations are done, the budget is spent, or Ctrl-C is pressed.

        Raises:
            KprofError: if no configuration is legal, the kernel's file is broken, or no usable Triton is installed.
        """
        self._answers = self._journal.known() if self._journal is not None else {}
        self._before = frozenset(self._answers)
        self._own_configs = [self._own_config(self._subject.base(problem)) for problem in self._subject.problems]
        self._queues = [self._queue(index) for index in range(len(self._subject.problems))]
        self.progress.total = sum(queue.size for queue in self._queues)
        self.progress.tiles = sum(queue.tiles for queue in self._queues)
        if not self.progress.total:
            raise KprofError(_nothing(self._space, self._pruned.reasons), hint=_advice(self._pruned.reasons))
        try:
            for answer in self._executor.run(self._tasks()):
                self._take(answer)
        except KeyboardInterrupt:
            self._ended = "interrupted"
        for candidate in self._under_way:
            if not candidate.missing:
                self._learn(candidate)
        return self._result()

    def _queue(self, index: int) -> Order:
        subject, problem = self._subject, self._subject.problems[index]
        shape, arch = problem.values, subject.arch
        base = self._own_configs[index]
        if self._order is not None:
            return self._order(base)
        ask: Question = question(subject.kernel, shape, arch, self._space.constraints)
        space = self._space
        if space.listed:
            own, ask = ask, lambda config: value_problem(config, arch) or own(config)
        else:
            from dataclasses import replace

            space = replace(space, knobs=legal_values(space.knobs, arch, shape, self._pruned))
        estimate = Estimate(arch, subject.product, shape, subject.element_bytes(problem), base)
        queue = Queue(space, base, ask, estimate.cost, self._pruned)
        return queue if self._most is None else ShortOrder(queue, self._most)

    def _tasks(self) -> Iterator[TuningTask | None]:
        """Yield tasks in the order of their expected gain; each choice is made as late as possible.

        Yield ``None`` if the next choice needs a result that has not arrived.
        """
        for index, own in enumerate(self._own_configs):
            if own:
                if self._queues[index].claim(own):
                    yield from self._begin(index, own)
                yield from self._begin(index, own, own=True)
        while True:
            chosen = False
            for index, queue in enumerate(self._queues):
                yield from self._wait(self._in_flight - 1)
                if (config := next(queue, None)) is None:
                    continue
                if self._over():
                    self._ended = "budget"
                    return
                chosen = True
                yield from self._look_at(index, config)
            if not chosen:
                if not self._under_way:
                    return
                # The next result may add neighbours to the queues.
                yield from self._wait(len(self._under_way) - 1)

    def _wait(self, most: int) -> Iterator[None]:
        """Wait until at most ``most`` configurations are in flight; use no more results than that requires.

        Yield ``None`` whenever the oldest result has not arrived.
        """
        while len(self._under_way) > most:
            if self._under_way[0].missing:
                yield None
            else:
                self._learn(self._under_way.popleft())

    def _look_at(self, index: int, config: Mapping[str, Any]) -> Iterator[TuningTask]:
        if (why := self._lds[index].problem(config)) is not None:
            self._pruned.reasons[why] += 1
            self.progress.total -= 1
        elif self._inert[index].stand_in(config) is not None:
            self.progress.derived += 1
            self._see(index, config)
            self._end()
        else:
            yield from self._begin(index, config)

    def _own_config(self, base: Mapping[str, Any]) -> dict[str, Any]:
        """Return the kernel's own configuration, with fixed knobs, and Triton's defaults for options it leaves open."""
        from kprof.compiler import versions

        if not base:
            return {}
        knobs = self._space.knobs
        defaults = versions.option_defaults(versions.api().hip_options)
        fixed = {name: values[0] for name, values in knobs.items() if len(values) == 1}
        left_open = {n: defaults[n] for n in knobs if n not in base and n in defaults and defaults[n] in knobs[n]}
        return {**base, **left_open, **fixed}

    def _over(self) -> bool:
        budget = self.progress.budget
        return budget is not None and time.monotonic() - self._began >= budget

    def _begin(self, index: int, config: Mapping[str, Any], *, own: bool = False) -> Iterator[TuningTask]:
        problem = self._subject.problems[index]
        try:
            jobs = self._subject.jobs(problem, config)
        except KprofError as error:
            if own:
                self._own_problems[index] = error.message
            else:
                self._see(index, config)
                self._fail(TaskResult("", "failed", reason=error.message))
                self.progress.failed += 1
                self.progress.refused += 1
                self._end()
            return
        work = self._subject.flops(problem)
        tasks = [
            task_of(job, config, self._target, self._judge, self._files, flops=None if number else work)
            for number, job in enumerate(jobs)
        ]
        names = tuple(job.name for job in jobs)
        candidate = Candidate(index, problem, config, names, tuple(task.key for task in tasks), own=own)
        candidate.missing = {task.key for task in tasks if task.key not in self._answers}
        self._under_way.append(candidate)
        if not candidate.missing:
            candidate.resumed = self._before.issuperset(candidate.keys)
            self._complete(candidate)
            return
        for task in tasks:
            if task.key in candidate.missing:
                fresh = task.key not in self._waiting
                waiting = self._waiting.setdefault(task.key, [])
                if candidate not in waiting:
                    waiting.append(candidate)
                if fresh:
                    candidate.compiled = True
                    yield task

    def _take(self, answer: TaskResult) -> None:
        waiting = self._waiting.pop(answer.key, None)
        if waiting is None:
            return
        self._keep(answer)
        self._answers[answer.key] = answer
        self.progress.compiles += 1
        self._compile_seconds += 0.0 if answer.cached else answer.seconds
        for candidate in waiting:
            candidate.missing.discard(answer.key)
            candidate.cached = candidate.cached and answer.cached
            if not candidate.missing:
                self._complete(candidate)

    def _see(self, index: int, config: Mapping[str, Any]) -> None:
        self._tiles.add((index, tile_of(config)))
        self.progress.tiles_seen = len(self._tiles)

    def _keep(self, answer: TaskResult) -> None:
        """Append a result to the journal.

        If that fails, for example on a full disk, the search continues without it.
        """
        if self._not_kept or self._journal is None:
            return
        try:
            self._journal.add(answer)
        except KprofError as error:
            self._not_kept = error.message

    def _complete(self, candidate: Candidate) -> None:
        """Count a configuration whose results have all arrived."""
        if candidate.own:
            return
        self._see(candidate.index, candidate.config)
        if candidate.compiled:
            self.progress.compiled += 1
            self.progress.cached += candidate.cached
        elif candidate.resumed:
            self.progress.resumed += 1
        else:
            self.progress.shared += 1
        result = candidate.score(self._answers)
        if isinstance(result, TaskResult):
            self.progress.failed += 1
        elif result.rank < self._fastest.get(candidate.index, math.inf):
            self._fastest[candidate.index] = result.rank
            self.progress.best = (candidate.problem.name, result.rank)
            self.progress.axis = result.axis
        self._end()

    def _learn(self, candidate: Candidate) -> None:
        """Use a configuration's results for the choice of later configurations."""
        index, config = candidate.index, candidate.config
        lds = self._answers[candidate.keys[0]].resources.get("lds_bytes")
        if isinstance(lds, int):
            self._lds[index].learn(config, lds)
        result = candidate.score(self._answers)
        if isinstance(result, Evaluation):
            result = self._comparable(index, result)
        if candidate.own:
            self._own[index] = result if isinstance(result, Evaluation) else None
            self._own_problems[index] = "" if isinstance(result, Evaluation) else result.reason or result.status
            self._own_unlaunchable[index] = not isinstance(result, Evaluation) and result.status == "unlaunchable"
        elif isinstance(result, TaskResult):
            self._fail(result)
        else:
            mine = self._scored[index]
            faster = sum(other.rank < result.rank for other in mine)
            mine.append(result)
            self._inert[index].learn(result)
            if faster < NEAR_BEST:
                self._queues[index].look_near(config, result.rank)

    def _comparable(self, index: int, result: Evaluation) -> Evaluation | TaskResult:
        """Reject a result in another unit than the first one: as a time, or as cycles per element of some axis."""
        first = self._axes[index]
        if first is None:
            self._axes[index] = result.axis
        elif result.axis != first:
            here, there = (f"cycles per element of {axis}" if axis else "a time" for axis in (result.axis, first))
            return TaskResult(
                "", "failed", reason=f"not comparable: it has {here}, but the first configuration has {there}"
            )
        return result

    def _fail(self, bad: TaskResult) -> None:
        self._example = self._example or bad.reason or bad.status
        self._failed[failure_reason(bad)] += 1

    def _end(self) -> None:
        self.progress.seconds = time.monotonic() - self._began
        self._report(self.progress)

    def _result(self) -> SearchResult:
        ranked = [merged(scored) for scored in self._scored]
        self.progress.seconds = time.monotonic() - self._began
        return SearchResult(
            space=self._space,
            ranked=ranked,
            own=list(self._own),
            pruned=self._pruned.reasons,
            failed=self._failed,
            inert=tuple(dict.fromkeys(name for one in self._inert for name in one.knobs)),
            duplicates=sum(len(s) for s in self._scored) - sum(len(r) for r in ranked),
            progress=self.progress,
            compile_seconds=self._compile_seconds,
            ended=self._ended,
            own_problems=list(self._own_problems),
            own_unlaunchable=list(self._own_unlaunchable),
            example=self._example,
            not_kept=self._not_kept,
        )


def _nothing(space: Space, reasons: Counter[str]) -> str:
    most = ", ".join(f"{count:,} {why}" for why, count in reasons.most_common(3) if count)
    return f"none of the {space.size:,} configurations of {space.origin} is legal" + (f": {most}" if most else "")


def _advice(reasons: Counter[str]) -> str | None:
    return "give other values with --space or --config" if reasons else None
