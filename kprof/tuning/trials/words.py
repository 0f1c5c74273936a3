"""Wording of an explanation: what caused a change, what cures it, and at which price."""

from collections.abc import Mapping, Sequence

from kprof.diffing.document import Change, TriedChange
from kprof.output.assignments import assigned

_SWITCH_NAMES = {
    "TRITON_HIP_USE_ASYNC_COPY": "async copy",
    "TRITON_HIP_USE_BLOCK_PINGPONG": "block ping-pong",
    "TRITON_HIP_USE_IN_THREAD_TRANSPOSE": "in-thread transpose",
    "AMDGCN_USE_BUFFER_OPS": "buffer operations",
    "AMDGCN_USE_BUFFER_ATOMICS": "buffer atomics",
    "AMDGCN_ANALYZE_SMALL_TENSOR_RANGE": "range analysis for buffer operations",
    "AMDGCN_SCALARIZE_PACKED_FOPS": "splitting of packed operations",
}

METRIC_WORDS = {
    "loop_spills": "scratch accesses in loops",
    "vgpr_spills": "VGPRs spilled",
    "scratch_bytes": "B of scratch a lane",
    "lds_bytes": "B of LDS",
    "waves_per_simd": "waves per SIMD",
    "vgpr_allocated": "registers allocated",
    "loop_instructions": "instructions an iteration",
}
# What is said of a trial, and in which order.
_SHOWN = ("vgpr_spills", "lds_bytes", "waves_per_simd")


def switch_name(name: str) -> str:
    """What a switch is called: ``async copy``."""
    return _SWITCH_NAMES.get(name, name)


def price_of(change: Change) -> str:
    """``waves per SIMD 2 to 1``."""
    if change.metric.startswith("finding:"):
        return f"new finding {change.text}"
    text = f"{change.text} {number(change.old)} to {number(change.new)}"
    return f"{text} {change.note}" if change.note.startswith("for ") else text


def number(value: float | None) -> str:
    """A figure for people; ``?`` for what is not known."""
    if value is None:
        return "?"
    return f"{value:,.0f}" if value == int(value) or abs(value) >= 1000 else f"{value:,.4g}"


def outcome(trial: TriedChange, metrics: Sequence[str] = _SHOWN) -> str:
    """What a trial has in the figures that matter: ``0 VGPRs spilled, 65,536 B of LDS``."""
    shown = [name for name in metrics if name in trial.figures]
    return ", ".join(f"{number(trial.figures[name][2])} {METRIC_WORDS[name]}" for name in shown)


def summary_of(
    labels: tuple[str, str],
    causes: Sequence[TriedChange],
    cures: Sequence[TriedChange],
    defaults: Mapping[str, tuple[bool | None, bool | None]],
    harm: Sequence[Change],
    *,
    all_tried: bool,
) -> str:
    """One line: the cause with its numbers, and the first cure."""
    if not causes and not all_tried:
        text = "no cause was found in the time"
    elif not causes:
        worst = f" ({price_of(harm[0])})" if harm else ""
        text = f"no environment switch brings the old code back{worst}: the change is in the compiler itself"
    else:
        trial = causes[0]
        names = " with ".join(switch_name(name) for name in trial.change)
        restored = [name for name in (*_SHOWN, "loop_spills") if name in trial.restored and name in trial.figures]
        moved = ", ".join(
            f"{number(trial.figures[name][0])} to {number(trial.figures[name][1])} {METRIC_WORDS[name]}"
            for name in restored[:3]
        )
        text = f"{names}{_since(labels, trial, defaults)}: {moved or price_of(harm[0])}"
        text += f"; {assigned(trial.change, ', ')} {'undoes it' if trial.cured else 'undoes most of it'}"
    if cures:
        text += f"; {assigned(cures[0].change, ', ')} cures it"
    return text


def _since(labels: tuple[str, str], trial: TriedChange, defaults: Mapping[str, tuple[bool | None, bool | None]]) -> str:
    """Whether it is the default that changed."""
    changed = [name for name in trial.change if name in defaults]
    if len(changed) != len(trial.change) or not changed:
        return ""
    before, after = defaults[changed[0]]
    if before is None:
        return f", which {labels[0]} does not have"
    state = "on" if after else "off"
    return f", {state} by default in {labels[1]}, {'on' if before else 'off'} in {labels[0]}"
