"""A recorded kernel as the subject of a search."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from kprof.compiler.environment import SWITCHES
from kprof.condition import CONDITIONS, WARM
from kprof.errors import KprofError
from kprof.kernel_spec import Kernel
from kprof.targets.jobs import TargetJob
from kprof.targets.recompile import RecompilableKernel, changed
from kprof.tuning.problems import Problem

if TYPE_CHECKING:
    from kprof.hardware.machine import Architecture, Product
    from kprof.kernel_spec import Launch
    from kprof.tuning.recorded.relaunch import Relaunch, RepeatedLaunch


@dataclass(frozen=True)
class RecordedSubject:
    """One kernel of a capture with its recorded launch; see :class:`kprof.tuning.subject.TuningSubject`.

    Attributes:
        recorded: the kernel.
        product: the GPU that times are predicted for.
        program: the stopped program that repeats the launch; ``None``: compile-time values stay unchanged.
        values: numbers that the launch does not determine, see :mod:`kprof.targets.values`.
        condition: condition for predicted times, see :mod:`kprof.condition`.
    """

    recorded: RecompilableKernel
    product: "Product | None"
    program: "Relaunch | None" = None
    values: Mapping[str, int | Sequence[int]] = field(default_factory=dict)
    condition: str = WARM.name
    _made: "dict[str, RepeatedLaunch | str]" = field(default_factory=dict)

    @property
    def kernel(self) -> Kernel:
        """The kernel's name and knobs, without cases."""
        return Kernel(self.recorded.kernel.name, None, "", _no_launch, shapes={}, config=self.knobs)

    @property
    def arch(self) -> "Architecture":
        """Architecture that the kernel was recorded for."""
        return self.recorded.job.machine

    @property
    def problems(self) -> tuple[Problem, ...]:
        """The recorded launch, as the only problem."""
        return (Problem("as recorded", {}),)

    @property
    def knobs(self) -> dict[str, Any]:
        """Compile-time values, options and switches of the recorded compile that are numbers, texts or booleans."""
        plain = (bool, int, float, str)
        return {name: value for name, value in self.recorded.knobs.items() if isinstance(value, plain)}

    def base(self, problem: Problem) -> dict[str, Any]:
        """Return the recorded knobs."""
        del problem
        return self.knobs

    def jobs(self, problem: Problem, config: Mapping[str, Any]) -> list[TargetJob]:
        """Return the kernel's compile and launch with a configuration.

        Raises:
            KprofError: if the program cannot repeat its launch with these compile-time values.
        """
        del problem
        own = self.recorded.job.request.constexprs
        change = {name: value for name, value in config.items() if name in own and own[name] != value}
        others = {name: value for name, value in config.items() if name not in own}
        options = {name: value for name, value in others.items() if self.recorded.knobs.get(name) != value}
        job = changed(self.recorded, {n: v for n, v in options.items() if n not in SWITCHES})
        switches = {name: str(value) for name, value in options.items() if name in SWITCHES}
        request = replace(job.request, environment={**job.request.environment, **switches})
        job = replace(job, values=self.values, condition=CONDITIONS[self.condition])
        if not change:
            return [replace(job, request=request)]
        made = self._again(change)
        # Only the kernel's text is taken from the program; options are those of the recording, with the changes.
        request = replace(
            request,
            path=made.request.path,
            signature=made.request.signature,
            constexprs=made.request.constexprs,
            attributes=made.request.attributes,
        )
        launch = {name: getattr(made, name) for name in ("grid", "arguments", "contents", "tensor_bytes")}
        return [replace(job, request=request, **launch)]

    def _again(self, change: Mapping[str, Any]) -> "RepeatedLaunch":
        key = repr(sorted(change.items()))
        if key not in self._made:
            if self.program is None:
                raise KprofError("compile-time values can only be changed if the program runs again")
            try:
                self._made[key] = self.program.ask(change)
            except KprofError as error:
                self._made[key] = error.message
        found = self._made[key]
        if isinstance(found, str):
            raise KprofError(found)
        return found

    def element_bytes(self, problem: Problem) -> int | None:
        """Return the size of the smallest element type among the pointer arguments."""
        from kprof.kernel_spec import ELEMENT_TYPES

        del problem
        kinds = [str(kind).lstrip("*") for kind in self.recorded.job.request.signature.values() if str(kind)[:1] == "*"]
        return min((ELEMENT_TYPES[kind].size for kind in kinds if kind in ELEMENT_TYPES), default=None)

    def flops(self, problem: Problem) -> int | None:
        """Return None, because the number of operations of a recorded kernel is unknown."""
        del problem
        return None

    def dependencies(self) -> Mapping[str, str]:
        """Return the digest of the TTIR instead of its path, which differs between recordings."""
        from pathlib import Path

        from kprof.captures.staleness import digest

        found = digest(Path(self.recorded.job.request.path)) or ""
        return {f"{found}.ttir": found}


def _no_launch(_shape: Mapping[str, Any], _config: Mapping[str, Any]) -> "Launch":
    raise KprofError("a recorded kernel is launched by its program")
