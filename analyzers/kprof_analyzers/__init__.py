"""kprof's own analyzers: they judge what :mod:`kprof` has read."""

from collections.abc import Iterable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from kprof.analysis import Analyzer


def analyzers() -> "Iterable[Analyzer]":
    """The built-in analyzers: every rule below ``rules/``."""
    from kprof_analyzers.rules import rules

    return rules()
