"""Information for editors about a kernel's file: diagnostics, the cost of each line, and configurations to paste.

This module is independent of the Language Server Protocol, which :mod:`kprof.api.live.lsp_server` implements. Line
numbers start at 1.
"""

import asyncio
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import msgspec
from msgspec import UNSET

from kprof.advised import KnownAdvice
from kprof.api.live.session import Question, Session
from kprof.api.programs import launches_of
from kprof.document import KernelReport
from kprof.errors import KprofError, TargetError, UnknownLaunchError
from kprof.findings import Finding
from kprof.importing.launches import launches_kernels
from kprof.inputs.source_path import same
from kprof.options.groups import CompileOptions
from kprof.output.assignments import assigned
from kprof.output.quantities import duration
from kprof.reporters._kernel_words import better
from kprof.reporters._plain_words import said
from kprof.reporters.answer import cause_text, causes_of
from kprof.tuning.config_code import config_code

_LINE = re.compile(r"line (\d+)")
_RECORDABLE = (
    "this file does not say how its functions are launched; the code action 'Run and record this program' runs it "
    "and shows its launches"
)
_SPILL = "Folded "
"""Text of LLVM's comment on a store or load of a spilled register: ``4-byte Folded Spill``."""


@dataclass(frozen=True)
class Remark:
    """A diagnostic at a line; ``severity`` is ``error``, ``warning`` or ``note``; ``rule`` is "" for compile errors."""

    line: int
    severity: str
    message: str
    rule: str = ""
    column: int | None = None


@dataclass
class SourceLineCost:
    """Cost of a source line: its number of instructions, how many of these are spills, and its share of the time.

    The share is 0 to 1, or ``None`` if the time is not known.
    """

    instructions: int = 0
    spills: int = 0
    share: float | None = None

    @property
    def words(self) -> str:
        """The cost as a sentence; the share of time is modelled."""
        known = "" if self.share is None else f"{100 * self.share:.3g} % of the predicted time, "
        spilled = f"{self.spills} of them move spilled registers" if self.spills else "none moves a spilled register"
        return f"{known}{self.instructions} instructions, {spilled}"


@dataclass(frozen=True)
class Pasteable:
    """A configuration that was compiled and is predicted to be faster, as a line of code."""

    title: str
    code: str


@dataclass
class Known:
    """Results of analysing the saved content of a file."""

    remarks: list[Remark] = field(default_factory=list)
    lines: dict[int, SourceLineCost] = field(default_factory=dict)
    configs: list[Pasteable] = field(default_factory=list)
    runs: bool = False
    """Whether the file is a program that launches its functions but has not been run yet."""


class Editor:
    """Analyses the files of an editor: files with a ``KERNEL``, and programs after they were recorded.

    Args:
        session: session that answers the queries.
        arch: architecture or product.
        seconds: time limit of the search for better knobs.
    """

    def __init__(self, session: Session, arch: str, seconds: float = 30.0) -> None:
        self._session, self._arch, self._seconds = session, arch, seconds
        self._asked: dict[str, list[Question]] = {}
        self.known: dict[str, Known] = {}

    def forget(self, path: str) -> None:
        """Discard the results of a file whose text has changed, and cancel its open queries."""
        self.known.pop(path, None)
        for question in self._asked.pop(path, ()):
            question.cancel()

    async def look(self, path: str) -> Known:
        """Compile a saved file and return the results; a compile error becomes a remark at the line of the error."""
        self.forget(path)
        found = self.known[path] = Known()
        try:
            await self._fill(found, path, path)
        except asyncio.CancelledError:
            raise
        except UnknownLaunchError as error:
            found.runs = await asyncio.to_thread(launches_kernels, Path(path))
            found.remarks.append(Remark(1, "note", _RECORDABLE) if found.runs else remark_of(error))
        except KprofError as error:
            found.remarks.append(remark_of(error))
        return found

    async def record(self, path: str) -> Known:
        """Run a file as a program, and keep the results of its launches until the file changes.

        Raises:
            KprofError: the program fails before it launches a Triton kernel, or launches none.
        """
        self.forget(path)
        found = self.known[path] = Known()
        running = launches_of([path], (), CompileOptions(arch=[self._arch]))
        (target, *_), problems = await asyncio.to_thread(running.__enter__)
        try:
            if target == path:
                raise TargetError("it launches no Triton kernel", path=path)
            await self._fill(found, path, str(target))
            found.remarks += map(remark_of, problems)
        finally:
            await asyncio.to_thread(running.__exit__, None, None, None)
        return found

    async def _fill(self, found: Known, path: str, target: str) -> None:
        """Analyse the kernels of a target and add the results to ``found``.

        Raises:
            KprofError: the target cannot be analysed.
        """
        report = await self._answer(path, "report", target)
        found.remarks += [each for kernel in report["kernels"] for each in remarks(kernel, path)]
        found.configs += [pasteable(kernel["advised"]) for kernel in report["kernels"] if "advised" in kernel]
        for number in range(len(report["kernels"])):
            listed = await self._answer(path, "listing", target, stage="amdgcn", kernel=number)
            add_costs(found.lines, listed, path)

    async def search(self, path: str) -> list[Pasteable]:
        """Search for faster configurations, and keep them until the file changes.

        Raises:
            KprofError: as :func:`kprof.advise`.
        """
        answer = await self._answer(path, "advise", budget=self._seconds)
        found = list(_pasteable(answer))
        self.known.setdefault(path, Known()).configs = found
        return found

    async def _answer(self, path: str, question: str, target: str = "", **arguments: Any) -> dict[str, Any]:
        asked = self._session.submit(question, target=target or path, arch=self._arch, **arguments)
        self._asked.setdefault(path, []).append(asked)
        return await asyncio.wrap_future(asked)


def remarks(kernel: Mapping[str, Any], path: str) -> Iterator[Remark]:
    """Yield remarks for a kernel's figures and the causes of lost time; causes in other files are shown at the kernel.

    A finding with the same cause as another one also gets a remark, which names that cause.
    """
    report = msgspec.convert(kernel, KernelReport)
    first = 1 if report.source is UNSET else report.source.line
    known = f"\n{pasteable(kernel['advised']).title}" if "advised" in kernel else ""
    yield Remark(first, "note", f"{report.name}: {_figures(kernel)}{known}")
    for cause in causes_of(report):
        told = cause_text(report, cause)
        yield _remark(told.finding, told.line, path, first)
        for position in cause.findings[1:]:
            other = report.findings[position]
            same_cause = f"{said(other.message, report)} (same cause: {told.finding.rule} {told.finding.name})"
            yield _remark(other, same_cause, path, first)


def _remark(finding: Finding, text: str, path: str, first: int) -> Remark:
    place = finding.location
    if place is UNSET or not same(place.file, path):
        away = "" if place is UNSET else f" [{place.file}:{place.line}]"
        return Remark(first, finding.severity.value, f"{text}{away}", finding.rule, None)
    return Remark(place.line, finding.severity.value, text, finding.rule, place.column)


def _figures(kernel: Mapping[str, Any]) -> str:
    model, resources = kernel.get("model") or {}, kernel.get("resources") or {}
    occupied = kernel.get("occupancy") or {}
    parts = []
    if model.get("time_us") is not None:
        low, high = duration(model["low_us"]), duration(model["high_us"])
        parts.append(
            f"{duration(model['time_us'])} modelled on {kernel.get('product') or kernel['arch']} ({low} to {high})"
        )
    for name, words in (("vgpr", "VGPRs"), ("vgpr_spills", "spilled")):
        if resources.get(name) is not None:
            parts.append(f"{resources[name]} {words}")
    if occupied.get("waves_per_simd") is not None:
        parts.append(f"{occupied['waves_per_simd']:g} waves a SIMD")
    return ", ".join(parts) or "no figures are known"


def add_costs(costs: dict[int, SourceLineCost], listed: Mapping[str, Any], path: str) -> None:
    """Add a listing's instructions to the source lines they come from, including the callers of inlined functions."""
    own = {number for number, name in enumerate(listed["files"]) if same(name, path)}
    for _, pieces, places, share, kind, *_ in listed["lines"]:
        if not kind:
            continue
        spilled = any(_SPILL in piece for _, piece in pieces)
        for line in {line for file, line in places if file in own}:
            cost = costs.setdefault(line, SourceLineCost())
            cost.instructions += 1
            cost.spills += spilled
            if share is not None:
                cost.share = (cost.share or 0.0) + share


def remark_of(error: KprofError) -> Remark:
    """Return a remark for an error, at its line or at line 1."""
    found = _LINE.search(error.place or "")
    text = f"{error.message}\n{error.hint}" if error.hint else error.message
    return Remark(int(found.group(1)) if found else 1, "error", text)


def pasteable(advised: Mapping[str, Any]) -> Pasteable:
    """Return the result of an earlier search as a line of code to paste."""
    title = better(msgspec.convert(advised, KnownAdvice))
    # Only the last line is Python. The lines before it set environment variables, so the comment mentions them.
    switches = "".join(f"; with {line}" for line in advised["code"].splitlines()[:-1])
    return Pasteable(title, f"{advised['code'].splitlines()[-1]}  # {title}{switches}")


def _pasteable(answer: Mapping[str, Any]) -> Iterator[Pasteable]:
    start = answer.get("start") or {}
    for one in answer["suggestions"]:
        time = one.get("time") or {}
        if time.get("us") is None or start.get("us") is None:
            continue
        change = assigned(one["change"], ", ")
        title = f"{change}: {duration(start['us'])} to {duration(time['us'])}, {time['certainty']}"
        must = f"; verify in the code: {', '.join(one['must_see'])}" if one["must_see"] else ""
        yield Pasteable(title, f"{config_code(one['config'])}  # {title}{must}")
