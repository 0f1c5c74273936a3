"""Load the compiled kernels of a target, which is a text or an object."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from kprof.condition import CONDITIONS
from kprof.errors import TargetError
from kprof.hardware.default import DEFAULT_GPU
from kprof.hardware.machine import Architecture, Product, load_gpu
from kprof.options.groups import CompileOptions, WorkgroupOptions
from kprof.targets.artefacts import NO_LDS, NO_WORKGROUP, from_assembly, load_directory, load_file
from kprof.targets.hip_source import compile_hip
from kprof.targets.loaded import LoadedKernel
from kprof.targets.target import Target, TargetKind, TargetLike, resolve
from kprof.targets.usable_options import check, given
from kprof.targets.values import supplied


def load(target: TargetLike, options: CompileOptions, others: list[str] | None = None) -> Iterator[LoadedKernel]:
    """Yield every kernel of a target, one for each architecture.

    Args:
        target: see :func:`kprof.targets.target.resolve`: a text or path, a :class:`kprof.Kernel`, or a ``@triton.jit``
            function. Only Python files are run, as ``import`` runs them; others are read, or compiled and not run.
        options: which kernels, cases and configurations to compile. An option that the target cannot use is an error.
        others: collects the architectures of kernels that exist but were not requested, one per kernel.

    Raises:
        KprofError: if the target does not exist, cannot be read, or does not compile.
    """
    for kernel in _loaded(target, options, others):
        yield replace(kernel, condition=CONDITIONS[options.condition])


def _loaded(target: TargetLike, options: CompileOptions, others: list[str] | None) -> Iterator[LoadedKernel]:
    machines = [load_gpu(name) for name in options.arch]
    found = resolve(target)
    path = found.path
    if found.kind is not TargetKind.SOURCE:
        check(found.kind, found.text, given(options))
    match found.kind:
        case TargetKind.CAPTURE | TargetKind.DIRECTORY:
            kernels = _only(machines, _from_directory(found, _single(machines), options), others)
            yield from _launched(supplied(kernels, options.value, found.text), options)
        case TargetKind.HIP:
            yield from _launched(_from_hip(path, machines), options)
        case TargetKind.REPORT:
            hint = f"kprof report {found.text} -o page.html shows it; kprof diff compares two."
            raise TargetError("is a report or other JSON, without code to analyse", path=found.text, hint=hint)
        case TargetKind.CODE:
            yield from _launched(_only(machines, load_file(path, _single(machines)), others), options)
        case _:
            yield from _from_source(found, machines, options)


def _launched(kernels: Iterator[LoadedKernel], options: CompileOptions) -> Iterator[LoadedKernel]:
    """Yield compiled kernels with the launch that the options state.

    Raises:
        TargetError: if the grid is a formula, because compiled code has no names of sizes, or a workgroup has no
            wavefront.
    """
    grid = _stated_grid(options)
    workgroup = options if isinstance(options, WorkgroupOptions) else WorkgroupOptions()
    if workgroup.num_warps is not None and workgroup.num_warps < 1:
        raise TargetError(f"a workgroup has at least one wavefront, not {workgroup.num_warps}")
    # Triton's metadata has the same facts and takes precedence, so it is overridden as well.
    fields = {"shared": workgroup.lds, "num_warps": workgroup.num_warps}
    stated = {name: value for name, value in fields.items() if value is not None}
    for kernel in kernels:
        yield replace(
            kernel,
            grid=grid or kernel.grid,
            shared_bytes=stated.get("shared", kernel.shared_bytes),
            num_warps=stated.get("num_warps", kernel.num_warps),
            metadata={**kernel.metadata, **stated} if kernel.metadata else kernel.metadata,
            notes=[note for note in kernel.notes if not note.startswith(_unknown(stated))],
        )


def _unknown(stated: Mapping[str, int]) -> tuple[str, ...]:
    """Return the prefixes of the notes that no longer apply once the launch is stated."""
    notes = {"shared": NO_LDS, "num_warps": NO_WORKGROUP}
    return tuple(notes[name] for name in stated)


def _stated_grid(options: CompileOptions) -> tuple[int, ...] | None:
    if not options.grid:
        return None
    from kprof.expressions import SCALARS, parse, whole

    formulas = [parse(str(axis), "--grid", SCALARS) for axis in options.grid]
    if names := sorted({name for formula in formulas for name in formula.names}):
        hint = "Give its workgroups along each axis: --grid '64;32'."
        raise TargetError(f"the grid uses {names[0]}, but compiled code has no named sizes", hint=hint)
    return tuple(whole(formula, {}) for formula in formulas)


def _from_directory(target: Target, arch: str | None, options: CompileOptions) -> Iterator[LoadedKernel]:
    if target.kind is TargetKind.CAPTURE:
        from kprof.targets.captured import load_capture

        return load_capture(target.text, all_configs=options.all_configs)
    return load_directory(target.path, arch)


def _from_hip(path: Path, machines: Sequence[tuple[Architecture, Product | None]]) -> Iterator[LoadedKernel]:
    wanted = machines or [load_gpu(DEFAULT_GPU)]
    texts = {machine.name: compile_hip(path, machine.name) for machine in {m.name: m for m, _ in wanted}.values()}
    for machine, product in wanted:
        for kernel in from_assembly(path, texts[machine.name], machine.name):
            yield replace(kernel, product=product)


def _single(machines: Sequence[tuple[Architecture, Product | None]]) -> str | None:
    return machines[0][0].name if len(machines) == 1 else None


def _only(
    machines: Sequence[tuple[Architecture, Product | None]],
    kernels: Iterator[LoadedKernel],
    others: list[str] | None,
) -> Iterator[LoadedKernel]:
    """Yield kernels of the requested architectures; all kernels if none was named.

    A named product replaces the one that a capture was recorded for.
    """
    wanted = {machine.name: product for machine, product in machines}
    others = [] if others is None else others
    found = False
    for kernel in kernels:
        if not wanted or kernel.arch.name in wanted:
            found = True
            yield replace(kernel, product=wanted.get(kernel.arch.name) or kernel.product)
        else:
            others.append(kernel.arch.name)
    if others and not found:
        has, asked = ", ".join(sorted(set(others))), ", ".join(wanted)
        raise TargetError(
            f"this was compiled for {has}, not for {asked}", hint="Leave --arch out to analyse it anyway."
        )


def _from_source(
    target: Target, machines: Sequence[tuple[Architecture, Product | None]], options: CompileOptions
) -> Iterator[LoadedKernel]:
    from kprof.targets.listed import compile_target

    return compile_target(target, machines or [load_gpu(DEFAULT_GPU)], options)
