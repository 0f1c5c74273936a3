"""Load captured kernels for analysis from the capture's own files, without Triton."""

from collections.abc import Iterator, Mapping
from functools import partial
from pathlib import Path

from kprof.captures.arguments import contents, numbers, tensor_bytes
from kprof.captures.model import NOT_COMPILED, Capture, CapturedKernel
from kprof.captures.reader import read
from kprof.errors import InputError, KprofError, NotCompiledInTimeError, near_hint
from kprof.hardware.machine import load as load_architecture
from kprof.inputs.source_path import in_moved
from kprof.targets.loaded import ListedConfiguration, LoadedKernel

SEPARATOR = "::"
"""Separator between a capture and the name or identifier of one of its kernels."""


def chosen(capture: Capture, wanted: str, *, all_configs: bool = False) -> list[CapturedKernel]:
    """Return the requested kernels of a capture.

    Args:
        capture: the capture.
        wanted: an identifier, or a function's name for all of its specialisations; empty for every kernel.
        all_configs: True to include kernels that were only compiled, such as an autotuner's other configurations.

    Raises:
        InputError: if the capture has no such kernel.
    """
    kernels = list(capture.kernels)
    if wanted:
        exact = [kernel for kernel in kernels if kernel.id == wanted]
        kernels = exact or [kernel for kernel in kernels if kernel.name == wanted]
        if not kernels:
            known = dict.fromkeys(kernel.name for kernel in capture.kernels)
            hint = near_hint(wanted, known, "it has")
            raise InputError(f"no kernel {wanted!r} in this capture", path=str(capture.path), hint=hint)
    launched = [kernel for kernel in kernels if kernel.launches]
    return kernels if all_configs or not launched else launched


def analysed(capture: Capture, wanted: str, *, all_configs: bool = False) -> list[CapturedKernel]:
    """Return the kernels of :func:`chosen`, and kernels that need too much LDS if the program handled that error."""
    kernels = chosen(capture, wanted, all_configs=all_configs)
    known = {kernel.id for kernel in kernels}
    refused = [kernel for kernel in capture.kernels if kernel.refused and kernel.id not in known]
    return [*kernels, *(kernel for kernel in refused if not wanted or wanted in {kernel.name, kernel.id})]


def load_capture(target: str | Path, *, all_configs: bool = False) -> Iterator[LoadedKernel]:
    """Yield the launched specialisations of a capture, in the order of their first appearance.

    Args:
        target: the capture directory, or ``DIRECTORY::NAME`` for one of its kernels, see :func:`chosen`.
        all_configs: True to include kernels that were only compiled, such as an autotuner's other configurations.

    Raises:
        KprofError: if the capture cannot be read or contains no kernel; also at the end, if some kernels were not
            compiled.
    """
    path, _, wanted = str(target).partition(SEPARATOR)
    capture = read(path)
    problems: list[str] = []
    kernels = analysed(capture, wanted, all_configs=all_configs)
    for kernel in kernels:
        try:
            yield loaded(kernel)
        except KprofError as error:
            problems.append(f"{kernel.name}: {error.message}")
    if problems:
        first = "; ".join(problems[:3]) + ("; ..." if len(problems) > 3 else "")
        raise InputError(f"{len(problems)} of {len(kernels)} kernels cannot be determined: {first}", path=path)
    if not kernels:
        raise InputError("this capture contains no kernel", path=path, hint="; ".join(capture.notes) or None)


def _first_stage(kernel: CapturedKernel) -> dict[str, str]:
    """Return the TTIR, if it was stored."""
    try:
        return {"ttir": _with_current_paths(kernel.text("ttir"), kernel.moved)}
    except KprofError:
        return {}


def loaded(kernel: CapturedKernel) -> LoadedKernel:
    """Load a captured kernel.

    Raises:
        KprofError: if it was not compiled, or its files are damaged.
    """
    from kprof.compiler.versions import with_argument_names
    from kprof.inputs import amdgcn, mlir

    if kernel.result is None:
        raise NotCompiledInTimeError(NOT_COMPILED)
    if not kernel.ok:
        raise InputError(kernel.error or "not compiled", hint=kernel.result.hint)
    text = _with_current_paths(kernel.text("amdgcn"), kernel.moved)
    assembly = amdgcn.parse(text, str(kernel.folder / "kernel.amdgcn"), arch=kernel.arch)
    if not assembly.kernels:
        raise InputError("no kernel in its assembly", path=str(kernel.folder))
    result = kernel.result
    assert result is not None
    notes = [*assembly.notes, *(f"{stage} was not made: {why}" for stage, why in result.missing.items())]
    if kernel.product_assumed:
        gpu = (
            f"assuming {kernel.product.name}, the GPU that the program saw" if kernel.product else "set it with --arch"
        )
        notes.append(f"an older kprof recorded this without the GPU's name: {gpu}")
    stages = {**_first_stage(kernel), "amdgcn": text}
    if not kernel.compiler:
        ttgir = _with_current_paths(kernel.text("ttgir"), kernel.moved)
        stages["ttgir"] = with_argument_names(ttgir, kernel.request.run_time_arguments)
    return LoadedKernel(
        name=kernel.name,
        arch=load_architecture(kernel.arch),
        product=kernel.product,
        program=next((one for one in assembly.kernels if one.name == kernel.name), assembly.kernels[0]),
        ttgir=mlir.parse(stages["ttgir"], str(kernel.folder / "kernel.ttgir")) if "ttgir" in stages else None,
        metadata=kernel.metadata,
        specialization=kernel.specialization,
        grid=next(iter(kernel.grids), None),
        arguments=numbers(kernel.arguments),
        contents=contents(kernel.arguments),
        tensor_bytes=tensor_bytes(kernel.arguments),
        triton=kernel.triton or None,
        compiler=kernel.compiler or None,
        source=kernel.source,
        compile_seconds=result.seconds,
        cached=result.cached,
        stages=stages,
        unrecorded=kernel.unrecorded,
        listed=_listed(kernel.candidates),
        listed_first=_listed(kernel.first_candidates),
        assumed=_assumed(kernel),
        notes=notes,
    )


def _listed(candidates: Mapping[str, CapturedKernel]) -> list[ListedConfiguration]:
    return [ListedConfiguration(config, partial(loaded, kernel)) for config, kernel in candidates.items()]


def _assumed(kernel: CapturedKernel) -> list[str]:
    """Describe assumptions about facts that only a device can determine."""
    if not kernel.choice_unknown:
        return []
    if kernel.listed < 2:
        return ["the configuration replaces an autotuner's choice, which only a GPU can make"]
    listed = f"{kernel.listed} configurations"
    return [f"the first of its autotuner's {listed} that can be launched; kprof advise ranks them"]


def _with_current_paths(text: str, moved: tuple[str, str] | None) -> str:
    """Return assembly or MLIR with source positions updated to the folder in which the sources are now."""
    return text if moved is None else in_moved(text, *moved)
