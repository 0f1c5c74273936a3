"""Combine the reports of several kernels into one report with a verdict."""

from collections import Counter
from collections.abc import Iterable, Sequence

from msgspec import UNSET

from kprof.analysis import failed_words
from kprof.document import JobSummary, KernelReport, Report, Verdict
from kprof.findings import Severity
from kprof.version import __version__


def report(kernels: Iterable[KernelReport], failed: Sequence[str] = (), fail_on: Severity | None = None) -> Report:
    """Return the report of several kernels, with its verdict.

    Args:
        kernels: reports of the kernels, in the order of presentation.
        failed: targets that could not be analysed, with the reason. An entry makes the verdict ``cannot_tell``; so does
            a kernel whose instructions were not all analysed, and an analyzer that raised an exception.
        fail_on: a finding of at least this severity makes the verdict ``regression``, even if other results are
            unknown.
    """
    entries = list(kernels)
    broken = failed_words(entries)
    counts = Counter(f.severity for k in entries for f in k.findings)
    failing = fail_on is not None and any(s.rank >= fail_on.rank for s in counts)
    words = [
        f"{counts[s]} {s.value}{'' if counts[s] == 1 else 's'}"
        for s in sorted(Severity, key=lambda s: -s.rank)
        if counts[s]
    ]
    found = ", ".join(words) or "no findings"
    unseen = [f"{k.name}: {k.unseen}" for k in entries if isinstance(k.unseen, str)]
    kind = "kernel" if len(entries) == 1 else "kernels"
    unrecorded = dict.fromkeys(k.unrecorded for k in entries if isinstance(k.unrecorded, str))
    done = "; ".join([f"{len(entries)} {kind} analysed: {found}", *unrecorded])
    reasons = [f"{len(failed)} of the targets could not be analysed"] if failed else []
    reasons += [*broken, *_first_and_count(unseen)]
    if failing and fail_on is not None:
        also = "".join(f"; cannot be determined: {reason}" for reason in reasons)
        verdict = Verdict(status="regression", summary=f"failed (--fail-on {fail_on.value}): {done}{also}")
    elif not entries:
        verdict = Verdict(status="cannot_tell", summary="cannot tell: nothing could be analysed")
    elif reasons:
        verdict = Verdict(status="cannot_tell", summary=f"cannot tell: {'; '.join(reasons)}; {done}")
    else:
        verdict = Verdict(status="ok", summary=done)
    return Report(kprof=__version__, kernels=entries, verdict=verdict, jobs=jobs_of(entries), notes=list(failed))


def jobs_of(kernels: Sequence[KernelReport]) -> list[JobSummary]:
    """Return a summary of each call that makes several launches: their names, and the sum of their times."""
    groups: list[tuple[tuple[str, str, object], list[int]]] = []
    latest: dict[tuple[str, str, object], list[int]] = {}
    for position, kernel in enumerate(kernels):
        if kernel.job is UNSET:
            continue
        key = (kernel.job, kernel.arch, kernel.product)
        # If a call already contains a launch of this name, the launch belongs to another call, such as that of the next
        # case.
        if key not in latest or kernel.name in {kernels[known].name for known in latest[key]}:
            latest[key] = []
            groups.append((key, latest[key]))
        latest[key].append(position)
    found = []
    for (name, arch, product), positions in groups:
        models = [kernels[position].model for position in positions]
        # The two timing events surround the whole call, so their time is counted once and not for each launch.
        events = [0.0 if model is UNSET else model.events_us or 0.0 for model in models]
        once = sum(events) - max(events, default=0.0)
        sums = {
            edge: total([-once, *(None if model is UNSET else getattr(model, edge) for model in models)])
            for edge in ("time_us", "low_us", "high_us")
        }
        found.append(JobSummary(name, arch, positions, product if isinstance(product, str) else UNSET, **sums))
    return found


def total(times: Sequence[float | None]) -> float | None:
    """Return the sum of times, or None if one of them is unknown."""
    return None if any(time is None for time in times) else sum(time for time in times if time is not None)


def _first_and_count(reasons: Sequence[str]) -> list[str]:
    """Return the first reason and a text with the number of further reasons; empty if there are no reasons."""
    return [reasons[0] + (f" (and {len(reasons) - 1} more)" if len(reasons) > 1 else "")] if reasons else []
