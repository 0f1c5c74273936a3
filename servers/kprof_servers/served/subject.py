"""Make a server's kernel searchable by kprof's tuner, with one problem per batch size."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kprof.condition import WARM
from kprof.errors import KprofError
from kprof.kernel_spec import BACKEND_OPTIONS, Kernel, Launch, Tensor, split_config
from kprof.targets.jobs import TargetJob
from kprof.tuning.problems import Problem
from kprof_servers.served.launches import LaunchedKernel

if TYPE_CHECKING:
    from kprof.hardware.machine import Architecture, Product
    from kprof.importing.functions import Function
    from kprof.kernel_spec import Config, Shape

_MOST_ACCUMULATORS = 256
"""Maximum number of result elements per lane. With more, the compiler spills registers and takes minutes."""


@dataclass(frozen=True)
class ServedSubject:
    """See :class:`kprof.tuning.subject.TuningSubject`.

    Attributes:
        label: name of the kernel, for messages.
        function: the server's kernel, extracted from its code.
        arch: architecture of the GPU.
        product: hardware data of the GPU product.
        launch: how the server launches the kernel.
        parts: kernels that are launched after the first one, by label of the launch.
        condition: condition that times are predicted for.
        batches: number of rows of each problem.
        runs: the configuration that the server would run, by number of rows.
    """

    label: str
    function: "Function"
    arch: "Architecture"
    product: "Product | None"
    launch: LaunchedKernel
    batches: tuple[int, ...]
    runs: Mapping[int, Mapping[str, Any]] = field(default_factory=dict)
    parts: "Mapping[str, Function]" = field(default_factory=dict)
    condition: str = WARM.name

    @property
    def kernel(self) -> Kernel:
        """Name and knobs of the kernel, and a check that rejects configurations before compiling; it has no cases."""
        return Kernel(
            self.label, None, "", _no_launch, shapes={}, config=dict.fromkeys(self.launch.knobs, 0), legal=self._legal
        )

    @property
    def problems(self) -> tuple[Problem, ...]:
        """One problem per batch size."""
        return tuple(Problem(f"{rows} rows", {**self.launch.sizes(rows), "rows": rows}) for rows in self.batches)

    def base(self, problem: Problem) -> dict[str, Any]:
        """Return the configuration that the server would run."""
        runs = self.runs.get(problem.values["rows"], {})
        return {name: value for name, value in runs.items() if name in self.launch.knobs or name in BACKEND_OPTIONS}

    def jobs(self, problem: Problem, config: Mapping[str, Any]) -> list[TargetJob]:
        """Return a compile job for each launch of the layer.

        Raises:
            KprofError: the kernel has an unknown parameter, or refuses the configuration.
        """
        rows = problem.values["rows"]
        asked = [name for name in self.function.arguments if name not in self.function.heuristics]
        launches = self.launch.launches(rows, config, asked, self.arch.name)
        return [self._job(name, made, config, problem) for name, made in launches.items()]

    def _job(self, name: str, made: Launch, config: Mapping[str, Any], problem: Problem) -> TargetJob:
        from kprof.importing.functions import find_entry
        from kprof.targets.sizes import by_heuristics
        from kprof.targets.specialize import from_launch

        part = self.parts.get(name)
        function = self.function if part is None else part
        options = {} if part is not None else split_config(config)[1]
        # Options are passed to the compiler even if the kernel has a parameter of the same name.
        args = dict(made.args)
        if function.heuristics and function.module is not None:
            args.update(by_heuristics(find_entry(function.module, str(function.path), function.name), args))
        request = from_launch(function.jit, Launch(args, made.grid), self.arch.name, options=options)
        numbers = {n: v for n, v in args.items() if isinstance(v, int | float) and not isinstance(v, bool)}
        contents = {n: t.values for n, t in args.items() if isinstance(t, Tensor) and t.values is not None}
        label = f"{self.label}::{name}" if name else self.label
        return TargetJob(request, self.arch, label, tuple(made.grid), problem.values, numbers, contents=contents)

    def element_bytes(self, problem: Problem) -> int | None:
        """Return the size in bytes of the multiplied elements; packed weights are unpacked before the product."""
        del problem
        return self.launch.element_bytes()

    def flops(self, problem: Problem) -> int | None:
        """Return the number of operations of the kernel, or None if several launches share the layer's operations."""
        return self.launch.work(problem.values["rows"]) if self.launch.is_single_launch else None

    def dependencies(self) -> Mapping[str, str]:
        """Return the digests of the kernels' files, which contain everything that the kernels refer to."""
        from kprof.captures.staleness import digest

        files = [Path(each.path) for each in (self.function, *self.parts.values())]
        return {str(path): digest(path) or "" for path in files}

    def _legal(self, shape: "Shape", config: "Config", arch: str) -> str | None:
        del shape, arch
        if self.launch.tile(config) > _MOST_ACCUMULATORS * self.arch.wavefront_size * config.get("num_warps", 4):
            return f"more than {_MOST_ACCUMULATORS} result elements per lane"
        return self.launch.refusal(config)


def _no_launch(_shape: "Shape", _config: "Config") -> Launch:
    raise KprofError("a server's kernel is launched by its own arguments")
