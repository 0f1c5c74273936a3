"""A shell script of what an examination says should be changed. It is only written, never run."""

from kprof.doctor.document import CheckOutcome, Diagnosis, SettingOutcome
from kprof.output.sink import one_line

# What changes this boot or this shell alone, and can be taken back. The rest stands in comments.
_SAFE = ("export ", "unset ", "sudo sysctl ", "sudo cpupower ", "sudo setpci ", "sudo modprobe ")
_HEAD = """\
# What kprof doctor would change{about}. Read it first.
# Variables hold for the shell that reads it: kprof doctor --fix > fix.sh; . ./fix.sh
# What lasts, installs something or needs a reboot stands in comments."""


def script(found: Diagnosis) -> str:
    """POSIX shell: variables, ``sysctl`` and files of the kernel as commands, everything else as comments."""
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
    """A command, or a comment for what is no command or lasts."""
    text = one_line(fix)
    written = text.startswith("echo ") and " | sudo tee /sys/" in text
    placeholder = "/path/to/" in text
    return text if (text.startswith(_SAFE) or written) and not placeholder else f"#   {text}"
