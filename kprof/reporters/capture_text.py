"""Text of a capture: what was launched, what could not be compiled, what is not known, and the verdict."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from kprof.captures.model import Capture, CapturedKernel, caller, unrun_words
from kprof.output.quantities import plural

_ROWS = 30
_FAILURES = 10
_OPERATORS = 8


@dataclass
class Row:
    """One kernel function of a capture.

    Attributes:
        name: name of the function.
        launches: number of launches.
        specialisations: number of specialisations.
        configs: number of specialisations that are configurations of autotuners.
        failed: number of specialisations that were not compiled.
        unlaunchable: number of specialisations that compile but need more resources than the hardware has.
        seconds: total compile time.
    """

    name: str
    launches: int = 0
    specialisations: int = 0
    configs: int = 0
    failed: list[CapturedKernel] = field(default_factory=list)
    unlaunchable: list[CapturedKernel] = field(default_factory=list)
    seconds: float = 0.0


def rows(capture: Capture) -> list[Row]:
    """Return the kernel functions of a capture, most launches first."""
    found: dict[str, Row] = {}
    for kernel in capture.kernels:
        row = found.setdefault(kernel.name, Row(kernel.name))
        row.launches += kernel.launches
        row.specialisations += 1
        row.configs += bool(kernel.configs)
        row.seconds += (kernel.result.seconds or 0.0) if kernel.result is not None else 0.0
        if not kernel.ok:
            row.failed.append(kernel)
        elif kernel.launch_problems:
            row.unlaunchable.append(kernel)
    return sorted(found.values(), key=lambda row: -row.launches)


class CaptureTextReporter:
    """Reporter that writes plain text.

    Args:
        width: columns of the terminal.
        verbose: 1 shows all lists completely; 0 truncates them.
        verdict_first: whether the verdict is the first line, as on a terminal; in a log it is the last.
    """

    def __init__(self, width: int = 110, verbose: int = 0, *, verdict_first: bool = False) -> None:
        self._width = width
        self._verbose = verbose
        self._verdict_first = verdict_first

    def render(self, capture: Capture, *, quiet: bool = False, ended: str | None = None) -> str:
        """Return the whole text.

        Args:
            capture: the capture.
            quiet: whether to return only the verdict.
            ended: how the program ended, if it failed.
        """
        verdict = self._verdict(capture, ended)
        if quiet:
            return verdict + "\n"
        found = rows(capture)
        parts = [
            self._head(capture),
            *self._wrapped([str(one) for one in capture.left_out]),
            *self._unrun(capture),
            *self._silent(capture),
            *self._table(found),
            *self._failures(found),
            *self._unknown(capture),
        ]
        parts += self._notes(capture)
        whole = [*self._wrapped([verdict]), "", *parts] if self._verdict_first else [*parts, "", verdict]
        return "\n".join(whole) + "\n"

    def _head(self, capture: Capture) -> str:
        versions = sorted({kernel.triton for kernel in capture.kernels if not kernel.compiler})
        compilers = sorted({kernel.compiler for kernel in capture.kernels if kernel.compiler})
        if versions or not compilers:
            compilers.insert(0, f"Triton {', '.join(versions) or '-'}")
        how = "recorded while it ran" if capture.executed else "recorded, not run"
        product = f" · {capture.head.product}" if capture.head.product else ""
        return f"{capture.arch}{product}   {', '.join(compilers)}   {how}"

    def _unrun(self, capture: Capture) -> list[str]:
        """Describe operators that did not run; these come first because launches may be missing."""
        words = unrun_words(capture.unrun, len(capture.unrun) if self._verbose else _OPERATORS)
        if words is None:
            return []
        return self._wrapped([f"{words}; launches by these operators are missing here", *self._unrun_places(capture)])

    def _unrun_places(self, capture: Capture) -> list[str]:
        return [f"  {o.name} first at {caller(o.site)}" for o in capture.unrun] if self._verbose else []

    def _silent(self, capture: Capture) -> list[str]:
        """Describe calls of GPU operators that launched no recorded kernel."""
        lines = []
        for what, calls in (
            ("of registered operators ran without launching a Triton kernel", capture.silent),
            ("of torch's own operators launch no Triton kernel", capture.torch),
        ):
            if calls:
                shown = list(calls.items())[: None if self._verbose else _OPERATORS]
                named = ", ".join(f"{name} {count:,}" for name, count in shown)
                more = f", and {len(calls) - len(shown)} more" if len(shown) < len(calls) else ""
                lines.append(f"{plural(sum(calls.values()), 'call')} {what}: {named}{more}")
        return self._wrapped(lines)

    def _table(self, found: Sequence[Row]) -> list[str]:
        if not found:
            return []
        shown = found if self._verbose else found[:_ROWS]
        # The numbers take 58 columns, and the name gets the rest. A longer name gets its own line instead of being cut,
        # because generated names often differ only at their ends.
        width = max(20, min(max(len(row.name) for row in shown), self._width - 60))
        lines = ["", f"  {'kernel':<{width}}  launches  specialised  autotuned  failed   compile"]
        lines += [
            f"{_name(row.name, width)}  {row.launches:>8,}  {row.specialisations:>11,}  "
            f"{row.configs or '-':>9}  {len(row.failed) or '-':>6}  {row.seconds:>6.1f} s"
            for row in shown
        ]
        if len(found) > len(shown):
            lines.append(f"  ... and {len(found) - len(shown)} more; -v shows them")
        return lines

    def _failures(self, found: Sequence[Row]) -> list[str]:
        lines = []
        for title, groups in (
            ("cannot tell: not compiled", [(k, k.error or "") for row in found for k in row.failed]),
            (
                "compiles, but cannot be launched",
                [(k, "; ".join(map(str, k.launch_problems))) for row in found for k in row.unlaunchable],
            ),
        ):
            if not groups:
                continue
            reasons: dict[tuple[str, str], list[CapturedKernel]] = {}
            for kernel, why in groups:
                reasons.setdefault((kernel.name, why), []).append(kernel)
            lines += ["", f"{title}: {len(groups)}"]
            shown = list(reasons.items())[: None if self._verbose else _FAILURES]
            for (name, why), kernels in shown:
                count = f" ({len(kernels)} alike)" if len(kernels) > 1 else ""
                lines.append(f"  {name}{count}: {' '.join(why.split())}{_place_text(kernels[0])}")
                hint = kernels[0].result.hint if kernels[0].result is not None else None
                lines += [f"    {hint}"] if hint else []
                lines += [f"    with {kernels[0].configs[0]}"] if kernels[0].configs else []
            if len(reasons) > len(shown):
                lines.append(f"  ... and {len(reasons) - len(shown)} more; -v shows them")
        return lines

    def _unknown(self, capture: Capture) -> list[str]:
        """Describe what is not known because the kernels did not run."""
        if capture.executed:
            return []
        lines = []
        tuned = [kernel for tuning in capture.tunings for kernel in tuning.candidates.values()]
        if tuned:
            failed = {kernel.id for kernel in capture.kernels if kernel.error is not None}
            compiled = sum(kernel is not None and kernel not in failed for kernel in tuned)
            which = f"all {compiled:,}" if compiled == len(tuned) else f"{compiled:,} of {len(tuned):,}"
            lines.append(
                f"autotuners: {plural(len(capture.tunings), 'choice')} not known; {which} configurations were "
                f"compiled, and kprof analyze shows the fastest by the model{_hopeless(capture, failed)}"
            )
        if capture.reads_count:
            places = capture.looked_at
            shown = places if self._verbose else places[:3]
            more = "" if len(shown) == len(places) else f", and {len(places) - len(shown)} more places"
            count = plural(capture.reads_count, "value")
            lines.append(
                f"values: kernels did not run, and the program looked at {count} that they would have written, "
                f"mostly zeros now: {', '.join(shown)}{more}"
            )
        return ["", *self._wrapped(lines)] if lines else []

    def _notes(self, capture: Capture) -> list[str]:
        return ["", *self._wrapped([f"remark: {note}" for note in capture.notes])] if capture.notes else []

    def _wrapped(self, lines: Sequence[str]) -> list[str]:
        import textwrap

        return [part for line in lines for part in textwrap.wrap(line, self._width, subsequent_indent="  ")]

    def _verdict(self, capture: Capture, ended: str | None) -> str:
        failed = [kernel for kernel in capture.kernels if not kernel.ok]
        refused = sum(kernel.ok and bool(kernel.launch_problems) for kernel in capture.kernels)
        cached = sum(1 for k in capture.kernels if k.result is not None and k.result.cached)
        names = len({kernel.name for kernel in capture.kernels})
        text = (
            f"{plural(capture.launch_count, 'launch', 'launches')} of {plural(names, 'kernel')}, "
            f"{plural(len(capture.kernels), 'specialisation')}: {len(capture.kernels) - len(failed):,} compiled"
        )
        text += f" ({cached:,} from the cache)" if cached else ""
        text += f", {refused:,} of them cannot be launched" if refused else ""
        text += f", {len(failed):,} cannot be determined" if failed else ""
        if capture.ran:
            operators = plural(len(capture.ran), "registered operator")
            text += f"; {plural(sum(capture.ran.values()), 'call')} of {operators} ran"
        text += f"; {plural(len(capture.unrun), 'operator')} answered without running" if capture.unrun else ""
        text += "; launches are left out" if capture.left_out else ""
        text += f"; {ended}" if ended else ""
        return f"{capture.path}: {text}"


def _place_text(kernel: CapturedKernel) -> str:
    if kernel.source is None:
        return ""
    place = kernel.result.place if kernel.result is not None else None
    line = place.removeprefix("line ") if place and place.startswith("line ") else str(kernel.source.line)
    return f"   {str(kernel.source).rsplit(':', 1)[0]}:{line}"


def _hopeless(capture: Capture, failed: set[str]) -> str:
    """Return for how many choices of autotuners no configuration compiles, as the end of a sentence."""
    none = sum(
        all(kernel is None or kernel in failed for kernel in tuning.candidates.values())
        for tuning in capture.tunings
        if tuning.candidates
    )
    return f"; for {none:,} of them no configuration compiles" if none else ""


def _name(name: str, width: int) -> str:
    return f"  {name:<{width}}" if len(name) <= width else f"  {name}\n  {'':<{width}}"
