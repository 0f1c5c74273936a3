"""``kprof trace diff`` for people: two traces kernel by kernel."""

from kprof.reporters._trace_format import kernel_label, milliseconds
from kprof_analyzers.profiles.timeline.compare import TraceComparison


def lines(result: TraceComparison, limit: int) -> list[str]:
    """Categories, and the kernels that changed most; all of them where ``limit`` is 0."""
    from kprof.output.tables import rows_table

    by_category = [
        (name, milliseconds(was), milliseconds(now), _signed(now - was), _ratio(now, was))
        for name, (was, now) in result.categories.items()
    ]
    by_kernel = [
        (
            _signed(k.delta_ns),
            "new" if k.before_ns is None else milliseconds(k.before_ns),
            "gone" if k.after_ns is None else milliseconds(k.after_ns),
            _calls(k.after_count) if k.before_count == k.after_count else _calls(k.before_count, k.after_count),
            "-" if k.mean_ratio is None else f"{k.mean_ratio:.2f}x",
            kernel_label(k.name),
        )
        for k in (result.kernels[:limit] if limit else result.kernels)
    ]
    shown: list[str] = []
    if by_category:
        shown += rows_table(("category", "before ms", "after ms", "change ms", "ratio"), by_category).splitlines()
    if by_kernel:
        headings = ("change ms", "before ms", "after ms", "calls", "mean", "kernel")
        shown += ["", *rows_table(headings, by_kernel, wide=5).splitlines()]
    return [*shown, ""]


def _calls(*counts: float) -> str:
    return " -> ".join(f"{count:,}" if count == int(count) else f"{count:,.1f}" for count in counts)


def _signed(ns: float) -> str:
    return ("+" if ns > 0 else "-" if ns < 0 else "") + milliseconds(abs(ns))


def _ratio(now: int, was: int) -> str:
    return f"{now / was:.2f}x" if was else "new"


def verdict(result: TraceComparison) -> str:
    """How much kernel time grew, and by which kernel most."""
    change = result.after_ns - result.before_ns
    if not result.before_ns:
        return "no kernels in the first trace"
    grown = 100 * change / result.before_ns
    first = result.kernels[0] if result.kernels else None
    most = (
        f"; most by {kernel_label(first.name, 50)} ({_signed(first.delta_ns)} ms)" if first and first.delta_ns else ""
    )
    of_a_step = f" a step, of {result.steps[0]:,} and {result.steps[1]:,}" if all(result.steps) else ""
    caveat = f"; cannot be compared: {result.cannot_tell}" if result.cannot_tell else ""
    times = f"{milliseconds(result.before_ns)} -> {milliseconds(result.after_ns)} ms"
    return f"kernel time {times}{of_a_step} ({grown:+.1f} %){caveat}{most}"
