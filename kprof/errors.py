"""What kprof raises: the command line turns it into a message and exit code 2. And words for mistyped names."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

LONGEST_NAME = 200
"""Characters of a name that is compared with others: comparing pages of text takes seconds."""


@dataclass
class KprofError(Exception):
    """Something kprof cannot go on with, in words for the user.

    Raised for what a user can get wrong or meet: missing, unreadable, cut off or foreign input, an unknown
    name, a tool that is not installed. A programming error is never wrapped in it.

    Attributes:
        message: one sentence, no traceback vocabulary, no trailing full stop.
        path: the file or directory concerned, as the user gave it.
        place: where in the file, for example ``line 12`` or ``byte 4096``.
        hint: what to do about it, one sentence.
    """

    message: str
    path: str | None = None
    place: str | None = None
    hint: str | None = None

    def __str__(self) -> str:
        """``path:place: message (hint)``, leaving out what is not known."""
        where = ", ".join(part for part in (self.path, self.place) if part)
        text = f"{where}: {self.message}" if where else self.message
        return f"{text}\n  {self.hint}" if self.hint else text


class TargetError(KprofError):
    """What is to be analysed is not there, is not of a known kind, or lacks something: its launch, a case, a knob."""


@dataclass
class UnknownLaunchError(TargetError):
    """A Triton function of which nothing says how it is launched.

    Attributes:
        program: the file of the function, where it launches Triton functions when it is run; else empty.
        arguments: names of the arguments without a type.
        constexprs: names of compile-time arguments without a value.
    """

    program: str = ""
    arguments: Sequence[str] = ()
    constexprs: Sequence[str] = ()


class CompileError(KprofError):
    """The kernel does not compile, or the compiler that it takes is missing."""


class NotCompiledInTimeError(CompileError):
    """A configuration was not compiled before the recording or the budget ended; nothing is wrong with it."""


class InputError(KprofError):
    """A file that is read cannot be: it is missing, cut off, damaged, or something else than it should be."""


class HardwareError(KprofError):
    """An architecture or a product that is not known, or a GPU that is not there."""


def near(word: str, known: Iterable[str]) -> str:
    """``"; did you mean 'x' or 'y'?"`` for a mistyped word, or nothing."""
    if len(word) > LONGEST_NAME:
        return ""
    # Only a mistake pays for the import.
    from difflib import get_close_matches

    names = list(known)
    # N for n is the commonest slip where sizes are arguments; case counts for the order alone.
    other_case = [name for name in names if name.casefold() == word.casefold()]
    close = get_close_matches(word, names, n=3, cutoff=0.5)
    matches = list(dict.fromkeys([*other_case, *close]))[:3]
    return f"; did you mean {' or '.join(repr(match) for match in matches)}?" if matches else ""


def near_hint(word: str, known: Iterable[str], otherwise: str) -> str:
    """The same as a sentence of its own, or ``otherwise`` with the whole list."""
    names = list(known)
    return near(word, names).removeprefix("; ") or f"{otherwise} {', '.join(names)}"
