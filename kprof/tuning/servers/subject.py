"""A server's kernel as the subject of a search: one problem a batch size."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kprof.errors import KprofError
from kprof.kernel_spec import BACKEND_OPTIONS, Kernel, Tensor, resolve_fp8, size_of, split_config
from kprof.targets.jobs import TargetJob
from kprof.tuning.problems import Problem
from kprof.tuning.servers.launches import ServedExperts, ServedProduct

if TYPE_CHECKING:
    from kprof.hardware.machine import Architecture, Product
    from kprof.importing.functions import Function
    from kprof.kernel_spec import Config, Launch, Shape

_TILES = ("BLOCK_SIZE_M", "BLOCK_SIZE_N", "BLOCK_SIZE_K", "GROUP_SIZE_M")
_MOST_ACCUMULATORS = 256
"""Elements of the result that a lane may hold: with more, the compiler spills and takes minutes."""


@dataclass(frozen=True)
class ServedSubject:
    """See :class:`kprof.tuning.subject.TuningSubject`.

    Attributes:
        label: of the kernel, for messages.
        function: the server's kernel, cut out of its code.
        arch: architecture.
        product: the GPU.
        launch: how the server launches it.
        batches: rows of each problem.
        runs: what the server would run, by rows.
    """

    label: str
    function: "Function"
    arch: "Architecture"
    product: "Product | None"
    launch: ServedProduct | ServedExperts
    batches: tuple[int, ...]
    runs: Mapping[int, Mapping[str, Any]] = field(default_factory=dict)

    @property
    def kernel(self) -> Kernel:
        """Its name, knobs, and which of their values are pointless; it has no cases."""
        return Kernel(self.label, None, "", _no_launch, shapes={}, config=dict.fromkeys(_TILES, 0), legal=self._legal)

    @property
    def problems(self) -> tuple[Problem, ...]:
        """One a batch size."""
        return tuple(Problem(f"{rows} rows", {**self.launch.sizes(rows), "rows": rows}) for rows in self.batches)

    def base(self, problem: Problem) -> dict[str, Any]:
        """What the server would run."""
        runs = self.runs.get(problem.values["rows"], {})
        return {name: value for name, value in runs.items() if name in _TILES or name in BACKEND_OPTIONS}

    def jobs(self, problem: Problem, config: Mapping[str, Any]) -> list[TargetJob]:
        """All launches of the layer.

        Raises:
            KprofError: the kernel has a parameter that is not known, or refuses the configuration.
        """
        from kprof.targets.specialize import from_launch

        rows = problem.values["rows"]
        launches = self.launch.launches(rows, config, self.function.arguments, self.arch.name)
        found = []
        for name, made in launches.items():
            options = {n: v for n, v in split_config(config)[1].items() if n not in self.function.arguments}
            request = from_launch(self.function.jit, made, self.arch.name, options=options)
            numbers = {n: v for n, v in made.args.items() if isinstance(v, int | float) and not isinstance(v, bool)}
            contents = {
                n: tensor.values
                for n, tensor in made.args.items()
                if isinstance(tensor, Tensor) and tensor.values is not None
            }
            label = f"{self.label}::{name}" if name else self.label
            found.append(
                TargetJob(request, self.arch, label, tuple(made.grid), problem.values, numbers, contents=contents)
            )
        return found

    def element_bytes(self, problem: Problem) -> int | None:
        """Of what is multiplied: packed weights are unpacked before."""
        del problem
        whole = isinstance(self.launch, ServedExperts) and self.launch.weights in {"bf16", "w4a16"}
        return 2 if whole else size_of(resolve_fp8({"dtype": "fp8_e4m3"}, self.arch.name)["dtype"])

    def flops(self, problem: Problem) -> int | None:
        """Of the kernel itself: not known where two launches share them."""
        return None if isinstance(self.launch, ServedExperts) else self.launch.work(problem.values["rows"])

    def dependencies(self) -> Mapping[str, str]:
        """The kernel's file: whatever else it names was put there."""
        from kprof.captures.staleness import digest

        return {str(self.function.path): digest(Path(self.function.path)) or ""}

    def _legal(self, shape: "Shape", config: "Config", arch: str) -> str | None:
        del shape, arch
        tile_m, tile_n, tile_k = (config[name] for name in _TILES[:3])
        if tile_m * tile_n > _MOST_ACCUMULATORS * self.arch.wavefront_size * config.get("num_warps", 4):
            return f"more than {_MOST_ACCUMULATORS} elements of the result a lane"
        block = self.launch.block_k if isinstance(self.launch, ServedProduct) else (self.launch.block or (0, 0))[1]
        if block and tile_k > block:
            return "a tile would span two scales"
        return None


def _no_launch(_shape: "Shape", _config: "Config") -> "Launch":
    raise KprofError("a server's kernel is launched by its own arguments")
