"""What is tuned: from a problem and a configuration to the compiles and launches that it means."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Protocol

from kprof.condition import CONDITIONS, WARM
from kprof.errors import KprofError
from kprof.expressions import Expression, whole
from kprof.kernel_spec import ELEMENT_TYPES, Kernel, Tensor
from kprof.targets.jobs import TargetJob
from kprof.tuning.problems import Problem

if TYPE_CHECKING:
    from kprof.compiler.request import CompileRequest
    from kprof.hardware.machine import Architecture, Product


class TuningSubject(Protocol):
    """A kernel with its problems on one architecture."""

    @property
    def kernel(self) -> Kernel:
        """The kernel."""
        ...

    @property
    def arch(self) -> "Architecture":
        """Architecture."""
        ...

    @property
    def product(self) -> "Product | None":
        """The GPU, when one was named."""
        ...

    @property
    def problems(self) -> tuple[Problem, ...]:
        """Problems to tune for."""
        ...

    @property
    def condition(self) -> str:
        """That times are predicted for, see :mod:`kprof.condition`."""
        ...

    def base(self, problem: Problem) -> dict[str, Any]:
        """The kernel's own knobs for a problem."""
        ...

    def jobs(self, problem: Problem, config: Mapping[str, Any]) -> list[TargetJob]:
        """Everything that is launched: the kernel first, then its parts.

        Raises:
            KprofError: the kernel's file refuses the configuration.
        """
        ...

    def element_bytes(self, problem: Problem) -> int | None:
        """Size of the smallest element that the kernel is given, ``None`` when not known."""
        ...

    def flops(self, problem: Problem) -> int | None:
        """Operations of the kernel itself, ``None`` when not known or when parts share them."""
        ...

    def dependencies(self) -> Mapping[str, str]:
        """Files that decide what is compiled, with the SHA-256 of their content."""
        ...


@dataclass(frozen=True)
class KernelSubject:
    """A kernel whose file says how it is launched.

    Attributes:
        kernel, arch, product, problems: see :class:`TuningSubject`.
        config: knobs on top of the kernel's own.
        environment: Triton's environment switches. A configuration may hold some too: they come before these.
        values: numbers that a launch does not tell, see :mod:`kprof.targets.values`.
        condition: that times are predicted for, see :mod:`kprof.condition`.
    """

    kernel: Kernel
    arch: "Architecture"
    product: "Product | None"
    problems: tuple[Problem, ...]
    config: Mapping[str, Any] = field(default_factory=dict)
    environment: Mapping[str, str] = field(default_factory=dict)
    values: Mapping[str, int | Sequence[int]] = field(default_factory=dict)
    condition: str = WARM.name

    def base(self, problem: Problem) -> dict[str, Any]:
        """Default knobs, with what the shape wants; environment switches where some are set."""
        own = self.kernel.configure((self.product or self.arch).name, self.config or None, problem.values)
        return {**own, **self.environment}

    def jobs(self, problem: Problem, config: Mapping[str, Any]) -> list[TargetJob]:
        """The kernel, and those of its parts that ``run`` launches with this configuration.

        Raises:
            KprofError: the file's ``launch`` fails or asks for something that cannot be compiled.
        """
        from kprof.compiler.environment import SWITCHES
        from kprof.options.groups import CompileOptions
        from kprof.targets.jobs import launches_of

        environment = {**self.environment, **{n: str(v) for n, v in config.items() if n in SWITCHES}}
        config = {name: value for name, value in config.items() if name not in SWITCHES}
        options = CompileOptions(env=environment, value=self.values, condition=self.condition)
        return list(launches_of(self.kernel, self.arch, problem.values, config, options))

    def element_bytes(self, problem: Problem) -> int | None:
        """From the tensors of a launch with the kernel's own knobs."""
        try:
            launch = self.kernel.launch(problem.values, self.base(problem))
        except Exception:  # noqa: BLE001 - the user's code may raise anything; the search itself will tell
            return None
        return smallest_element(launch.args)

    def flops(self, problem: Problem) -> int | None:
        """As the kernel's file says, where all of its parts are optional."""
        whole = all(part.when is not None for part in self.kernel.parts.values())
        if self.kernel.flops is None or not whole:
            return None
        try:
            return int(self.kernel.flops(problem.values))
        except Exception:  # noqa: BLE001 - the user's code may raise anything, and predictions do without
            return None

    def dependencies(self) -> Mapping[str, str]:
        """Files of the kernel and of those that it imports."""
        return _dependencies(self.kernel)


@dataclass(frozen=True)
class SignatureSubject:
    """A bare Triton function: its arguments' types are given, its sizes are values of its arguments.

    Attributes:
        kernel, arch, product, problems: see :class:`TuningSubject`.
        signature: argument types, see :mod:`kprof.targets.signature`.
        grid: workgroups in x, y, z as expressions of sizes and knobs; empty: not known.
        constexprs: further compile-time arguments.
        values: numbers that a launch does not tell, see :mod:`kprof.targets.values`.
        start: the function's own knobs; empty: none are known.
        condition: that times are predicted for, see :mod:`kprof.condition`.
    """

    kernel: Kernel
    arch: "Architecture"
    product: "Product | None"
    problems: tuple[Problem, ...]
    signature: str
    grid: tuple[Expression[Any], ...] = ()
    constexprs: Mapping[str, Any] = field(default_factory=dict)
    values: Mapping[str, int | Sequence[int]] = field(default_factory=dict)
    start: Mapping[str, Any] = field(default_factory=dict)
    condition: str = WARM.name

    def base(self, problem: Problem) -> dict[str, Any]:
        """Its own knobs: each configuration is complete."""
        del problem
        return dict(self.start)

    def jobs(self, problem: Problem, config: Mapping[str, Any]) -> list[TargetJob]:
        """The function.

        Raises:
            KprofError: the signature does not fit, or the grid cannot be computed.
        """
        sizes = {**self.constexprs, **problem.values}
        request, numbers = self._request(problem, config)
        grid = tuple(whole(part, {**sizes, **config}) for part in self.grid) or None
        if grid is not None and not all(size > 0 for size in grid):
            raise KprofError(f"the grid is {'x'.join(map(str, grid))}")
        return [
            TargetJob(
                request, self.arch, self.kernel.name, grid, problem.values, numbers,
                values=self.values, condition=CONDITIONS[self.condition],
            )
        ]  # fmt: skip

    def element_bytes(self, problem: Problem) -> int | None:
        """From the pointer types in the signature."""
        del problem
        names = (part.strip().partition("=")[2] or part.strip() for part in self.signature.split(","))
        kinds = [name.lstrip("*").partition(":")[0] for name in names if name.startswith("*")]
        return min((ELEMENT_TYPES[kind].size for kind in kinds if kind in ELEMENT_TYPES), default=None)

    def flops(self, problem: Problem) -> int | None:
        """Not known."""
        del problem
        return None

    def dependencies(self) -> Mapping[str, str]:
        """Files of the function and of those that it imports."""
        return _dependencies(self.kernel)

    def _request(self, problem: Problem, config: Mapping[str, Any]) -> "tuple[CompileRequest, dict[str, Any]]":
        from kprof.importing.functions import unwrap
        from kprof.targets.signature import from_signature
        from kprof.targets.sizes import by_heuristics, with_sizes

        function = unwrap(self.kernel.entry)
        if function is None:
            raise KprofError(f"{self.kernel.name} is not a Triton function")
        known = function.arguments
        options = {n: v for n, v in config.items() if n not in known}
        sizes = {n: v for n, v in problem.values.items() if n in known}
        fixed = {n: v for n, v in {**self.constexprs, **config}.items() if n in known}
        numbers = {
            n: v for n, v in {**sizes, **fixed}.items() if isinstance(v, int | float) and not isinstance(v, bool)
        }
        derived = by_heuristics(self.kernel.entry, {**sizes, **self.constexprs, **config})
        fixed |= {n: v for n, v in derived.items() if n in known}
        options |= {n: v for n, v in derived.items() if n not in known}
        # A configuration of another length than the first is complete in itself: options it lacks are Triton's own.
        function = replace(function, configs=())
        signature = with_sizes(function, self.signature, fixed, sizes)
        return from_signature(function, signature, self.arch.name, fixed, options=options), numbers


def smallest_element(args: Mapping[str, Any]) -> int | None:
    """Bytes of the smallest element among a launch's tensors."""
    sizes = [ELEMENT_TYPES[v.dtype].size for v in args.values() if isinstance(v, Tensor) and v.dtype in ELEMENT_TYPES]
    return min(sizes, default=None)


def _dependencies(kernel: Kernel) -> Mapping[str, str]:
    from kprof.importing.functions import unwrap

    files: dict[str, str] = {}
    for entry in (kernel.entry, *(part.entry for part in kernel.parts.values())):
        function = unwrap(entry)
        if function is not None:
            files.update(function.dependencies.files)
    return files
