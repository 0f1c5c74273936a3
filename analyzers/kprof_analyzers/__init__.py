"""kprof's built-in analyzers: they judge the inputs that :mod:`kprof` has read."""

from collections.abc import Iterable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from kprof.analysis import Analyzer


def analyzers() -> "Iterable[Analyzer]":
    """Return the built-in analyzers: every rule below ``rules/``."""
    from kprof_analyzers.rules import rules

    return rules()
