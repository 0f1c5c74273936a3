"""Exceptions of kprof, which the command line turns into a message and exit code 2, and hints for mistyped names."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

LONGEST_NAME = 200
"""Maximum length of a name that is compared with known names, because comparing longer texts takes seconds."""


@dataclass
class KprofError(Exception):
    """An error that kprof cannot recover from, described for the user.

    Raised for mistakes and conditions that users meet: missing, unreadable, truncated or foreign input, an unknown
    name, a tool that is not installed. A programming error is never wrapped in this class.

    Attributes:
        message: one sentence without Python jargon and without a final full stop.
        path: the file or directory concerned, as the user wrote it.
        place: position in the file, for example ``line 12`` or ``byte 4096``.
        hint: what to do about the error, one sentence.
    """

    message: str
    path: str | None = None
    place: str | None = None
    hint: str | None = None

    def __str__(self) -> str:
        """Return the message with its place before it, and the hint on a second line: ``path:place: message``."""
        where = ", ".join(part for part in (self.path, self.place) if part)
        text = f"{where}: {self.message}" if where else self.message
        return f"{text}\n  {self.hint}" if self.hint else text


class TargetError(KprofError):
    """The target is missing, is of an unknown kind, or lacks something that it needs: a launch, a case, a knob."""


@dataclass
class UnknownLaunchError(TargetError):
    """A Triton function without any information about its launch.

    Attributes:
        program: file of the function if it launches Triton functions when it is run; else "".
        arguments: names of the arguments without a type.
        constexprs: names of compile-time arguments without a value.
    """

    program: str = ""
    arguments: Sequence[str] = ()
    constexprs: Sequence[str] = ()


class CompileError(KprofError):
    """The kernel does not compile, or the required compiler is missing."""


class NotCompiledInTimeError(CompileError):
    """A configuration was not compiled before the recording or the time budget ended; nothing is wrong with it."""


class InputError(KprofError):
    """An input file cannot be read: it is missing, truncated, damaged, or of another kind than expected."""


class HardwareError(KprofError):
    """An unknown architecture or product, or a GPU that is not present."""


def near(word: str, known: Iterable[str]) -> str:
    """Return similar names as the end of a message, ``"; did you mean 'x' or 'y'?"``, or "" if there are none."""
    if len(word) > LONGEST_NAME:
        return ""
    # Only a mistyped name needs difflib, so import it on use.
    from difflib import get_close_matches

    names = list(known)
    # Matches that differ only in case come first: N instead of n is the most common slip for sizes.
    other_case = [name for name in names if name.casefold() == word.casefold()]
    close = get_close_matches(word, names, n=3, cutoff=0.5)
    matches = list(dict.fromkeys([*other_case, *close]))[:3]
    return f"; did you mean {' or '.join(repr(match) for match in matches)}?" if matches else ""


def near_hint(word: str, known: Iterable[str], otherwise: str) -> str:
    """Return the suggestions of :func:`near` as a sentence, or ``otherwise`` followed by all known names."""
    names = list(known)
    return near(word, names).removeprefix("; ") or f"{otherwise} {', '.join(names)}"
