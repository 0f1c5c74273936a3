"""What a formula of counters may hold, computed for the values of many kernels at once."""

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
    """A formula.

    Raises:
        KprofError: it holds more than numbers, names, ``+ - * /``, ``min`` and ``max``.
    """
    return expressions.parse(text, "the formula", _FORMULAS)


def evaluate(formula: "Expression[Column]", values: "Mapping[str, Column]") -> "Column":
    """The formula's values, one for each kernel; not a number where something is divided by zero.

    Raises:
        KprofError: a name has no value.
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
