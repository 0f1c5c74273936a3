"""Triton releases that a page offers: the installed one, and releases that ``kprof diff --triton`` downloaded."""

from collections.abc import Callable
from contextlib import ExitStack
from typing import TYPE_CHECKING

from kprof.api.live.session import Session
from kprof.errors import KprofError

if TYPE_CHECKING:
    from typing_extensions import Self


class TritonSessions:
    """One session per Triton release, started by its first query; releases are never downloaded.

    Args:
        begin: function that creates the session of a release; ``""`` is the installed one.

    Attributes:
        versions: available releases besides the installed one, oldest first.
    """

    def __init__(self, begin: Callable[[str], Session]) -> None:
        self._begin, self._stack = begin, ExitStack()
        self._sessions: dict[str, Session] = {}
        self.versions = _known_releases()

    def __enter__(self) -> "Self":
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    def session(self, version: str) -> Session:
        """Return the session of a release, ``""`` for the installed one.

        Raises:
            KprofError: the release is not available.
        """
        if version and version not in self.versions:
            there = ", ".join(self.versions) or "none but the installed one"
            hint = f"Available: {there}. kprof diff TARGET --triton {version} downloads it."
            raise KprofError(f"Triton {version} is not installed", hint=hint)
        if version not in self._sessions:
            self._sessions[version] = self._stack.enter_context(self._begin(version))
        return self._sessions[version]


def _known_releases() -> list[str]:
    from kprof.compiler.installations import known, provide

    try:
        # provide() returns no folder for the installed release, so a downloaded copy of this release is skipped.
        # The page offers it as "installed".
        return [version for version in known() if provide(version).folder is not None]
    except KprofError:
        # There is no home folder, so no release can have been downloaded.
        return []
