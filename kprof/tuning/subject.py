"""The subject of a search: turns a problem and a configuration into compiles and launches."""

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
        """Architecture to tune for."""
        ...

    @property
    def product(self) -> "Product | None":
        """The GPU, or None if no product was named."""
        ...

    @property
    def problems(self) -> tuple[Problem, ...]:
        """Problems to tune for."""
        ...

    @property
    def condition(self) -> str:
        """Condition for predicted times, see :mod:`kprof.condition`."""
        ...

    def base(self, problem: Problem) -> dict[str, Any]:
        """Return the kernel's own knobs for a problem."""
        ...

    def jobs(self, problem: Problem, config: Mapping[str, Any]) -> list[TargetJob]:
        """Return all launches: the kernel first, then its parts, the further kernels that one call launches.

        Raises:
            KprofError: if the kernel's file rejects the configuration.
        """
        ...

    def element_bytes(self, problem: Problem) -> int | None:
        """Return the size of the kernel's smallest tensor element in bytes, or ``None`` if unknown."""
        ...

    def flops(self, problem: Problem) -> int | None:
        """Return the operations of the kernel itself, or ``None`` if unknown or shared with its parts."""
        ...

    def dependencies(self) -> Mapping[str, str]:
        """Return the files that determine what is compiled, with the SHA-256 of their contents."""
        ...


@dataclass(frozen=True)
class KernelSubject:
    """A kernel whose file defines its launch.

    Attributes:
        kernel, arch, product, problems: see :class:`TuningSubject`.
        config: knobs that override the kernel's own.
        environment: Triton's environment switches; switches in a configuration have priority.
        values: numbers that a launch does not determine, see :mod:`kprof.targets.values`.
        condition: condition for predicted times, see :mod:`kprof.condition`.
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
        """Return the default knobs for the problem's shape, and the environment switches if any are set."""
        own = self.kernel.configure((self.product or self.arch).name, self.config or None, problem.values)
        return {**own, **self.environment}

    def jobs(self, problem: Problem, config: Mapping[str, Any]) -> list[TargetJob]:
        """Return the launches of the kernel, and of those of its parts that ``run`` launches with this configuration.

        Raises:
            KprofError: if the file's ``launch`` fails or describes a launch that cannot be compiled.
        """
        from kprof.compiler.environment import SWITCHES
        from kprof.options.groups import CompileOptions
        from kprof.targets.jobs import launches_of

        environment = {**self.environment, **{n: str(v) for n, v in config.items() if n in SWITCHES}}
        config = {name: value for name, value in config.items() if name not in SWITCHES}
        options = CompileOptions(env=environment, value=self.values, condition=self.condition)
        return list(launches_of(self.kernel, self.arch, problem.values, config, options))

    def element_bytes(self, problem: Problem) -> int | None:
        """Return the size of the smallest element among the tensors of a launch with the kernel's own knobs."""
        try:
            launch = self.kernel.launch(problem.values, self.base(problem))
        except Exception:  # noqa: BLE001 - the user's code may raise anything; the search reports it later
            return None
        return smallest_element(launch.args)

    def flops(self, problem: Problem) -> int | None:
        """Return the kernel file's number of operations; ``None`` if some may be done by a part that always runs."""
        whole = all(part.when is not None for part in self.kernel.parts.values())
        if self.kernel.flops is None or not whole:
            return None
        try:
            return int(self.kernel.flops(problem.values))
        except Exception:  # noqa: BLE001 - the user's code may raise anything; predictions work without it
            return None

    def dependencies(self) -> Mapping[str, str]:
        """Return the files of the kernel and of its imports."""
        return _dependencies(self.kernel)


@dataclass(frozen=True)
class SignatureSubject:
    """A bare Triton function: argument types come from a signature, sizes are values of arguments.

    Attributes:
        kernel, arch, product, problems: see :class:`TuningSubject`.
        signature: argument types, see :mod:`kprof.targets.signature`.
        grid: workgroups in x, y, z as expressions of sizes and knobs; empty: unknown.
        constexprs: further compile-time arguments.
        values: numbers that a launch does not determine, see :mod:`kprof.targets.values`.
        start: the function's own knobs; empty: unknown.
        condition: condition for predicted times, see :mod:`kprof.condition`.
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
        """Return the function's own knobs. They are not merged with defaults: every configuration names all knobs."""
        del problem
        return dict(self.start)

    def jobs(self, problem: Problem, config: Mapping[str, Any]) -> list[TargetJob]:
        """Return the function's compile and launch.

        Raises:
            KprofError: if the signature does not fit, or the grid cannot be computed.
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
        """Return the size of the smallest element type among the pointers in the signature."""
        del problem
        names = (part.strip().partition("=")[2] or part.strip() for part in self.signature.split(","))
        kinds = [name.lstrip("*").partition(":")[0] for name in names if name.startswith("*")]
        return min((ELEMENT_TYPES[kind].size for kind in kinds if kind in ELEMENT_TYPES), default=None)

    def flops(self, problem: Problem) -> int | None:
        """Return None, because the number of operations is unknown."""
        del problem
        return None

    def dependencies(self) -> Mapping[str, str]:
        """Return the files of the function and of its imports."""
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
        # Each configuration is complete: its missing options get Triton's defaults, not values of the autotuner's
        # configurations.
        function = replace(function, configs=())
        signature = with_sizes(function, self.signature, fixed, sizes)
        return from_signature(function, signature, self.arch.name, fixed, options=options), numbers


def smallest_element(args: Mapping[str, Any]) -> int | None:
    """Return the bytes of the smallest element among a launch's tensors, or None without tensors."""
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
