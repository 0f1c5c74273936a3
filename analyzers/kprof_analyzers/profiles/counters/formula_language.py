"""Define the language of counter formulas, which are evaluated for many kernels at once."""

import ast
import operator
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from kprof import expressions
from kprof.expressions import Expression, Language

if TYPE_CHECKING:
    from collections.abc import Mapping

    import numpy as np
    import numpy.typing as npt

    Column = npt.NDArray[np.float64] | np.float64


@lru_cache(maxsize=4096)
def parse(text: str) -> "Expression[Column]":
    """Parse a formula.

    Raises:
        KprofError: if it contains more than numbers, names, ``+ - * /``, ``min`` and ``max``.
    """
    return expressions.parse(text, "the formula", _FORMULAS)


def evaluate(formula: "Expression[Column]", values: "Mapping[str, Column]") -> "Column":
    """Return the formula's value for each kernel; NaN for a division by zero.

    Raises:
        KprofError: if a name has no value.
    """
    import numpy as np

    with np.errstate(all="ignore"):
        return formula.value(values)


def _number(value: Any) -> "Column":
    import numpy as np

    number: Column = np.float64(value)
    return number


def _divide(left: "Column", right: "Column") -> "Column":
    import numpy as np

    return np.where(np.equal(right, 0), np.nan, np.divide(left, right))


def _least(left: "Column", *others: "Column") -> "Column":
    import numpy as np

    for other in others:
        left = np.minimum(left, other)
    return left


def _most(left: "Column", *others: "Column") -> "Column":
    import numpy as np

    for other in others:
        left = np.maximum(left, other)
    return left


_FORMULAS: "Language[Column]" = Language(
    literals=(int, float),
    constant=_number,
    binary={ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.Div: _divide},
    functions={"min": _least, "max": _most},
    summary="numbers, names, + - * /, min and max",
    example="100 * TCC_HIT_sum / TCC_REQ_sum",
)
