"""Providers that want their inputs in another form: it is made before anything is timed."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
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
