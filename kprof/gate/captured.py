"""Create the checks of a capture: one for every launched specialisation, and one if the capture is out of date."""

import re
import shlex
import shutil
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import PurePath
from typing import TYPE_CHECKING

import msgspec

from kprof.captures.installed import other_versions
from kprof.captures.reader import read
from kprof.errors import InputError, KprofError
from kprof.findings import Location
from kprof.gate.config import KernelEntry
from kprof.gate.subject import COMPILER_STAGES, CheckSubject, failed
from kprof.hardware.machine import load_gpu
from kprof.inputs.opening import head_of

if TYPE_CHECKING:
    from kprof.captures.model import Capture, CapturedKernel
    from kprof.hardware.machine import Product

_MAX_SHOWN = 3
_BY_SHELL = b"'''exec'"
_HEAD_BYTES = 4096
"""Number of bytes to read from a script to find its interpreter."""
_PYTHON = re.compile(r"python[0-9.]*")


def captured(entry: KernelEntry, target: str, gpus: Sequence[str]) -> Iterator[CheckSubject]:
    """Yield a check for every specialisation of a capture; a specialisation that did not compile is a failed check.

    Args:
        entry: the configuration entry with the kernels' limits.
        target: the capture's directory.
        gpus: requested architectures; a product replaces the product that was recorded.

    Raises:
        KprofError: the capture cannot be read, or contains nothing for these architectures.
    """
    capture = read(target)
    products = {machine.name: product for machine, product in map(load_gpu, gpus)}
    wanted = [kernel for kernel in capture.kernels if kernel.arch in products]
    ranked = {one.id for kernel in wanted for one in kernel.candidates.values()}
    # Configurations of an autotuner are checked once, through the configuration that replaces its choice.
    wanted = [kernel for kernel in wanted if kernel.launches or kernel.id not in ranked]
    if not wanted:
        has = ", ".join(sorted({kernel.arch for kernel in capture.kernels})) or "no kernel"
        hint = "; ".join(capture.notes) or None
        raise InputError(f"the capture contains {has}, not {', '.join(products)}", path=target, hint=hint)
    place = Location(file=target, line=1)
    old = stale(capture, entry.target)
    if old is not None:
        yield replace(failed(entry, capture.arch, old, place), stale=True)
    if not capture.complete:
        # The recording is incomplete, so further launches are not known.
        yield failed(entry, capture.arch, "; ".join(capture.notes), place)
    elsewhere = _elsewhere(capture, entry.target)
    for kernel in wanted:
        judged = _judged(entry, kernel, products[kernel.arch])
        yield replace(judged, recorded=f"{target}::{kernel.id}", left_out=elsewhere)
        elsewhere = ""


def _elsewhere(capture: "Capture", target: str) -> str:
    """Return a sentence about inputs of the program that cannot be compared with their current state, or ""."""
    reasons = []
    if names := [*capture.outside]:
        reasons.append(f"{_some(names)} outside the work tree")
    if missing := capture.installed.missing:
        reasons.append(f"{_some(missing)}, not installed here")
    if others := capture.installed.other_versions:
        reasons.append(f"data of {_some(others)}")
    if modules := other_versions(capture.imported):
        reasons.append(f"modules of {_some(modules)}")
    reasons += uncompared(capture)
    return (
        f"{target} was made from {' and from '.join(reasons)}, which kprof cannot compare with their current state"
        if reasons
        else ""
    )


def uncompared(capture: "Capture") -> list[str]:
    """Describe a recording's unknown inputs: data read by other programs, standard input, too many files."""
    program, *rest = capture.head.command or ["python", "?"]
    name = PurePath(program).name
    found = ["files beyond the first 10,000"] if capture.overflowed else []
    if not _PYTHON.fullmatch(name):
        found += [] if _is_python(program) else [f"what {name} read"]
    elif rest[:1] in ([], ["-"]):
        found.append("a program from standard input")
    return found


def _is_python(program: str) -> bool:
    """Return whether a program is a Python script, as ``torchrun`` is; False if it is not installed."""
    path = shutil.which(program)
    head = b"" if path is None else head_of(path, _HEAD_BYTES)
    first, _, rest = head.partition(b"\n")
    second = rest.partition(b"\n")[0]
    # If the interpreter's path is too long for the first line, installers write a shell script that runs it in line
    # two.
    return first.startswith(b"#!") and b"python" in (second if second.startswith(_BY_SHELL) else first)


def _some(names: Sequence[str]) -> str:
    more = f" and {len(names) - _MAX_SHOWN} more" if len(names) > _MAX_SHOWN else ""
    return f"{', '.join(names[:_MAX_SHOWN])}{more}"


def stale(capture: "Capture", target: str) -> str | None:
    """Return why a capture is out of date, with the command that records it again; ``None`` if it is up to date.

    Args:
        capture: the capture.
        target: its directory as written in the configuration.
    """
    if capture.sources is None:
        why = "the capture does not say which sources it was made from"
    else:
        found = capture.changes()
        if not found:
            return None
        why = "; ".join(found)
    command = shlex.join(capture.head.command) or "PROGRAM"
    return f"{why}; record it again: kprof capture --arch {capture.arch} --force -o {shlex.quote(target)} -- {command}"


def _judged(entry: KernelEntry, kernel: "CapturedKernel", product: "Product | None") -> CheckSubject:
    from kprof.targets.captured import loaded
    from kprof_analyzers.pipeline import analyze

    optional = not kernel.launches
    try:
        found = loaded(kernel)
        report = analyze(replace(found, product=product or found.product), model=True)
        return CheckSubject(entry, report, optional=optional)
    except KprofError as error:
        result = kernel.result
        refused = result is not None and result.status == "failed" and result.stage in COMPILER_STAGES
        subject = failed(entry, kernel.arch, str(error), kernel.source)
        report = msgspec.structs.replace(
            subject.report,
            name=kernel.name,
            specialization=kernel.specialization,
            triton=kernel.triton or msgspec.UNSET,
        )
        return replace(subject, report=report, refused=refused, optional=optional)
