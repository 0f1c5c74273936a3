"""Text of ``kprof validate``: measured and modelled values, kernel by kernel."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from kprof.output.quantities import plural

if TYPE_CHECKING:
    from rich.console import Console

    from kprof.measured import Measured, Verdict

Kernels = Sequence[tuple[str, str, "Measured"]]


def show(kernels: Kernels, console: "Console") -> None:
    """Print the matched kernels, and each quantity and loop as measured and modelled."""
    from rich.text import Text

    from kprof.reporters.measured_text import compared

    for name, arch, measured in kernels:
        console.print(Text(f"{name}   measured on {measured.gpu}, modelled for {arch}", style="bold"))
        compared(measured, console)


def verdict(kernels: Kernels, standing: "Verdict") -> str:
    """Return the error of the modelled time; for several kernels, the largest error."""
    from kprof.reporters.measured_text import loop_place

    times = [(name, one) for name, _, measured in kernels for one in measured.comparisons if one.id == "time_us"]
    loops = [loop for _, _, measured in kernels for loop in measured.loops if loop.ratio is not None]
    words = [f"{standing}: {plural(len(kernels), 'kernel')} measured"]
    if times:
        name, worst = max(times, key=lambda pair: _off(pair[1].ratio))
        which = f" of {name}, the farthest off," if len(times) > 1 else ""
        words.append(
            f"time{which} {worst.modelled:,.1f} µs modelled, {worst.measured:,.1f} µs measured ({worst.words})"
        )
    if loops:
        loop = max(loops, key=lambda one: _off(one.ratio))
        words.append(
            f"{loop_place(loop)}: {loop.modelled or 0:,.0f} cycles per iteration modelled, {loop.measured:,.0f} traced"
        )
    return "; ".join(words)


def _off(ratio: float | None) -> float:
    return 0.0 if not ratio else max(ratio, 1 / ratio)
