"""The one exception that the command line turns into a message and exit code 2."""

from dataclasses import dataclass


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
