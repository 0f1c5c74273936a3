"""Detect which knobs a function reads, by watching it: a knob that is not read cannot affect the result.

With eleven knobs a space has a million combinations, but a kernel's ``legal`` reads only five of them. Calling it for
each combination of those five is enough to count the legal configurations.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from math import prod
from typing import Any

from kprof.errors import KprofError

MOST_QUESTIONS = 150_000
"""Maximum number of combinations of decisive knobs; calling a function for more takes too long."""


class Watched(Mapping[str, Any]):
    """A configuration that records which of its knobs are read."""

    def __init__(self, values: Mapping[str, Any]) -> None:
        self._values = values
        self.seen: set[str] = set()

    def __getitem__(self, name: str) -> Any:
        self.seen.add(name)
        return self._values[name]

    def __iter__(self) -> Iterator[str]:
        self.seen.update(self._values)
        return iter(self._values)

    def __len__(self) -> int:
        self.seen.update(self._values)
        return len(self._values)

    def __contains__(self, name: object) -> bool:
        if isinstance(name, str):
            self.seen.add(name)
        return name in self._values


Question = Callable[[Mapping[str, Any]], str | None]


def decisive(question: Question, knobs: Mapping[str, tuple[Any, ...]], base: Mapping[str, Any]) -> set[str]:
    """Return the knobs that a function's result depends on.

    The result for a combination of these knobs is valid for every combination of the others.

    Args:
        question: a deterministic function of a configuration.
        knobs: values by knob name.
        base: values of everything else in a configuration.

    Raises:
        KprofError: if the result depends on too many knobs.
    """
    known: set[str] = set()
    while True:
        fresh = _unknown(question, knobs, base, known)
        if fresh is None:
            return known
        known |= fresh
        check_questions(knobs, known)


def check_questions(knobs: Mapping[str, tuple[Any, ...]], deciding: Iterable[str]) -> None:
    """Check that the decisive knobs do not have too many combinations.

    Raises:
        KprofError: if there are more than :data:`MOST_QUESTIONS`.
    """
    names = sorted(set(deciding))
    asked = prod(len(knobs[name]) for name in names)
    if asked > MOST_QUESTIONS:
        raise KprofError(
            f"the configurations to compile depend on {len(names)} knobs with {asked:,} combinations, "
            f"more than the {MOST_QUESTIONS:,} that can be checked",
            hint=f"fix some of them with --config: {', '.join(names)}",
        )


def _unknown(
    question: Question, knobs: Mapping[str, tuple[Any, ...]], base: Mapping[str, Any], known: set[str]
) -> set[str] | None:
    """Return further knobs that the function reads for some combination of the known ones, or ``None``."""
    from itertools import product

    others = {name: values[0] for name, values in knobs.items() if name not in known}
    names = [name for name in knobs if name in known]
    for values in product(*(knobs[name] for name in names)):
        config = Watched({**base, **others, **dict(zip(names, values, strict=True))})
        question(config)
        if fresh := {name for name in config.seen if name in knobs} - known:
            return fresh
    return None
