"""Text of ``kprof doctor``: each problem of a machine with its reason and the command that fixes it."""

import textwrap

from kprof.doctor.document import CheckOutcome, Diagnosis, SettingOutcome
from kprof.output.colour import painted
from kprof.output.sink import one_line

_COLOUR = {"ok": "32", "warn": "33", "fail": "1;31", "unknown": "36"}
_INDENT = 11


class DoctorTextReporter:
    """Reporter that writes plain text, optionally in colour.

    Args:
        width: columns of the terminal.
        colour: whether to colour the statuses.
        verbose: whether to show also the reasons of passed and undetermined checks.
    """

    def __init__(self, width: int = 100, *, colour: bool = False, verbose: int = 0) -> None:
        self._width = max(60, min(width, 120))
        self._colour = colour
        self._verbose = verbose

    def render(self, found: Diagnosis) -> str:
        """Return the whole text; its last line is the verdict."""
        name = max((len(outcome.check) for outcome in found.checks), default=0)
        lines = [f"kprof doctor   {_gpus(found)}", ""]
        section = ""
        for outcome in found.checks:
            if section and outcome.section != section:
                lines.append("")
            section = outcome.section
            lines += self._outcome(outcome, name)
        lines += self._settings(found)
        lines += self._arguments(found)
        lines.append("")
        lines += [f"  {'yes' if can else 'no':3}  {what}" for what, can in found.works.items()]
        if found.left_out:
            lines += self._wrapped("  ", f"Not checked, because there is no AMD GPU: {', '.join(found.left_out)}", "  ")
        lines += ["", self._verdict(found)]
        return "\n".join(lines) + "\n"

    def _settings(self, found: Diagnosis) -> list[str]:
        """Return text lines for the settings that should change (if verbose, for all), and the number of the others."""
        bad = [outcome for outcome in found.settings if outcome.status != "ok"]
        right = len(found.settings) - len(bad)
        about = f"settings for {found.workload}" if found.workload else "settings for any workload"
        if found.workload and not found.gpus:
            about += f" (as for {found.reported[0]})" if found.reported else " (no AMD GPU here; as for an MI300X)"
        lines = ["", *self._wrapped("  ", f"{about}: {right} of {len(found.settings)} need no change", "  ")]
        for outcome in found.settings if self._verbose else bad:
            lines += self._setting(outcome)
        if self._verbose:
            for outcome in found.unseen:
                lines += self._setting(outcome)
        elif found.unseen:
            words = "; ".join(f"{outcome.name} ({outcome.wanted or 'to be tried'})" for outcome in found.unseen)
            lines += self._wrapped("  ", f"cannot be read from here: {words}", "  ")
        return lines

    def _arguments(self, found: Diagnosis) -> list[str]:
        """Return text lines for the arguments of a command line that the guides mention, and the names of others."""
        if not found.arguments and not found.unjudged:
            return []
        lines = ["", f"  arguments of the command line, for {found.workload}:"]
        for outcome in found.arguments:
            lines += self._setting(outcome, always=True)
        if found.unjudged:
            lines += self._wrapped("  ", f"not mentioned by the guides: {', '.join(found.unjudged)}", "  ")
        return lines

    def _setting(self, outcome: SettingOutcome, *, always: bool = False) -> list[str]:
        """Return the text lines for a setting, with the reason if the setting is wrong or if ``always`` is set."""
        indent = " " * _INDENT
        head = f"  {self._painted(outcome.status, f'{outcome.status:7}')}  "
        words = f"{outcome.name}: {outcome.found}" if not always else f"{outcome.name} {outcome.found}"
        bad = outcome.status != "ok"
        if bad and outcome.wanted:
            words += f", wanted: {outcome.wanted}"
        lines = self._wrapped(head, words, indent, skip=_INDENT)
        if bad or self._verbose or always:
            source = f" ({outcome.source})" if self._verbose or always else ""
            lines += self._wrapped(indent, f"{outcome.why}{source}", indent)
        return lines + [self._fix(fix, indent) for fix in outcome.fix]

    def verdict(self, found: Diagnosis) -> str:
        """Return only the last line, the verdict."""
        return self._verdict(found) + "\n"

    def _verdict(self, found: Diagnosis) -> str:
        return self._painted("ok" if found.verdict.status == "ok" else "fail", found.verdict.summary)

    def _outcome(self, outcome: CheckOutcome, name: int) -> list[str]:
        head = f"  {self._painted(outcome.status, f'{outcome.status:7}')}  {outcome.check:{name}}  "
        plain = _INDENT + name + 2
        lines = self._wrapped(head, outcome.found, " " * plain, skip=plain)
        bad = outcome.status in {"warn", "fail"}
        if outcome.why and (bad or self._verbose):
            source = f" ({outcome.source})" if outcome.source and self._verbose else ""
            lines += self._wrapped(" " * plain, f"{outcome.why}{source}", " " * plain)
        # Do not wrap the commands, because users copy them.
        return lines + [self._fix(fix, " " * plain) for fix in outcome.fix]

    @staticmethod
    def _fix(fix: str, indent: str) -> str:
        return f"{indent}{'$ ' if _is_command(fix) else ''}{one_line(fix)}"

    def _wrapped(self, first: str, text: str, rest: str, skip: int | None = None) -> list[str]:
        """Wrap text after a prefix that is ``skip`` columns wide; colour codes in the prefix take no columns."""
        room = self._width - (len(first) if skip is None else skip)
        parts = textwrap.wrap(one_line(text), max(20, room), break_on_hyphens=False) or [""]
        return [first + parts[0], *(rest + part for part in parts[1:])]

    def _painted(self, status: str, text: str) -> str:
        return painted(text, _COLOUR[status], colour=self._colour)


def _gpus(found: Diagnosis) -> str:
    if not found.gpus:
        return "no AMD GPU that can be used" + ("; GPUs of a report" if found.reported else "")
    counts = {name: found.gpus.count(name) for name in found.gpus}
    return ", ".join(one_line(f"{count} x {name}" if count > 1 else name) for name, count in counts.items())


def _is_command(fix: str) -> bool:
    return fix.split(" ", 1)[0] in {"sudo", "pip", "python", "echo", "unset", "export", "df"}
