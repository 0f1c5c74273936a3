"""Load the compiled kernels of a target, which is a text or an object."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from kprof.condition import CONDITIONS
from kprof.errors import TargetError
from kprof.hardware.default import DEFAULT_GPU
from kprof.hardware.machine import Architecture, Product, load_gpu
from kprof.options.groups import CompileOptions
from kprof.targets.artefacts import from_assembly, load_directory, load_file
from kprof.targets.hip_source import compile_hip
from kprof.targets.loaded import LoadedKernel
from kprof.targets.stated_launch import with_stated_launches
from kprof.targets.target import Target, TargetKind, TargetLike, resolve
from kprof.targets.usable_options import check, given


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
            kernels = _only_requested(machines, _from_directory(found, _single(machines), options), others)
            yield from with_stated_launches(kernels, options, found.text)
        case TargetKind.HIP:
            yield from with_stated_launches(_from_hip(path, machines), options, found.text)
        case TargetKind.REPORT:
            hint = f"kprof report {found.text} -o page.html shows it; kprof diff compares two."
            raise TargetError("is a report or other JSON, without code to analyse", path=found.text, hint=hint)
        case TargetKind.CODE:
            kernels = _only_requested(machines, load_file(path, _single(machines)), others)
            yield from with_stated_launches(kernels, options, found.text)
        case _:
            yield from _from_source(found, machines, options)


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


def _only_requested(
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
