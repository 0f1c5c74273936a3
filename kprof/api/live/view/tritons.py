"""The Tritons that a page can choose between: the installed one, and those that ``kprof diff --triton`` keeps."""

from collections.abc import Callable
from contextlib import ExitStack
from typing import TYPE_CHECKING

from kprof.api.live.session import Session
from kprof.errors import KprofError

if TYPE_CHECKING:
    from typing_extensions import Self


class TritonSessions:
    """A session for each Triton, begun when it is first asked; none is ever got from the network.

    Args:
        begin: makes the session of a release; ``""`` is the installed one.

    Attributes:
        versions: releases that are there besides the installed one, the oldest first.
    """

    def __init__(self, begin: Callable[[str], Session]) -> None:
        self._begin, self._stack = begin, ExitStack()
        self._sessions: dict[str, Session] = {}
        self.versions = _known()

    def __enter__(self) -> "Self":
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    def session(self, version: str) -> Session:
        """The session of a release, ``""`` for the installed one.

        Raises:
            KprofError: it is not there.
        """
        if version and version not in self.versions:
            there = ", ".join(self.versions) or "none but the installed one"
            hint = f"There are: {there}. kprof diff TARGET --triton {version} gets it once."
            raise KprofError(f"Triton {version} is not there", hint=hint)
        if version not in self._sessions:
            self._sessions[version] = self._stack.enter_context(self._begin(version))
        return self._sessions[version]


def _known() -> list[str]:
    from kprof.compiler.installations import known, provide

    try:
        # The installed release may be kept, too: it is chosen as the installed one.
        return [version for version in known() if provide(version).folder is not None]
    except KprofError:
        # Without a home folder none can be kept.
        return []
