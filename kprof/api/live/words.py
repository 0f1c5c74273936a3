"""Answers in a few lines, as a model reads them beside the structured result."""

from collections.abc import Iterable, Iterator
from typing import Any

from kprof.api.live import answers
from kprof.output.assignments import assigned
from kprof.output.quantities import duration
from kprof.reporters._known_advice import better
from kprof.reporters.answer import costing, sentences

MOST = 8
"""Causes, changes or configurations that the text tells; the structured result has all."""


def text(answer: Any) -> str:
    """An answer in a few lines."""
    match answer:
        case answers.Analyzed():
            lines: Iterable[str] = _analyzed(answer)
        case answers.AdviceAnswer():
            lines = _advice(answer)
        case answers.Ranking():
            lines = _ranking(answer)
        case answers.Compared():
            lines = _compared(answer)
        case answers.Occupied() | answers.Captured():
            lines = [answer.summary]
        case answers.RuleText():
            lines = [f"{answer.rule} {answer.name} ({answer.severity})", answer.text]
        case answers.KernelList():
            lines = [f"{one['name']}: cases {', '.join(map(str, one.get('cases', ())))}" for one in answer.kernels]
        case _:
            raise TypeError(type(answer).__name__)
    return "\n".join(lines)


def _time(time: answers.Time | None) -> str:
    if time is None:
        return "no time can be predicted"
    likely = f"likely {duration(time.low_us)} to {duration(time.high_us)}"
    bound = f", bound by {time.bound}" if time.bound else ""
    return f"{duration(time.us)} ({likely}{bound}; {time.certainty})"


def _analyzed(answer: answers.Analyzed) -> Iterator[str]:
    yield answer.summary
    for kernel in answer.kernels:
        gpu = kernel.product or kernel.arch
        yield f"{kernel.name} on {gpu}, Triton {kernel.triton or 'unknown'}: {_time(kernel.time)}"
        known = {
            "VGPRs": kernel.vgprs, "AGPRs": kernel.agprs, "spilled": kernel.vgpr_spills, "B of LDS": kernel.lds_bytes,
            "waves a SIMD": kernel.waves_per_simd,
        }  # fmt: skip
        if kernel.better is not None:
            yield f"  {better(kernel.better)}"
        yield "  " + ", ".join(f"{value:g} {name}" for name, value in known.items() if value is not None)
        yield from (f"  {line}" for line in _causes(kernel.causes))
        if kernel.not_checked:
            yield f"  not checked: {', '.join(kernel.not_checked)}"


def _causes(causes: list[answers.CauseAnswer]) -> Iterator[str]:
    for told in causes[:MOST]:
        where = f" at {told.where}" if told.where else ""
        todo = sentences(told.todo)
        yield f"{told.rule} {told.severity}{where}: {costing(told.message, told.cost)}.{f' {todo}' if todo else ''}"
    if len(causes) > MOST:
        yield f"and {len(causes) - MOST} causes more"


def _advice(answer: answers.AdviceAnswer) -> Iterator[str]:
    yield f"{answer.kernel} on {answer.arch}: {answer.summary}"
    yield f"as it is: {_time(answer.start)}"
    for one in answer.suggestions[:MOST]:
        change = assigned(one.change)
        yield f"{change}: {_time(one.time)}; must be seen: {', '.join(one.must_see) or 'nothing changes but the time'}"
    yield f"{answer.tried} configurations compiled, {answer.left} left"


def _ranking(answer: answers.Ranking) -> Iterator[str]:
    yield answer.summary
    for one in answer.configs[:MOST]:
        config = assigned(one.config)
        yield f"{one.rank}. {config}: {_time(one.time)}{', as good as the first' if one.tie else ''}"


def _compared(answer: answers.Compared) -> Iterator[str]:
    yield answer.summary
    yield f"old: {_time(answer.old_time)}"
    yield f"new: {_time(answer.new_time)}"
    for change in answer.changes[:MOST]:
        where = f" at {change.where}" if change.where else ""
        note = f", {change.note}" if change.note else ""
        yield f"{change.effect}: {change.text} {change.old} to {change.new}{note}{where}"
    if len(answer.changes) > MOST:
        yield f"and {len(answer.changes) - MOST} changes more"
