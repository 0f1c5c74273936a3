"""Text of advice on recorded kernels, for the terminal."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from kprof.output.headline import tell_first, tell_last
from kprof.output.writing import log
from kprof.reporters import advice_text

if TYPE_CHECKING:
    from rich.console import Console

    from kprof.tuning.recorded import AdvisedKernel
    from kprof.tuning.recorded.answer import Answer


def show(kernels: "Sequence[AdvisedKernel]", console: "Console") -> None:
    """Print, for each kernel, the trials, their results, and the proposed change of the source."""
    tell_first(verdict(kernels))
    for kernel in kernels:
        launches = f"{kernel.launches:,} launch{'' if kernel.launches == 1 else 'es'}"
        place = "" if kernel.target == kernel.name else f"   {kernel.target}"
        console.print(f"{kernel.name}   {launches}{place}", style="bold", highlight=False, markup=False)
        if kernel.how:
            console.print(f"tried: {kernel.how}", markup=False)
        if kernel.error:
            log(f"{kernel.name}: {kernel.error}")
        if kernel.trials is not None:
            advice_text.show_trials(kernel.trials, console)
        if kernel.answer is not None and (kernel.trials is None or kernel.trials.told_apart):
            console.print(f"\n{answer_text(kernel.answer)}", markup=False, highlight=False, soft_wrap=True)
        console.print()
    tell_last(verdict(kernels))


def answer_text(answer: "Answer") -> str:
    """Return a source change as text: the location, and the line before and after the change."""
    lines = [answer.place, f"- {answer.before}" if answer.before else "", f"+ {answer.after}", answer.note]
    return "\n".join(filter(None, lines))


def verdict(kernels: "Sequence[AdvisedKernel]") -> str:
    """Return in one line which kernels have better configurations, and what to try first."""
    only = [kernel.how for kernel in kernels if kernel.how.startswith("compiler options only")]
    known = [kernel for kernel in kernels if kernel.trials is not None]
    if len(kernels) == 1:
        said = advice_text.verdict(known[0].trials) if known and known[0].trials else kernels[0].error
        return f"{kernels[0].name}: {said}{f' ({only[0]})' if only else ''}"
    better = [kernel.name for kernel in known if kernel.trials is not None and kernel.trials.told_apart]
    text = f"{len(better)} of {len(kernels)} kernels get faster with other knobs"
    if better:
        text += f": {', '.join(better)}"
    return text + (f" ({only[0]})" if only else "")
