"""What providers share: inputs in another form, made before anything is timed, and the error of a missing library."""

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
        prepare: ``prepare(inputs, shape) -> values``: layouts, masks and weights as the library wants them, as an
            application would keep them. It copies what ``run`` overwrites.
        run: ``run(values, shape) -> outputs``.
    """

    prepare: Callable[[Values, Shape], Values]
    run: Callable[[Values, Shape], Values]

    def __call__(self, inputs: Values, shape: Shape) -> Values:
        """Both steps."""
        return self.run(self.prepare(inputs, shape), shape)


class NotInstalled(Exception):  # noqa: N818 - says what it is
    """The provider needs a package that is not there."""


def need(package: str, what: str) -> None:
    """Say that a package is missing, without importing it.

    Raises:
        NotInstalled: it is.
    """
    if find_spec(package) is None:
        raise NotInstalled(f"{what} needs the package {package!r}, which is not installed")
