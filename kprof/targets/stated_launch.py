"""Launches of compiled code that the user describes: with options, or one per kernel in a file (``--launch FILE``)."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Annotated

import msgspec

from kprof.errors import InputError, TargetError, near_hint
from kprof.inputs import boundary
from kprof.options.groups import CompileOptions, WorkgroupOptions
from kprof.targets.artefacts import NO_LDS, NO_WORKGROUP
from kprof.targets.loaded import LoadedKernel
from kprof.targets.values import Value, supplied

_Count = Annotated[int, msgspec.Meta(ge=1, lt=1 << 31)]


class FileLaunch(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A kernel's launch in a launch file; the fields are those of :class:`StatedLaunch`."""

    grid: Annotated[list[_Count], msgspec.Meta(min_length=1, max_length=3)] | None = None
    num_warps: _Count | None = None
    lds: Annotated[int, msgspec.Meta(ge=0, lt=1 << 31)] | None = None
    values: dict[str, int | list[int]] = {}


@dataclass(frozen=True)
class StatedLaunch:
    """A kernel's launch as the user describes it; ``None`` or an empty mapping means that the user gave no value.

    Attributes:
        grid: workgroups along each axis.
        num_warps: wavefronts per workgroup.
        lds: LDS per workgroup in bytes.
        values: values of arguments by name, and integers in tensors.
    """

    grid: tuple[int, ...] | None = None
    num_warps: int | None = None
    lds: int | None = None
    values: Mapping[str, Value] = field(default_factory=dict)


def with_stated_launches(kernels: Iterable[LoadedKernel], options: CompileOptions, what: str) -> Iterator[LoadedKernel]:
    """Yield compiled kernels with the launches that the options describe; options override the launch file.

    Args:
        kernels: kernels of one target.
        options: the options with the launch.
        what: the target, for messages.

    Raises:
        InputError: if the launch file is not as described in :func:`read_launches`.
        TargetError: if the grid is a formula, because compiled code has no names of sizes; a workgroup has no
            wavefront; or a described launch names a kernel or argument that does not exist.
    """
    workgroup = options if isinstance(options, WorkgroupOptions) else WorkgroupOptions()
    common = StatedLaunch(_grid_of(options), workgroup.num_warps, workgroup.lds)
    if common.num_warps is not None and common.num_warps < 1:
        raise TargetError(f"a workgroup has at least one wavefront, not {common.num_warps}")
    launches = {} if workgroup.launch is None else read_launches(workgroup.launch)
    names: list[str] = []

    def launched() -> Iterator[LoadedKernel]:
        for kernel in kernels:
            names.append(kernel.name)
            mine = launches.get(kernel.name)
            if mine is None:
                yield _with(kernel, common)
                continue
            own = {name: value for name, value in mine.values.items() if name not in options.value}
            (known,) = supplied([kernel], own, kernel.name)
            lds = mine.lds if common.lds is None else common.lds
            yield _with(known, StatedLaunch(common.grid or mine.grid, common.num_warps or mine.num_warps, lds))

    yield from supplied(launched(), options.value, what)
    for name in launches:
        if name not in names:
            hint = near_hint(name, dict.fromkeys(names), "there are")
            raise TargetError(
                f"{workgroup.launch} describes a launch of {name!r}, which {what} does not contain", hint=hint
            )


def read_launches(path: str) -> dict[str, StatedLaunch]:
    """Read a launch file: a JSON object from kernel name to ``grid``, ``num_warps``, ``lds`` and ``values``.

    Raises:
        InputError: if the file is missing or no such object; the message names the kernel and the field.
    """
    found = boundary.json_of(boundary.read_bytes(path), dict[str, FileLaunch], path, "a launch file", unique=True)
    if not found:
        hint = 'For example {"saxpy": {"grid": [64], "num_warps": 4, "lds": 0, "values": {"n": 4096}}}.'
        raise InputError("a launch file has a launch for at least one kernel", path=path, hint=hint)
    return {
        name: StatedLaunch(tuple(one.grid) if one.grid else None, one.num_warps, one.lds, one.values)
        for name, one in found.items()
    }


def _with(kernel: LoadedKernel, launch: StatedLaunch) -> LoadedKernel:
    # Triton's metadata has the same facts and takes precedence, so it is overridden as well.
    fields = {"shared": launch.lds, "num_warps": launch.num_warps}
    stated = {name: value for name, value in fields.items() if value is not None}
    notes = {"shared": NO_LDS, "num_warps": NO_WORKGROUP}
    answered = tuple(notes[name] for name in stated)
    return replace(
        kernel,
        grid=launch.grid or kernel.grid,
        shared_bytes=stated.get("shared", kernel.shared_bytes),
        num_warps=stated.get("num_warps", kernel.num_warps),
        metadata={**kernel.metadata, **stated} if kernel.metadata else kernel.metadata,
        notes=[note for note in kernel.notes if not note.startswith(answered)],
    )


def _grid_of(options: CompileOptions) -> tuple[int, ...] | None:
    if not options.grid:
        return None
    from kprof.expressions import SCALARS, parse, whole

    formulas = [parse(str(axis), "--grid", SCALARS) for axis in options.grid]
    if names := sorted({name for formula in formulas for name in formula.names}):
        hint = "Give its workgroups along each axis: --grid '64;32'."
        raise TargetError(f"the grid uses {names[0]}, but compiled code has no named sizes", hint=hint)
    return tuple(whole(formula, {}) for formula in formulas)
