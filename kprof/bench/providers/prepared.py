"""Shared parts of providers: preparation of inputs before the timing, and the error for a missing library."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any

from kprof.kernel_spec import Shape

Values = Mapping[str, Any]


@dataclass(frozen=True)
class Prepared:
    """A provider in two steps, of which only the second is timed.

    Attributes:
        prepare: ``prepare(inputs, shape) -> values``: converts layouts, masks and weights to the library's form, in
            which an application would keep them. It copies tensors that ``run`` overwrites.
        run: ``run(values, shape) -> outputs``.
    """

    prepare: Callable[[Values, Shape], Values]
    run: Callable[[Values, Shape], Values]

    def __call__(self, inputs: Values, shape: Shape) -> Values:
        """Prepare the inputs, then run the implementation."""
        return self.run(self.prepare(inputs, shape), shape)


class NotInstalled(Exception):  # noqa: N818 - says what it is
    """The provider needs a package that is not installed."""


def need(package: str, what: str) -> None:
    """Raise an error if a package is missing, without importing it.

    Raises:
        NotInstalled: the package is missing.
    """
    if find_spec(package) is None:
        raise NotInstalled(f"{what} needs the package {package!r}, which is not installed")
