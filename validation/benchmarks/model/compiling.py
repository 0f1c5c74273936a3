"""Compute the facts that the model reads from a kernel, a problem and a configuration; each compile runs once."""

import contextlib
import sys
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kprof.condition import FLUSHED, WARM, Condition
from validation.benchmarks.model import environments

if TYPE_CHECKING:
    from kprof.analysis import KernelFacts
    from kprof.kernel_spec import Kernel
    from kprof.targets.jobs import TargetJob

KERNELS = Path(__file__).parent / "kernels"


COLD = replace(FLUSHED, events=False)
"""Timed by a profiler, or with events that the family's ``timing`` includes, after other data was read."""


def in_a_row(moved: float, *, written: bool = False) -> Condition:
    """Return the condition of launches that a profiler times one after the other.

    Args:
        moved: bytes touched between two launches with the same data.
        written: whether these bytes are another launch's results.
    """
    return replace(WARM, between=moved, written=written)


@dataclass(frozen=True)
class Point:
    """One launch to predict.

    Attributes:
        kernel: a file of ``kernels/``, a bundled kernel, one of its parts (``gemm::reduce``), or a name in
            ``GIVEN``.
        shape: problem parameters for the kernel's ``launch``.
        config: all knobs of the kernel.
        product: the GPU.
        environment: the compiler's switches.
        arguments: arguments that differ from those of the kernel's own launch for this shape and configuration.
        grid: workgroups, if they differ from the kernel's own launch.
        condition: condition under which it was timed; its family's ``timing`` has the overhead of events and host.
        contents: indices in memory that the launch's pointers point to.
        triton: the release that compiles it; empty for this Python's.
    """

    kernel: str
    shape: Mapping[str, Any]
    config: Mapping[str, Any]
    product: str
    environment: tuple[tuple[str, str], ...] = ()
    arguments: tuple[tuple[str, Any], ...] = ()
    grid: tuple[int, ...] | None = None
    condition: Condition = COLD
    contents: tuple[tuple[str, tuple[int, ...]], ...] = ()
    triton: str = ""


GIVEN: "dict[str, Kernel]" = {}
"""Kernels that were read from a package, by their names in points."""


def kernel_of(name: str) -> "Kernel":
    """Return a kernel by name: one read from a package, else the benchmark's own, else a bundled one."""
    return GIVEN.get(name) or _own(name)


@cache
def _own(name: str) -> "Kernel":
    from kprof.targets.library import bundled, load

    base, _, part = name.partition("::")
    path = KERNELS / f"{base}.py"
    kernel = load(str(path if path.is_file() else bundled()[base]))
    return kernel.part(part) if part else kernel


def job_of(point: Point) -> "TargetJob":
    """Return the compile that a launch needs."""
    from kprof.hardware.machine import load_gpu
    from kprof.kernel_spec import BACKEND_OPTIONS, Tensor, resolve_fp8, split_config
    from kprof.targets.jobs import TargetJob
    from kprof.targets.specialize import from_launch

    base, _, part = point.kernel.partition("::")
    kernel = kernel_of(point.kernel)
    machine, _ = load_gpu(point.product)
    shape = resolve_fp8(point.shape, machine.name)
    config = kernel.configure(machine.name, point.config, shape)
    if part:
        config = {k: v for k, v in config.items() if k not in BACKEND_OPTIONS} | _part_options(base, part, config)
    launch = kernel.launch(shape, config)
    if point.arguments or point.grid:
        launch = replace(launch, args={**launch.args, **dict(point.arguments)}, grid=point.grid or launch.grid)
    options = split_config(config)[1]
    switches = {**environments.switches(point.triton), **dict(point.environment)}
    request = from_launch(kernel.entry, launch, machine.name, options=options, environment=switches)
    numbers = {name: value for name, value in launch.args.items() if isinstance(value, int | float)}
    contents = {n: t.values for n, t in launch.args.items() if isinstance(t, Tensor) and t.values is not None}
    return TargetJob(
        request, machine, kernel.name, tuple(launch.grid), shape, numbers,
        contents=contents, condition=COLD,
    )  # fmt: skip


def _part_options(base: str, part: str, config: Mapping[str, Any]) -> dict[str, Any]:
    """Return the compiler options that a kernel sets for one of its parts."""
    from kprof.kernel_spec import split_config

    options = kernel_of(base).parts[part].options
    return split_config(config)[1] if options is None else dict(options)


@dataclass(frozen=True)
class Order:
    """A compile, and the Triton release that does it."""

    job: "TargetJob"
    triton: str

    @property
    def key(self) -> str:
        """Key that identifies the order."""
        return f"{self.triton} {self.job.request.key}"


@dataclass(frozen=True)
class Built:
    """Result of a compile.

    Attributes:
        lds: bytes of LDS that the launch requests; ``None`` if it did not compile.
        problems: exceeded hardware limits, in words.
        error: reason why it did not compile; empty if it did.
    """

    lds: int | None
    problems: tuple[str, ...]
    error: str


class Facts:
    """Facts of launches by request; configurations with equal requests are compiled and read once.

    Args:
        jobs: worker processes.
        timeout: seconds that one compile may take.
    """

    def __init__(self, jobs: int = 1, timeout: float = 240.0) -> None:
        self.jobs = jobs
        self.timeout = timeout
        self.compile_seconds = 0.0
        self.compiled = 0
        self.failures: dict[str, str] = {}
        self._read: dict[str, KernelFacts] = {}
        self._isa: dict[str, str] = {}
        self._built: dict[str, Built] = {}

    def prepare(self, points: Iterable[Point]) -> list["KernelFacts | None"]:
        """Return the facts of each launch with its own grid and arguments; ``None`` if it does not compile."""
        asked = [(point, self._order(point)) for point in points]
        waiting = {order.key: order for _, order in asked if order is not None and order.key not in self._read}
        self._compile([order for key, order in waiting.items() if key not in self.failures])
        return [None if order is None else self._with_launch(order, point) for point, order in asked]

    def build(self, points: Iterable[Point]) -> list[Built]:
        """Compile regardless of the hardware's limits, and return the resources that each launch requests."""
        orders = [self._order(point) for point in points]
        found = {order.key: order for order in orders if order is not None and order.key not in self._built}
        self._compile([order for key, order in found.items() if key not in self.failures])
        none = Built(None, (), "there is no launch for it")
        return [none if order is None else self._outcome(order) for order in orders]

    def _outcome(self, order: Order) -> Built:
        return self._built.get(order.key) or Built(None, (), self.failures.get(order.key, "not compiled"))

    def _order(self, point: Point) -> Order | None:
        """Return the compile that a launch needs; ``None`` if the kernel has no launch for it."""
        try:
            return Order(job_of(point), point.triton)
        except Exception as error:  # noqa: BLE001  # one row must not end the whole table
            known = ", ".join(f"{name}={value}" for name, value in point.config.items())
            reason = " ".join(str(error).split()) or type(error).__name__
            self.failures[f"{point}"] = f"{point.kernel} {point.product} {known}: {reason}"
            return None

    def isa(self, point_facts: "KernelFacts") -> str:
        """Return a fingerprint of the machine code, equal for configurations with the same instructions."""
        return self._isa[point_facts.name]

    def _compile(self, orders: Sequence[Order]) -> None:
        """Compile the orders, each release's own in its environment."""
        for triton in sorted({order.triton for order in orders}):
            self._compile_with(triton, [order for order in orders if order.triton == triton])

    def _compile_with(self, triton: str, orders: Sequence[Order]) -> None:
        began = time.monotonic()
        requests = [order.job.request for order in orders]
        for done, outcome in enumerate(environments.compile_with(triton, requests, self.jobs, self.timeout), 1):
            order = orders[outcome.index]
            label = " ".join(filter(None, (order.job.request.label, triton and f"(Triton {triton})")))
            if outcome.compiled is None:
                self.failures[order.key] = f"{label}: {outcome.error}"
                continue
            if not outcome.compiled.cached:
                self.compiled += 1
                self.compile_seconds += outcome.compiled.seconds
            try:
                self._keep(order, outcome.compiled)
            except Exception as error:  # noqa: BLE001  # one code must not end the whole table
                self.failures[order.key] = f"{label}: not read: {error}"
            if time.monotonic() - began > 2:
                print(f"\r  compiled {done} of {len(orders)} ", end="", file=sys.stderr, flush=True)
        if orders and time.monotonic() - began > 2:
            print("\r" + " " * 40 + "\r", end="", file=sys.stderr)

    def _keep(self, order: Order, compiled: Any) -> None:
        from hashlib import sha256

        from kprof.targets.jobs import loaded
        from kprof_analyzers.pipeline import facts_of

        job, problems = order.job, compiled.launch_problems
        self._built[order.key] = Built(compiled.lds_bytes, tuple(str(one) for one in problems), "")
        if problems:
            self.failures[order.key] = f"{job.request.label}: {problems[0]}"
            return
        found = loaded(job, compiled)
        digest = sha256(instructions(compiled.amdgcn).encode()).hexdigest()
        facts, _ = facts_of(found)
        self._read[order.key] = replace(facts, name=digest)
        self._isa[digest] = digest

    def _with_launch(self, order: Order, point: Point) -> "KernelFacts | None":
        """Return the facts with the launch; code is equal for all GPUs of an architecture, but times are not."""
        from kprof.hardware.machine import find_product

        facts = self._read.get(order.key)
        if facts is None:
            return None
        job, product = order.job, find_product(point.product)
        contents = {**job.contents, **dict(point.contents)}
        return replace(facts, grid=job.grid, arguments=job.arguments, product=product, contents=contents)


def instructions(assembly: str) -> str:
    """Return the instructions of an assembly text without debug labels, comments and directives."""
    lines = []
    for line in assembly.splitlines():
        text = line.split(";", 1)[0].strip()
        if text and not text.startswith((".", "//")) and not text.endswith(":"):
            lines.append(text)
    return "\n".join(lines)


@contextlib.contextmanager
def stopwatch(into: list[float]) -> Any:
    """Append the processor seconds of the block to a list; other load on the machine does not count."""
    began = time.process_time()
    yield
    into.append(time.process_time() - began)
