"""Run the programs of a launch in Triton's interpreter in a chosen order, or only a few of them.

The grid of the timed launch has too many programs for the interpreter. Running a few of them, with the sizes, strides
and tensors of the timed launch, shows whether the code also computes correct results at that size.
"""

import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from math import prod
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from kprof.kernel_spec import Kernel

SAMPLED = 2
"""Number of programs of the timed launch to run."""
_LONG = 1e8
"""Floating-point operations per program above which only one program is run."""
_MOST_MEMORY = 8 << 30
"""Maximum memory in bytes for the reference at the size of the timed launch."""
_LEAST_WRITTEN = 0.75
"""Minimum number of written elements, relative to the case's own kernel; programs at an edge write fewer."""


_POISON = 0xC7
"""Byte that fills uninitialised tensors; repeated, it is a negative number in every signed element type."""


class ChosenPrograms:
    """A Triton function whose launches run only chosen programs.

    Attributes:
        launches: number of launches so far.
    """

    def __init__(self, function: Any, choose: Callable[[int], Sequence[int]]) -> None:
        """Wrap a function.

        Args:
            function: an interpreted Triton function.
            choose: function that takes the number of programs of a grid and returns the indices to run, in order.
        """
        self._function, self._choose, self.launches = function, choose, 0

    def __getitem__(self, grid: Any) -> Callable[..., Any]:
        """Return a callable that launches the function on the grid."""

        def launch(*arguments: Any, **named: Any) -> Any:
            self.launches += 1
            sizes = [*(grid(named) if callable(grid) else grid), 1, 1][:3]
            numbers = self._choose(prod(sizes))
            with _grid(sizes, numbers):
                return self._function[(len(numbers),)](*arguments, **named)

        return launch

    def __getattr__(self, name: str) -> Any:
        return getattr(self._function, name)


@contextmanager
def _grid(sizes: Sequence[int], numbers: Sequence[int]) -> Iterator[None]:
    """Make the interpreter run chosen programs of a grid.

    Args:
        sizes: size of the grid in x, y, z.
        numbers: linear index in the grid of each program to run, in order.
    """
    from triton.runtime.interpreter import interpreter_builder as builder

    set_size, set_program = builder.set_grid_dim, builder.set_grid_idx
    _, height, depth = sizes

    def place(row: int, *_: int) -> None:
        rest, z = divmod(numbers[row], depth)
        x, y = divmod(rest, height)
        set_program(x, y, z)

    builder.set_grid_dim = lambda *_: set_size(*sizes)
    builder.set_grid_idx = place
    try:
        yield
    finally:
        del builder.set_grid_dim, builder.set_grid_idx


@contextmanager
def poisoned_tensors() -> Iterator[None]:
    """Make torch fill new uninitialised tensors with a poison value.

    Otherwise reused memory might contain the correct result of an earlier run, and writes of zeros to memory that is
    already zero would not be noticed.
    """
    import torch

    def poisoned(make: Any) -> Any:
        def made(*arguments: Any, **options: Any) -> Any:
            found = make(*arguments, **options)
            return found.view(torch.uint8).fill_(_POISON).view(found.dtype) if found.numel() and found.dim() else found

        return made

    before = {name: getattr(torch, name) for name in ("empty", "empty_like")}
    for name, make in before.items():
        setattr(torch, name, poisoned(make))
    try:
        yield
    finally:
        for name, make in before.items():
            setattr(torch, name, make)


def shuffled(seed: int) -> Callable[[int], Sequence[int]]:
    """Return a function that chooses all programs, in random order because a GPU guarantees no order."""

    def choose(count: int) -> Sequence[int]:
        return random.Random(seed).sample(range(count), count)  # noqa: S311 - an order, no secret

    return choose


def sampled(seed: int, operations: float) -> Callable[[int], Sequence[int]]:
    """Return a function that chooses a few programs, or only one if a program takes seconds in the interpreter.

    Args:
        seed: random seed of the choice.
        operations: floating-point operations of the launch; 0 if unknown.
    """

    def choose(count: int) -> Sequence[int]:
        few = 1 if operations > _LONG * max(count, 1) else SAMPLED
        return random.Random(seed).sample(range(count), min(few, count))  # noqa: S311 - a choice, no secret

    return choose


@dataclass(frozen=True)
class TimedLaunch:
    """The launch whose time is predicted.

    Attributes:
        shape: problem shape.
        inputs: inputs that the kernel's test case creates for this shape.
        seed: random seed with which the programs (workgroups) to execute are chosen.
    """

    shape: Mapping[str, Any]
    inputs: Mapping[str, Any] = field(repr=False)
    seed: int


@dataclass
class WrittenElements:
    """Elements that a few programs of a launch have written.

    Attributes:
        values: flat, ascending indices of the written elements and their values, two torch tensors per argument.
        outputs: name of the kernel argument that holds each output of the case's ``run``.
    """

    values: dict[str, tuple[Any, Any]] = field(default_factory=dict)
    outputs: dict[str, str] = field(default_factory=dict)


class _SeenError(Exception):
    """Raised after the launch to skip the rest of the case's ``run`` function."""


def written_elements(
    kernel: "Kernel", name: str, entry: Any, timed: TimedLaunch, config: Mapping[str, Any]
) -> WrittenElements:
    """Run a few programs of the timed launch and return what they write.

    Args:
        kernel: the case's kernel.
        name: name of the Triton function that the kernel's ``run`` launches.
        entry: the function to launch instead.
        timed: the timed launch.
        config: all knobs.

    Raises:
        Exception: any error that the function or the case's ``run`` raises.
    """
    assert kernel.run is not None
    names = kernel.run.__globals__
    own, found = names[name], WrittenElements()
    operations = 0.0 if kernel.flops is None else float(kernel.flops(timed.shape))
    programs = ChosenPrograms(entry, sampled(timed.seed, operations))
    tensors: dict[str, Any] = {}

    class _Watched:
        def __getitem__(self, grid: Any) -> Callable[..., Any]:
            def launch(*arguments: Any, **named: Any) -> None:
                given = {**{str(place): value for place, value in enumerate(arguments)}, **named}
                tensors.update({key: value for key, value in given.items() if hasattr(value, "data_ptr")})
                before = {key: value.clone() for key, value in tensors.items()}
                programs[grid](*arguments, **named)
                for key, value in tensors.items():
                    found.values[key] = _changed(before[key], value)
                # Stop after this launch if the case has parts, because they need the results of all programs.
                if kernel.parts:
                    raise _SeenError

            return launch

        def __getattr__(self, attribute: str) -> Any:
            return getattr(entry, attribute)

    names[name] = _Watched()
    try:
        with poisoned_tensors():
            outputs = kernel.run(timed.inputs, timed.shape, config)
    except _SeenError:
        outputs = {}
    finally:
        names[name] = own
    for output, tensor in outputs.items():
        for key, value in tensors.items():
            if tensor.data_ptr() == value.data_ptr() and tensor.numel() == value.numel() and tensor.is_contiguous():
                found.outputs[output] = key
    return found


def _changed(before: Any, after: Any) -> tuple[Any, Any]:
    """Return the flat indices of a tensor's elements whose bits changed, and their values."""
    import torch

    flat = after.detach().reshape(-1)
    words = {1: torch.uint8, 2: torch.int16, 4: torch.int32, 8: torch.int64}[flat.element_size()]
    places = (flat.view(words) != before.detach().reshape(-1).view(words)).nonzero().reshape(-1)
    return places, flat.view(words)[places].view(flat.dtype)


def difference(kernel: "Kernel", timed: TimedLaunch, got: WrittenElements, own: WrittenElements | None) -> str:
    """Return how a candidate's results differ from those of the case's own kernel for the same programs, or "".

    If both kernels write different elements, for example in another order of tiles, the candidate's elements are
    compared with the case's reference instead.

    Args:
        kernel: the case's kernel.
        timed: the timed launch.
        got: elements that the candidate wrote.
        own: elements that the case's own kernel wrote; None if it cannot run with the candidate's knobs.
    """
    assert kernel.tolerance is not None
    relative, absolute = kernel.tolerance(timed.shape)
    if own is not None:
        reasons = [
            reason
            for name, (places, values) in own.values.items()
            if (reason := _unlike(name, got.values.get(name), (places, values), (relative, absolute)))
        ]
        if not reasons:
            return ""
        if all(_same_places(got.values.get(name), written) for name, written in own.values.items()):
            return f"at the timed size, {'; '.join(reasons)}"
    count = sum(len(got.values[name][0]) for name in got.outputs.values() if name in got.values)
    needed = 0 if own is None else sum(len(own.values[name][0]) for name in own.outputs.values())
    if count < max(1.0, _LEAST_WRITTEN * needed):
        return (
            f"at the timed size, its workgroups write {count:,} elements of the result, as many of the case's "
            f"own kernel {needed:,}"
        )
    return _unlike_reference(kernel, timed, got, (relative, absolute))


def _same_places(got: tuple[Any, Any] | None, own: tuple[Any, Any]) -> bool:
    return got is not None and got[0].equal(own[0])


def _unlike(name: str, got: tuple[Any, Any] | None, own: tuple[Any, Any], tolerance: tuple[float, float]) -> str:
    """Return how the elements that a candidate wrote to a tensor differ from those of the case's own kernel, or "".

    The limit is twice the tolerance, because both kernels may sum in another order than the reference.
    """
    if not _same_places(got, own):
        return f"{name}: other elements are written than by the case's own kernel"
    assert got is not None
    if got[1].dtype != own[1].dtype:
        return f"{name} is {got[1].dtype}, and not {own[1].dtype}"
    left, right = got[1].double(), own[1].double()
    finite = right[right.isfinite()]
    scale = float(finite.square().mean().sqrt()) if len(finite) else 0.0
    limit = 2 * (tolerance[1] + tolerance[0] * right.abs().clamp(min=scale))
    same = (left == right) | (left.isnan() & right.isnan()) | ((left - right).abs() <= limit)
    wrong = int((~same).sum())
    return f"{wrong:,} of {len(same):,} elements of {name} are wrong" if wrong else ""


def _unlike_reference(
    kernel: "Kernel", timed: TimedLaunch, got: WrittenElements, tolerance: tuple[float, float]
) -> str:
    """Compare outputs with the case's reference at the timed size, which may take long; return the difference or ""."""
    import resource

    from kprof.api.live.containment import mapped_bytes

    assert kernel.reference is not None
    if kernel.parts or not got.outputs:
        return "its workgroups write other elements than the case's own kernel: it cannot be checked at the timed size"
    limits = resource.getrlimit(resource.RLIMIT_AS)
    try:
        resource.setrlimit(resource.RLIMIT_AS, (mapped_bytes() + _MOST_MEMORY, limits[1]))
        expected = kernel.reference(timed.inputs, timed.shape)
    except (RuntimeError, MemoryError):
        return "its workgroups write other elements than the case's own kernel, and the reference takes too much memory"
    finally:
        resource.setrlimit(resource.RLIMIT_AS, limits)
    for output, name in got.outputs.items():
        places, values = got.values[name]
        right = expected[output].reshape(-1)[places].double()
        left = values.double()
        same = (left == right) | (left.isnan() & right.isnan())
        same |= (left - right).abs() <= tolerance[1] + tolerance[0] * right.abs()
        wrong = int((~same).sum())
        if wrong:
            return f"at the timed size, {wrong:,} of {len(same):,} elements of {output} are wrong"
    return ""
