"""Write the fixes of an examination as a shell script. The script is never run."""

from kprof.doctor.document import CheckOutcome, Diagnosis, SettingOutcome
from kprof.output.sink import one_line

# Commands that can be undone and whose effect ends with the shell or at the next boot. Other commands are written as
# comments.
_SAFE = ("export ", "unset ", "sudo sysctl ", "sudo cpupower ", "sudo setpci ", "sudo modprobe ")
_HEAD = """\
# What kprof doctor would change{about}. Read it first.
# Variables apply to the shell that sources it: kprof doctor --fix > fix.sh; . ./fix.sh
# Permanent changes, installations and changes that need a reboot are comments."""


def script(found: Diagnosis) -> str:
    """Return a POSIX shell script: variables, ``sysctl`` and sysfs files as commands, everything else as comments."""
    about = f" for {found.workload}" if found.workload else ""
    lines = [_HEAD.format(about=about)]
    done: set[str] = set()
    outcomes: list[CheckOutcome | SettingOutcome] = [*found.checks, *found.settings]
    for outcome in outcomes:
        fixes = [fix for fix in outcome.fix if fix not in done]
        if outcome.status not in {"warn", "fail"} or not fixes:
            continue
        done |= set(fixes)
        lines += ["", f"# {_name(outcome)}: {one_line(outcome.found)}. {one_line(outcome.why)}"]
        lines += [_line(fix) for fix in fixes]
    if not done:
        lines += ["", "# Nothing to change."]
    return "\n".join(lines) + "\n"


def _name(outcome: CheckOutcome | SettingOutcome) -> str:
    return outcome.name if isinstance(outcome, SettingOutcome) else outcome.check


def _line(fix: str) -> str:
    """Return a fix as a command, or as a comment if it is not a command or has a permanent effect."""
    text = one_line(fix)
    written = text.startswith("echo ") and " | sudo tee /sys/" in text
    placeholder = "/path/to/" in text
    return text if (text.startswith(_SAFE) or written) and not placeholder else f"#   {text}"
