"""Terminal text for the performance model's results: the time, its causes, and the gain from higher occupancy."""

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING

from msgspec import UNSET

from kprof.document import KernelReport, LoopPrediction, Prediction
from kprof.reporters._plain_words import called, without_labels

if TYPE_CHECKING:
    from rich.text import Text

_NOTHING = 0.03
ASSUMED_PRODUCT = re.compile(r"^no product was named: (\S+) is assumed$")
_SHOWN = 4
_ASSUMPTIONS = 2
_LINES = 3
_VALUES = "values of "
_BANDWIDTH = "memory bandwidth"
_NEAR_PEAK = 0.4
_NEEDED = {
    "matrix": "green",
    "vector": "yellow",
    "issue": "yellow",
    "lds": "magenta",
    "barrier": "magenta",
    "scratch": "red",
    "launch": "red",
}


def _percent(share: float) -> str:
    return f"{100 * share:.0f} %"


def model_rows(kernel: KernelReport, *, full: bool = False, assumed: bool = True) -> list[tuple[str, "Text"]]:
    """Return the label and the text of each line about the performance model's result.

    Args:
        kernel: the kernel; without a prediction there are no lines.
        full: whether to list every assumption instead of the first ones.
        assumed: whether to list assumptions.
    """
    prediction = kernel.model
    if prediction is UNSET:
        return []
    from rich.text import Text

    rows = []
    if prediction.time_us is None:
        rows.append(("  Model", _unknown_time(prediction, kernel)))
        if (how := supplied(prediction)) is not None:
            rows.append(("", Text(how, style="cyan")))
    causes = Text()
    shown, left = _largest_shares(prediction.shares)
    for cause, share in shown:
        causes.append(f"{_percent(share)} ", style="bold" if cause == prediction.bound else "")
        causes.append(f"{_named(cause, prediction)}   ", style=_NEEDED.get(cause, "cyan"))
    causes.append(left, style="dim")
    rows.append(("  Time", causes))
    # The gain from occupancy refers to the unchanged code, so it would contradict the gain of a compiled cure.
    cured = any(cause.cure is not UNSET for cause in kernel.causes)
    if not cured and (worth := _occupancy_gain_text(prediction)) is not None:
        rows.append(("", worth))
    for number, line in enumerate(_assumed(kernel, prediction, full=full) if assumed else ()):
        rows.append(("" if number else "  Assumed", Text(line, style="dim")))
    return rows


def _largest_shares(shares: Mapping[str, float]) -> tuple[list[tuple[str, float]], str]:
    """Return the largest causes with their shares, and ``4 % other`` for the rest."""
    shown = [(cause, share) for cause, share in shares.items() if share >= 0.01][:_SHOWN]
    left = 1 - sum(share for _, share in shown)
    return shown, f"{_percent(left)} other" if left >= 0.01 else ""


def time_words(shares: Mapping[str, float]) -> str:
    """Return the shares of the time as words, or "" if not known: ``71 % matrix units   12 % LDS   4 % other``."""
    shown, left = _largest_shares(shares)
    return "   ".join(
        filter(None, [*(f"{_percent(share)} {_named(cause)}" for cause, share in shown), left * bool(shown)])
    )


def _unknown_time(prediction: Prediction, kernel: KernelReport) -> "Text":
    from rich.text import Text

    hot = max(prediction.loops, key=lambda loop: loop.cycles_per_iteration * loop.trips * loop.entries, default=None)
    loop = "" if hot is None else f"   {iteration(hot, called(hot.header, kernel))}"
    missing = missing_for_time(prediction)
    return Text(f"time not known: {missing.removesuffix(' known')}{loop}", style="yellow")


def iteration(loop: LoopPrediction, name: str) -> str:
    """Describe the time of one iteration of a loop whose number of iterations is not known."""
    words = f"{loop.cycles_per_iteration:,.0f} cycles per iteration of {name}"
    each = loop.cycles_per_element
    return words if each is None else f"{words}, {each:,.3g} for each element of {axis(loop)}"


def axis(loop: LoopPrediction) -> str:
    """Return the name of the axis of unknown extent, or of the tensor whose values determine the extent."""
    return " and ".join(name.removeprefix(_VALUES) for name in loop.missing)


def supplied(prediction: Prediction) -> str | None:
    """Return the command-line options that supply the missing values; ``None`` if their names are not known."""
    names = dict.fromkeys(name for loop in prediction.loops for name in loop.missing)
    given = (f"--value {n.removeprefix(_VALUES)}={'FILE.json' if n.startswith(_VALUES) else 'N'}" for n in names)
    return " ".join(given) + " supplies it" if names else None


def missing_for_time(prediction: Prediction) -> str:
    """Return why there is no predicted time."""
    if prediction.workgroups is None:
        return "the grid is not given"
    unknown = sum(not loop.trips_known for loop in prediction.loops)
    if unknown:
        return f"the number of iterations of {'a loop' if unknown == 1 else f'{unknown} loops'} is not known"
    return "the number of CUs is not known"


def assumption_count(kernel: KernelReport) -> int:
    """Return the number of a kernel's assumptions that the headline does not name."""
    return 0 if kernel.model is UNSET else sum(not ASSUMED_PRODUCT.match(line) for line in kernel.model.assumptions)


def _assumed(kernel: KernelReport, prediction: Prediction, *, full: bool) -> list[str]:
    """Return lines about values that are not known and had to be assumed."""
    known = [without_labels(sentence, kernel) for sentence in prediction.assumptions]
    # The headline already names the assumed GPU.
    known = [line for line in known if full or not ASSUMED_PRODUCT.match(line)]
    shown = known if full or len(known) <= _ASSUMPTIONS + 1 else known[:_ASSUMPTIONS]
    left = len(known) - len(shown)
    lines = [ASSUMED_PRODUCT.sub(r"\1 (choose another with --arch)", line.removeprefix("assumed: ")) for line in shown]
    return lines + [f"{left} more assumptions (-v)"] * bool(left)


def _named(cause: str, prediction: Prediction | None = None) -> str:
    if prediction is not None and cause == _BANDWIDTH and not bandwidth_is_reached(prediction):
        return "memory accesses"
    return {"lds": "LDS", "issue": "issue", "matrix": "matrix units", "vector": "vector units"}.get(cause, cause)


def bandwidth_is_reached(prediction: Prediction) -> bool:
    """Return whether any memory level is near its peak while memory limits the kernel; True if a peak is not known.

    It is not if narrow or scattered accesses keep the memory pipeline busy at a small part of the levels' rates.
    """
    share = prediction.shares.get(_BANDWIDTH)
    if prediction.roofline is UNSET or not prediction.time_us or not share:
        return True
    seconds = share * prediction.time_us * 1e-6
    levels = prediction.roofline.levels
    return any(not one.peak_gbs or one.bytes / seconds / 1e9 >= _NEAR_PEAK * one.peak_gbs for one in levels)


def _occupancy_gain_text(prediction: Prediction) -> "Text | None":
    from rich.text import Text

    worth = prediction.occupancy_worth
    if worth is UNSET or prediction.time_us is None:
        return None
    if worth.time_us is None:
        return Text("higher occupancy would not help: the grid has no more workgroups", style="dim")
    change = worth.time_us / prediction.time_us - 1
    if abs(change) < _NOTHING:
        return Text(f"higher occupancy would not help: bound by {_named(prediction.bound, prediction)}", style="dim")
    words = f"{_percent(abs(change))} less time" if change < 0 else f"{_percent(change)} more time"
    return Text(f"with one more workgroup per CU: {words}", style="cyan" if change < 0 else "dim")


def loop_lines(loop: LoopPrediction) -> list[str]:
    """Return detailed text lines for a loop: cycles per iteration by cause, then its most expensive source lines."""
    whole = sum(loop.causes.values()) or 1.0
    causes = ", ".join(
        f"{_percent(value / whole)} {_named(name)}" for name, value in list(loop.causes.items())[:_SHOWN]
    )
    trips = f"{loop.trips:,.4g} iteration{'' if loop.trips == 1 else 's'}{'' if loop.trips_known else ' (assumed)'}"
    found = [f"{loop.header}   {trips} of {loop.cycles_per_iteration:,.0f} cycles: {causes}"]
    lines = [f"{place} {_percent(value / whole)}" for place, value in list(loop.by_line.items())[:_LINES]]
    if lines:
        found.append("    " + "   ".join(lines))
    return found
