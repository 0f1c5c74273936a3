"""Rule out configurations without compiling them, with a reason for each. Only facts count, not guesses.

There are three kinds of rules. :func:`legal_values` removes values of single knobs that an architecture does not
support. :func:`question` rejects combinations that the kernel's own ``legal``, a constraint of the space or the
problem's size rules out. :class:`LdsRule` rejects configurations that need too much LDS, once some compiled
configurations have shown how much LDS the kernel needs.
"""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from kprof.errors import KprofError
from kprof.expressions import Expression
from kprof.hardware.machine import Architecture
from kprof.kernel_spec import Kernel, Shape
from kprof.knobs import number, role_names
from kprof.tuning.watched_knobs import Question


@dataclass
class Pruned:
    """Number of combinations left out, by reason."""

    reasons: Counter[str] = field(default_factory=Counter)

    @property
    def total(self) -> int:
        """Total number of combinations left out."""
        return sum(self.reasons.values())


def legal_values(
    knobs: Mapping[str, tuple[Any, ...]], arch: Architecture, shape: Shape, pruned: Pruned
) -> dict[str, tuple[Any, ...]]:
    """Return the knobs with only those values that the architecture supports and the problem can use.

    Args:
        knobs: values by knob name.
        arch: architecture.
        shape: problem parameters.
        pruned: collects the number of combinations that are removed.
    """
    kept = dict(knobs)
    sizes = _sizes(knobs, shape)
    for name, values in knobs.items():
        reasons = {value: why for value in values if (why := _value_problem(name, value, values, arch)) is not None}
        if name in sizes:
            reasons.update(_too_large(name, values, sizes[name]))
        if not reasons:
            continue
        others = 1
        for other, remaining in kept.items():
            others *= len(remaining) if other != name else 1
        for why in reasons.values():
            pruned.reasons[why] += others
        kept[name] = tuple(value for value in values if value not in reasons)
    return kept


def value_problem(config: Mapping[str, Any], arch: Architecture) -> str | None:
    """Return why a complete configuration has a value that the architecture does not support, or ``None``."""
    for name, value in config.items():
        if (why := _value_problem(name, value, (value,), arch)) is not None:
            return why
    return None


def _value_problem(name: str, value: Any, values: Iterable[Any], arch: Architecture) -> str | None:
    if isinstance(value, bool) or not isinstance(value, int):
        return None
    if name == "num_warps":
        if value < 1 or value & (value - 1):
            return "num_warps is not a power of two"
        if value * arch.wavefront_size > arch.occupancy.max_workgroup_size:
            return f"the workgroup is over {arch.occupancy.max_workgroup_size:,} threads"
    elif name in {"matrix_instr_nonkdim", "kpack"}:
        return _matrix_problem(name, value, next(iter(values)), arch)
    elif name == "num_stages" and value < 0:
        return "num_stages is negative"
    return None


def _matrix_problem(name: str, value: int, first: int, arch: Architecture) -> str | None:
    known = arch.triton.kpack if name == "kpack" else arch.triton.matrix_instr_nonkdim
    if known is None or value in known:
        return None
    if not known:
        return f"{name} changes nothing on {arch.name}" if value != first else None
    if name == "matrix_instr_nonkdim":
        return f"there is no matrix instruction of size {value} x {value}"
    # Triton 3.4 rejects other values if only 1 is supported; newer versions treat them as 1.
    return f"kpack is 1 on {arch.name}" if known == (1,) else None


def _sizes(knobs: Iterable[str], shape: Shape) -> dict[str, int]:
    """Return the problem size (M, N or K of a matrix product) that each knob divides into tiles."""
    roles = role_names(knobs)
    return {
        roles[role]: size
        for role, parameter in (("m", "M"), ("n", "N"), ("k", "K"))
        if role in roles and isinstance(size := shape.get(parameter), int) and not isinstance(size, bool) and size > 0
    }


def _too_large(name: str, values: tuple[Any, ...], size: int) -> dict[Any, str]:
    """Return the values larger than the smallest value that covers the whole size, which only add padding."""
    whole = sorted(v for v in values if isinstance(v, int) and not isinstance(v, bool))
    enough = next((v for v in whole if v >= size), None)
    if enough is None:
        return {}
    return {v: f"{name} is larger than the problem, and a smaller value covers it" for v in whole if v > enough}


def question(kernel: Kernel, shape: Shape, arch: Architecture, constraints: tuple[Expression[Any], ...]) -> Question:
    """Return a function that returns why the kernel's ``legal`` or a constraint rejects a configuration, or ``None``.

    The returned function raises :class:`KprofError` if the kernel's ``legal`` fails.
    """

    def ask(config: Mapping[str, Any]) -> str | None:
        for constraint in constraints:
            names = {**shape, **{name: config[name] for name in constraint.names if name not in shape}}
            if not constraint.value(names):
                return f"the constraint {constraint.text}"
        if kernel.legal is None:
            return None
        try:
            return plain_reason(kernel.legal(shape, config, arch.name))
        except KprofError:
            raise
        except Exception as error:
            what = f"{type(error).__name__}: {error}"
            raise KprofError(
                f"legal of {kernel.name} fails: {what}", hint="it is called with every knob set"
            ) from error

    return ask


def plain_reason(reason: str | None) -> str | None:
    """Return a reason without its numbers, so equal reasons are counted together.

    Example: ``too much LDS: … bytes for … stages``.
    """
    if reason is None:
        return None
    words = [("…" if word[:1].isdigit() else word) for word in str(reason).split()]
    return "the kernel: " + " ".join(words)


class LdsRule:
    """Predicts excessive LDS from the LDS that compiled configurations needed.

    A pipelined matrix product keeps at least ``num_stages - 1`` tiles of both operands in LDS. This is verified for
    each kernel: nothing is ruled out before :data:`ENOUGH` configurations with two or more stages were compiled. The
    rule uses the smallest ratio of needed LDS to tile bytes, limited to 1.
    """

    ENOUGH = 3

    def __init__(self, arch: Architecture, element_bytes: int | None) -> None:
        self._limit = arch.lds.bytes_per_workgroup
        self._element = element_bytes
        self._least: float | None = None
        self._seen = 0

    def estimate(self, config: Mapping[str, Any]) -> int | None:
        """Return the bytes of the pipelined tiles, or ``None`` if they are unknown or nothing is pipelined."""
        roles = role_names(config)
        m, n, k = (number(config, roles.get(role)) for role in "mnk")
        stages = config.get("num_stages")
        if self._element is None or m is None or n is None or k is None or not isinstance(stages, int) or stages < 2:
            return None
        return (m + n) * k * self._element * (stages - 1)

    def learn(self, config: Mapping[str, Any], lds_bytes: int) -> None:
        """Record the LDS of a compiled configuration."""
        tiles = self.estimate(config)
        if tiles:
            ratio = lds_bytes / tiles
            self._least = ratio if self._least is None else min(self._least, ratio)
            self._seen += 1

    def problem(self, config: Mapping[str, Any]) -> str | None:
        """Return why a configuration exceeds the available LDS, or ``None`` if it may fit."""
        tiles = self.estimate(config)
        if tiles is None or self._least is None or self._seen < self.ENOUGH:
            return None
        return (
            "more LDS than available, judged by compiled configurations"
            if tiles * min(1.0, self._least) > self._limit
            else None
        )
