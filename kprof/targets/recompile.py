"""Compile captured kernels again, with another Triton or with other options, from the TTIR in the capture.

A capture may come from a stranger. Only text that Triton's own MLIR parses in a worker process is compiled. Files named
in the capture are neither opened nor imported, and only plain values of its options and switches are passed to the
compiler.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from kprof.captures.arguments import contents, numbers, tensor_bytes
from kprof.captures.layout import is_capture
from kprof.captures.model import CapturedKernel
from kprof.captures.reader import kernels_by_grid, read
from kprof.compiler.environment import SWITCHES
from kprof.compiler.request import CompileRequest
from kprof.errors import InputError, KprofError
from kprof.hardware.machine import load as load_architecture
from kprof.targets.captured import SEPARATOR, chosen
from kprof.targets.jobs import TargetJob

# Switches that name libraries and programs, which the compiler would load and run.
_PATHS = frozenset({"TRITON_AMD_CODEGEN_PATH", "TRITON_HIP_LLD_PATH", "LLVM_PASS_PLUGIN_PATH"})
_PLAIN = re.compile(r"[\w.+-]{0,64}")


@dataclass(frozen=True)
class RecompilableKernel:
    """A kernel of a capture that can be compiled again.

    Attributes:
        target: its name on a command line: ``DIR::ID``.
        kernel: the captured kernel.
        job: its compile.
        knobs: compile-time values, options and switches of the recorded compile.
        launched: the kernel that the program launches, if this one represents an autotuner's choice; else ``None``.
    """

    target: str
    kernel: CapturedKernel
    job: TargetJob
    knobs: Mapping[str, Any]
    launched: CapturedKernel | None = None


def with_configuration(recorded: RecompilableKernel, config: str) -> RecompilableKernel:
    """Return another configuration of an autotuner instead of the one that the program launches.

    Args:
        recorded: the kernel as it is launched.
        config: one of :attr:`kprof.captures.model.CapturedKernel.candidates`.

    Raises:
        KprofError: if the configuration's TTIR is missing.
    """
    chosen = recorded.kernel.candidates[config]
    kernel = replace(chosen, launches=recorded.kernel.launches, configs=recorded.kernel.configs)
    folder = recorded.target.partition(SEPARATOR)[0]
    return replace(_recorded(folder, kernel), target=recorded.target, launched=recorded.kernel)


def is_recorded(target: str) -> bool:
    """Return whether a target is a capture, or a kernel of one."""
    return is_capture(Path(target.partition(SEPARATOR)[0]))


def recorded(
    target: str,
    archs: Sequence[str] = (),
    *,
    all_configs: bool = False,
    grid: Sequence[int] | None = None,
    listed: str | None = None,
) -> tuple[list[RecompilableKernel], dict[str, str]]:
    """Return the kernels of a capture that can be compiled again, and for each other kernel's name the reason.

    Args:
        target: directory of the capture, or ``DIRECTORY::NAME``, see :func:`kprof.targets.captured.chosen`.
        archs: architectures to keep; all if empty.
        all_configs: True to include kernels that were compiled but not launched, such as an autotuner's other
            configurations.
        grid: use the launch with this grid; ``None``: use the most frequent launch.
        listed: one of the autotuner's configurations to compile instead of the recorded one.

    Raises:
        KprofError: if the directory is not a capture, or does not contain such a kernel.
    """
    folder, _, identifier = target.partition(SEPARATOR)
    capture = read(folder)
    if not capture.kernels:
        raise InputError("this capture contains no kernel", path=folder, hint="; ".join(capture.notes) or None)
    kernels = [k for k in chosen(capture, identifier, all_configs=all_configs) if not archs or k.arch in archs]
    if not kernels:
        has = ", ".join(sorted({k.arch for k in capture.kernels}))
        raise InputError(f"this was recorded for {has}, not for {', '.join(archs)}", path=folder)
    found: list[RecompilableKernel] = []
    lost: dict[str, str] = {}
    if grid is not None:
        wanted = {kernel.id for kernel in kernels}
        kernels = [k for k in kernels_by_grid(folder) if k.id in wanted and tuple(grid) in k.grids]
    for kernel in kernels:
        try:
            each = _recorded(folder, kernel)
            found.append(each if listed is None else with_configuration(each, listed))
        except KprofError as error:
            lost[kernel.name] = error.message
    return found, lost


def _recorded(folder: str, kernel: CapturedKernel) -> RecompilableKernel:
    if kernel.compiler:
        reason = f"only the program itself can compile it again, because its compiler is {kernel.compiler}"
        raise InputError(reason, path=str(kernel.folder))
    try:
        kernel.text("ttir")
    except KprofError as error:
        reason = f"the capture does not contain its TTIR, without which it cannot be compiled again ({error.message})"
        raise InputError(reason, path=str(kernel.folder)) from None
    asked = kernel.request
    request = CompileRequest(
        path=str((kernel.folder / "kernel.ttir").absolute()),
        function=kernel.name,
        arch=kernel.arch,
        signature=asked.signature,
        constexprs=asked.constexprs,
        attributes=asked.attributes,
        options={name: value for name, value in asked.options.items() if _is_plain(value)},
        environment={n: v for n, v in asked.environment.items() if n in SWITCHES and n not in _PATHS and _is_plain(v)},
    )
    job = TargetJob(
        request=request,
        machine=load_architecture(kernel.arch),
        name=kernel.name,
        grid=next(iter(kernel.grids), None),
        problem={},
        arguments=numbers(kernel.arguments),
        contents=contents(kernel.arguments),
        tensor_bytes=tensor_bytes(kernel.arguments),
    )
    constants = {name: value for name, value in request.constexprs.items() if name not in kernel.specialized}
    knobs = {**constants, **request.options, **request.environment}
    return RecompilableKernel(f"{folder}{SEPARATOR}{kernel.id}", kernel, job, knobs)


def _is_plain(value: Any) -> bool:
    """Return whether a value is a number or a short word, and cannot be the path of a file."""
    if isinstance(value, str):
        return _PLAIN.fullmatch(value) is not None
    if isinstance(value, tuple):
        return all(map(_is_plain, value))
    return value is None or isinstance(value, bool | int | float)


def changed(recorded: RecompilableKernel, change: Mapping[str, Any]) -> TargetJob:
    """Return the compile with other options or switches. Compile-time values are fixed in the TTIR."""
    request = recorded.job.request
    switches = {name: str(value) for name, value in change.items() if name.isupper()}
    options = {name: value for name, value in change.items() if not name.isupper()}
    options, environment = {**request.options, **options}, {**request.environment, **switches}
    return replace(recorded.job, request=replace(request, options=options, environment=environment))
