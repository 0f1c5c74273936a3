"""The search space: knobs with their values, or a list of complete configurations.

The first available source is used: a file (``--space``, see :mod:`kprof.tuning.space_file`), the kernel file's own
``space``, the configurations of the kernel's ``@triton.autotune``, the ``configs`` of the kernel file.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import product
from math import prod
from typing import TYPE_CHECKING, Any

from kprof.errors import KprofError, near
from kprof.expressions import Expression
from kprof.kernel_spec import BACKEND_OPTIONS
from kprof.output.assignments import assigned

if TYPE_CHECKING:
    from kprof.kernel_spec import Kernel

MOST_COMBINATIONS = 4_000_000
"""Maximum number of combinations in a space: far more than a search can compile."""


@dataclass(frozen=True)
class Space:
    """The configurations of a search.

    Attributes:
        origin: source of the space, in words.
        knobs: values by knob name, in the order given; empty if ``listed`` is used.
        listed: complete configurations instead of knobs.
        constraints: comparisons that have to be true.
        notes: exclusions that the user should know about.
    """

    origin: str
    knobs: Mapping[str, tuple[Any, ...]] = field(default_factory=dict)
    listed: tuple[Mapping[str, Any], ...] = ()
    constraints: tuple[Expression[Any], ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def size(self) -> int:
        """Number of combinations, legal or not."""
        return len(self.listed) if self.listed else prod(len(v) for v in self.knobs.values())

    def fixed(self, config: Mapping[str, Any]) -> "Space":
        """Return the space with some knobs fixed to one value.

        Raises:
            KprofError: if no listed configuration has these values.
        """
        if not config:
            return self
        if not self.listed:
            return replace(self, knobs={**self.knobs, **{name: (value,) for name, value in config.items()}})
        kept = tuple(c for c in self.listed if all(c.get(n, v) == v for n, v in config.items()))
        if not kept:
            said = assigned(config, ", ")
            raise KprofError(f"none of the {len(self.listed)} configurations of {self.origin} has {said}")
        return replace(self, listed=tuple({**c, **config} for c in kept))

    def names(self) -> tuple[str, ...]:
        """Return the names of all knobs in the space."""
        found = dict.fromkeys(self.knobs)
        for config in self.listed:
            found.update(dict.fromkeys(config))
        return tuple(found)

    def over(self, names: Sequence[str]) -> Iterator[dict[str, Any]]:
        """Yield every combination of the named knobs."""
        chosen = [name for name in self.knobs if name in names]
        for values in product(*(self.knobs[name] for name in chosen)):
            yield dict(zip(chosen, values, strict=True))


def check_kinds(space: Space, own: Mapping[str, Any]) -> None:
    """Check that integer knobs have only integer values.

    Args:
        space: the search space to check.
        own: the kernel's own knobs.

    Raises:
        KprofError: if an integer knob has another value.
    """
    pairs = [(name, value) for name, values in space.knobs.items() for value in values]
    pairs += [pair for config in space.listed for pair in config.items()]
    for name, value in pairs:
        like = own.get(name, 1 if name in {"num_warps", "num_stages"} else None)
        if isinstance(like, int) and not isinstance(like, bool) and not isinstance(value, int):
            raise KprofError(f"{space.origin}: {name} takes whole numbers, not {value!r}")


def check(space: Space, known: set[str], sizes: Mapping[str, Any]) -> Space:
    """Return the space unchanged if a search can use it.

    Args:
        space: the search space to check.
        known: knobs of the kernel; empty if unknown.
        sizes: problem parameters, which constraints may use, too.

    Raises:
        KprofError: if the space is empty, has an unknown knob or more combinations than :data:`MOST_COMBINATIONS`, or a
            constraint uses an unknown name.
    """
    for name in space.names():
        if known and name not in known:
            mine = ", ".join(sorted(known - BACKEND_OPTIONS))
            hint = f"its knobs are {mine} and the compiler's options"
            raise KprofError(
                f"{space.origin} sets {name!r}, which the kernel does not have{near(name, known)}", hint=hint
            )
    empty = [name for name, values in space.knobs.items() if not values]
    if empty or not space.size or not space.names():
        what = f"{empty[0]} has no values" if empty else "there is nothing to choose from"
        raise KprofError(f"{space.origin} is empty: {what}")
    if space.size > MOST_COMBINATIONS:
        widest = sorted(space.knobs.items(), key=lambda item: -len(item[1]))[:3]
        said = ", ".join(f"{name} has {len(values)} values" for name, values in widest)
        raise KprofError(
            f"{space.origin} has {space.size:,} combinations, at most {MOST_COMBINATIONS:,} can be searched",
            hint=f"fix knobs with --config NAME=VALUE, or give fewer values: {said}",
        )
    names = {*space.names(), *known, *sizes}
    for constraint in space.constraints:
        for name in constraint.names - names:
            raise KprofError(f"the constraint {constraint.text!r} names {name!r}, which is neither knob nor size"
                             f"{near(name, names)}")  # fmt: skip
    return space


def of_kernel(kernel: "Kernel") -> Space:
    """Return the space of a kernel file or its ``@triton.autotune``.

    Raises:
        KprofError: if there is none.
    """
    from kprof.importing.functions import unwrap

    if kernel.space:
        return Space("the kernel's own space", {name: tuple(values) for name, values in kernel.space.items()})
    function = unwrap(kernel.entry)
    if function is not None and function.configs:
        notes = []
        if pruned_by(kernel.entry):
            notes.append("prune_configs_by of @triton.autotune is not called: every configuration is searched")
        return Space("@triton.autotune", listed=_distinct(function.configs), notes=tuple(notes))
    if kernel.configs:
        return Space("the kernel's listed configurations", listed=_distinct(kernel.configs))
    raise KprofError(
        f"{kernel.name} has no search space",
        hint="give --space FILE with knobs and their values, @triton.autotune configurations, or a space in its KERNEL",
    )


def pruned_by(entry: Any) -> bool:
    """Whether an autotuner around a function prunes its configurations itself."""
    for _ in range(8):
        if getattr(entry, "early_config_prune", None) or getattr(entry, "perf_model", None):
            return True
        entry = getattr(entry, "fn", None)
    return False


def _distinct(configs: Sequence[Mapping[str, Any]]) -> tuple[Mapping[str, Any], ...]:
    found: dict[str, Mapping[str, Any]] = {}
    for config in configs:
        found.setdefault(repr(sorted(config.items())), dict(config))
    return tuple(found.values())


def supported(space: Space, fixed: Mapping[str, Any]) -> Space:
    """Return the space without options that the installed Triton does not have; a note names them.

    Raises:
        KprofError: if the user requested one of them.
    """
    from kprof.compiler import versions

    known = versions.option_defaults(versions.api().hip_options)
    missing = [n for n in space.names() if n in BACKEND_OPTIONS and n not in known]
    if not missing:
        return space
    release = f"Triton {versions.installed().version}"
    for name in missing:
        if name in fixed:
            raise KprofError(f"{release} has no option {name!r}")
    return replace(
        space,
        knobs={n: v for n, v in space.knobs.items() if n not in missing},
        listed=tuple({n: v for n, v in c.items() if n not in missing} for c in space.listed),
        notes=(*space.notes, f"{release} has no option {', '.join(missing)}: left out"),
    )
