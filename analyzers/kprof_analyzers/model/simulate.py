"""Simulate wavefronts on the pipes of one CU, operation by operation.

If workgroups have wavefronts on all SIMDs of a CU, the SIMDs execute the same code. In this case one SIMD is simulated,
and the time of shared units (LDS, vector memory) is multiplied by the number of SIMDs. Smaller workgroups are
independent of each other and fall out of step, so all SIMDs are simulated with their wavefronts.

A wavefront issues its operations in order, at most one every ``issue`` cycles. Of several wavefronts, the one that can
issue earliest does; if several can, the one with the smallest number. Each wait counter is a queue of non-decreasing
completion times, because memory returns data in order.
"""

# ruff: noqa: FURB136, PLR1730  # max() is a call, and there are thousands of comparisons in one simulation.
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from heapq import heappop, heappush

from kprof_analyzers.model.program import (
    BARRIER,
    BRANCH,
    BUSY,
    DELAY,
    IDLE,
    KIND,
    LDS,
    MATRIX,
    SCALAR,
    SCRATCH,
    SMEM,
    STORE,
    VALU,
    VMEM,
    WAIT,
    WAITS,
    Op,
)  # fmt: skip
from kprof_analyzers.model.setting import SimulationInput

BEGIN, END, SPLIT = 10, 11, 12
"""Additional kinds of operations.

- BEGIN: start of a loop; ``a`` is its number.
- END: end of an iteration; ``a`` is the loop's number, ``b`` the position of its BEGIN, ``c`` the iterations.
- SPLIT: barrier of one half of the wavefronts; ``a`` is 1 for the second half and 0 for the first.
"""

CAUSES = ("matrix", "vector", "lds", "memory latency", "memory bandwidth", "barrier", "issue", "scratch")
_MATRIX, _VECTOR, _LDS, _LATENCY, _BANDWIDTH, _BARRIER, _ISSUE, _SCRATCH = range(8)
CAUSE_COUNT = len(CAUSES)

_NEVER = float("inf")
_BARRIERS = frozenset({BARRIER, SPLIT})
_NO_LINES = frozenset({STORE, SCRATCH})
"""Paths whose accesses reserve no lines of the vector cache for data in flight."""


@dataclass
class IterationTimes:
    """Times at which wavefronts started and ended the iterations of a loop, for the loop's last entry.

    Attributes:
        times: for each wavefront, the cycle of the loop's start and of the end of each iteration.
        first: position of the first instruction in ``middle`` and ``end``. These contain only the loop's instructions
            to save memory, because a program may have thousands of loops.
        middle: cycles of all wavefronts by operation and cause, when the first wavefront had done half its iterations.
        end: cycles of all wavefronts by operation and cause, when the first wavefront had done all its iterations.
        busy: for the moments of ``middle`` and ``end``: the cycle, and the number of cycles that the matrix and the
            vector pipe had been busy.
    """

    times: list[list[float]]
    first: int = 0
    middle: list[float] = field(default_factory=list)
    end: list[float] = field(default_factory=list)
    busy: list[tuple[float, float, float]] = field(default_factory=list)


@dataclass(frozen=True)
class SimulationResult:
    """Result of one simulation.

    Attributes:
        cycles: cycles until the last wavefront ended.
        spent: cycles of all wavefronts together: for each operation, one number for each of the eight causes.
        iterations: times of the iterations by loop number.
        matrix, vector: cycles that the SIMD's pipes were busy.
        memory: cycles that the CU's share of the memory system was busy, including stores that nothing waits for.
    """

    cycles: float
    spent: list[float]
    iterations: dict[int, IterationTimes]
    matrix: float
    vector: float
    memory: float = 0.0


class Simulator:
    """Simulator of one SIMD of a CU, or of all of them."""

    def __init__(self, steps: Sequence[tuple[Op, int]], groups: int, waves: int, setting: SimulationInput) -> None:
        """Set up the state of all wavefronts and pipes.

        Args:
            steps: operations in the order of execution, each with its position in the program.
            groups: workgroups on the CU.
            waves: simulated wavefronts of each workgroup.
            setting: parameters of machine and program.
        """
        total = groups * waves
        self.ops = [op for op, _ in steps]
        self.where = [CAUSE_COUNT * at for _, at in steps]
        self.loops = 1 + max((int(op[BUSY]) for op in self.ops if op[KIND] == BEGIN), default=-1)
        self.waves, self.paths = waves, setting.paths
        self.issue, self.branch = float(setting.issue), float(setting.branch)
        self.skew, self.blocking = setting.skew, setting.blocking_matrix
        self.lds_queue, self.l1_queue = setting.queues
        self.begins = [setting.stagger * (w // waves) for w in range(total)]
        self.at = [0] * total
        self.iteration = [[0] * self.loops for _ in range(total)]
        counters = range(max(1, setting.counters))
        self.queues: list[list[list[tuple[float, float, int]]]] = [[[] for _ in counters] for _ in range(total)]
        self.ready = [[0.0] * setting.results for _ in range(total)]
        self.arrived = [0] * groups
        self.since = [0.0] * total
        self.released: list[tuple[float, int]] = []
        self.spent = [0.0] * (CAUSE_COUNT * max(setting.positions, 1))
        self.iterations: dict[int, IterationTimes] = {}
        self.spans = setting.spans
        self.vector_free = self.matrix_free = self.scalar_free = self.port_free = self.lds_free = self.l1_free = 0.0
        self.simds, self.simd = setting.simds, 0
        self.pipes = [(0.0, 0.0, 0.0, 0.0)] * setting.simds
        self.flying: deque[tuple[float, float]] = deque()
        self.flying_bytes, self.most_bytes = 0.0, setting.in_flight
        self.memory_free = [0.0] * (1 + max(path.queue for path in setting.paths))
        self.matrix_busy = self.vector_busy = self.memory_busy = 0.0

    def steppers(self) -> list[Callable[[int, Op, float, int], float]]:
        """Return the method for each kind of operation.

        This is not an attribute, because bound methods in an attribute would be a reference cycle.
        """
        table: dict[int, Callable[[int, Op, float, int], float]] = {
            VALU: self._valu,
            MATRIX: self._matrix,
            SCALAR: self._scalar,
            LDS: self._lds,
            VMEM: self._vmem,
            SMEM: self._smem,
            WAIT: self._wait,
            BARRIER: self._barrier,
            IDLE: self._idle,
            BRANCH: self._scalar,
            BEGIN: self._begin,
            END: self._end,
            SPLIT: self._split,
        }
        return [table[kind] for kind in range(13)]

    def run(self) -> SimulationResult:
        """Run all wavefronts to their end and return the result."""
        at, ops, where, table, length = self.at, self.ops, self.where, self.steppers(), len(self.ops)
        ended = [0.0] * len(self.begins)
        several = self.simds if self.simds > 1 else 0
        # Runnable wavefronts, ordered by the time of their next operation.
        queue = sorted((begin, wave) for wave, begin in enumerate(self.begins))
        while queue:
            mine, wave = heappop(queue)
            limit = queue[0][0] if queue else _NEVER
            if several and wave % several != self.simd:
                self._select_simd(wave % several)
            position = at[wave]
            while mine <= limit:
                if position == length:
                    ended[wave], mine = mine, _NEVER
                    break
                op = ops[position]
                kind = op[0]
                if kind < BARRIER:
                    mine = table[kind](wave, op, mine, where[position])
                    position += 1
                    continue
                at[wave] = position + 1
                mine = table[kind](wave, op, mine, where[position])
                position = at[wave]
                if kind in _BARRIERS:
                    if mine == _NEVER:
                        break
                    while self.released:
                        heappush(queue, self.released.pop())
                    limit = queue[0][0] if queue else _NEVER
            at[wave] = position
            if mine != _NEVER:
                heappush(queue, (mine, wave))
        busy = self.matrix_busy / self.simds, self.vector_busy / self.simds, self.memory_busy
        return SimulationResult(max(ended), self.spent, self.iterations, *busy)

    def _select_simd(self, simd: int) -> None:
        """Switch to the pipes of a SIMD."""
        if simd != self.simd:
            self.pipes[self.simd] = self.vector_free, self.matrix_free, self.scalar_free, self.port_free
            self.vector_free, self.matrix_free, self.scalar_free, self.port_free = self.pipes[simd]
            self.simd = simd

    def _valu(self, wave: int, op: Op, now: float, where: int) -> float:
        busy, waited = op[1], op[2]
        start = self.vector_free
        if start < now:
            start = now
        if waited:
            ready = self.ready[wave]
            for number in waited:
                if ready[number] > start:
                    self.spent[where + _MATRIX] += ready[number] - start
                    now += ready[number] - start
                    start = ready[number]
        self.vector_free = end = start + busy
        self.vector_busy += busy
        self.spent[where + _VECTOR] += end - now
        return end

    def _matrix(self, wave: int, op: Op, now: float, where: int) -> float:
        _, busy, waited, latency, result, scaled = op
        start = self.vector_free
        if start < now:
            start = now
        if start < self.matrix_free:
            start = self.matrix_free
        ready = self.ready[wave]
        for number in waited:
            start = max(start, ready[number])
        end = start + busy
        self.matrix_free = end
        self.matrix_busy += busy
        ready[result] = start + latency
        # A matrix instruction with scales takes two issue slots.
        following = start + (2 * self.issue if scaled else self.issue)
        self.vector_free = end if self.blocking else following
        self.spent[where + _MATRIX] += following - now
        return following

    def _scalar(self, _wave: int, op: Op, now: float, where: int) -> float:
        start = self.scalar_free
        if start < now:
            start = now
        self.scalar_free = end = start + op[1]
        self.spent[where + _ISSUE] += end - now
        return end

    def _lds(self, wave: int, op: Op, now: float, where: int) -> float:
        _, busy, counters, latency, own, _ = op
        free = self.lds_free
        start = free - self.lds_queue
        if start < now:
            start = now
        if own:
            start = max(start, self.port_free - self.lds_queue)
            self.port_free = max(start, self.port_free) + own
        self.lds_free = done = (start if free < start else free) + busy
        if own:
            done = max(done, self.port_free)
        arrival = done + latency
        for counter in counters:
            queue = self.queues[wave][counter]
            queue.append((queue[-1][0] if queue and arrival < queue[-1][0] else arrival, start + latency, _LDS))
        if start > now:
            self.spent[where + _LDS] += start - now
        self.spent[where + _ISSUE] += self.issue
        return start + self.issue

    def _vmem(self, wave: int, op: Op, now: float, where: int) -> float:
        _, busy, counters, moved, path_number, _ = op
        path = self.paths[path_number]
        ready = now if path_number in _NO_LINES else self._room(now, moved)
        idle = self.l1_free + busy < ready
        # If the SIMDs' wavefronts arrive at once, the average one waits for half of the others.
        start = ready + self.skew * busy if idle else max(ready, self.l1_free - self.l1_queue)
        self.l1_free = passed = (ready if idle else max(start, self.l1_free)) + busy
        free = self.memory_free
        transfer = moved * path.cycles_per_byte
        self.memory_busy += transfer
        served = max(start, free[path.queue]) + transfer
        free[path.queue] = served
        done = max(passed, served) + path.latency
        if path_number not in _NO_LINES:
            self.flying.append((done, moved))
            self.flying_bytes += moved
        scratch = path_number == SCRATCH
        for counter in counters:
            queue = self.queues[wave][counter]
            arrival = max(done, queue[-1][0]) if queue else done
            queue.append((arrival, start + path.latency, _SCRATCH if scratch else _BANDWIDTH))
        if start > now:
            self.spent[where + (_SCRATCH if scratch else _BANDWIDTH)] += start - now
        self.spent[where + _ISSUE] += self.issue
        return start + self.issue

    def _room(self, now: float, moved: float) -> float:
        """Return the time at which the vector cache has room for ``moved`` bytes; loads in flight reserve its lines."""
        flying = self.flying
        while flying and (flying[0][0] <= now or self.flying_bytes + moved > self.most_bytes):
            arrived, held = flying.popleft()
            self.flying_bytes -= held
            now = max(now, arrived)
        return now

    def _smem(self, wave: int, op: Op, now: float, where: int) -> float:
        _, _, counters, latency, _, _ = op
        start = max(now, self.scalar_free)
        self.scalar_free = start + self.issue
        done = start + latency
        for counter in counters:
            queue = self.queues[wave][counter]
            queue.append((max(done, queue[-1][0]) if queue else done, done, _LATENCY))
        self.spent[where + _ISSUE] += start + self.issue - now
        return start + self.issue

    def _wait(self, wave: int, op: Op, now: float, where: int) -> float:
        _, _, allowed, _, _, _ = op
        end = now + self.issue
        self.spent[where + _ISSUE] += self.issue
        for counter, count in allowed:
            queue = self.queues[wave][counter]
            if len(queue) <= count:
                continue
            arrival, unloaded, cause = queue[-1 - count]
            if arrival > end:
                if cause == _BANDWIDTH:
                    latency = min(max(unloaded - end, 0.0), arrival - end)
                    self.spent[where + _LATENCY] += latency
                    self.spent[where + _BANDWIDTH] += arrival - end - latency
                else:
                    self.spent[where + cause] += arrival - end
                end = arrival
            if not count:
                queue.clear()
        return end

    def _idle(self, _wave: int, op: Op, now: float, where: int) -> float:
        self.spent[where + _ISSUE] += op[1]
        return now + op[1]

    def _barrier(self, wave: int, _op: Op, now: float, where: int) -> float:
        group = wave // self.waves
        self.arrived[group] += 1
        self.since[wave] = now
        if self.arrived[group] < self.waves:
            return _NEVER
        self.arrived[group] = 0
        end = now + 2 * self.issue
        for other in range(group * self.waves, (group + 1) * self.waves):
            self.spent[where + _BARRIER] += end - self.since[other]
            if other != wave:
                self.released.append((end, other))
        return end

    def _split(self, wave: int, op: Op, now: float, where: int) -> float:
        second = wave % self.waves >= self.waves // 2
        return self._barrier(wave, op, now, where) if second == bool(op[BUSY]) else now

    def _begin(self, wave: int, op: Op, now: float, _where: int) -> float:
        loop = int(op[BUSY])
        self.iteration[wave][loop] = 0
        iterations = self.iterations.get(loop)
        if iterations is None or (iterations.times[wave] and wave == 0):
            first = self.spans[loop].start if loop in self.spans else 0
            iterations = self.iterations[loop] = IterationTimes([[] for _ in self.begins], first)
        iterations.times[wave] = [now]
        return now

    def _end(self, wave: int, op: Op, now: float, where: int) -> float:
        loop, count = int(op[BUSY]), int(op[DELAY])
        iterations = self.iterations[loop]
        iterations.times[wave].append(now)
        done = self.iteration[wave][loop] = self.iteration[wave][loop] + 1
        if wave == 0 and done in {count // 2, count}:
            iterations.busy.append((now, self.matrix_busy / self.simds, self.vector_busy / self.simds))
            stop = self.spans[loop].stop * CAUSE_COUNT if loop in self.spans else None
            spent = self.spent[iterations.first * CAUSE_COUNT : stop]
            if done == count // 2:
                iterations.middle = spent
            if done == count:
                iterations.end = spent
        if done < count:
            self.at[wave] = int(op[WAITS])
            self.spent[where + _ISSUE] += self.branch
            return now + self.branch
        return now
