"""Describe a launch made by code that TorchInductor generated. Imports only the standard library."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class GeneratedLaunch:
    """A launch by code that TorchInductor generated; it can be repeated with another configuration.

    Attributes:
        launch: repeats the launch with changed compile-time values.
        configs: returns the largest list of configurations that the generator itself would try, complete with options.
        kind: kind of the generated kernel: ``pointwise``, ``reduction`` or ``persistent_reduction``.
    """

    launch: Callable[[Mapping[str, Any]], None]
    configs: Callable[[], list[dict[str, Any]]]
    kind: str
