"""Launches that generated code makes. Standard library only."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class GeneratedLaunch:
    """A launch by generated code, which can be made again with another configuration.

    Attributes:
        launch: makes it, with these compile-time values changed.
        configs: configurations that the generator itself would try at most, complete with options.
        kind: of the generated kernel: ``pointwise``, ``reduction`` or ``persistent_reduction``.
    """

    launch: Callable[[Mapping[str, Any]], None]
    configs: Callable[[], list[dict[str, Any]]]
    kind: str
