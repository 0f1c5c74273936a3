"""Profile a model with many layers by running it with two smaller numbers of layers."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from kprof.condition import CONDITIONS
from kprof.errors import KprofError

if TYPE_CHECKING:
    from kprof_analyzers.whole_step.document import ProfileDocument
    from kprof_analyzers.whole_step.timing import StepCall

PLACE = "{layers}"
"""Placeholder for the number of layers in a program's arguments."""

_NAMED = 8


@dataclass(frozen=True)
class Layers:
    """Layer counts of the two runs and of the model.

    Attributes:
        few, more: layer counts of the two runs.
        wanted: layer count of the model.
    """

    few: int
    more: int
    wanted: int

    @property
    def steps(self) -> int:
        """Number of times that the difference between the two runs is added to the first run."""
        return (self.wanted - self.few) // (self.more - self.few)


def layers_of(text: str) -> Layers:
    """Parse ``--layers``: ``32`` means runs with 1 and 2 layers, ``4,8,32`` runs with 4 and 8.

    Raises:
        KprofError: the text is invalid, or the model's number cannot be reached in whole steps.
    """
    words = [word.strip() for word in text.split(",")]
    if not all(word.isdecimal() for word in words) or len(words) not in {1, 3}:
        raise KprofError(f"invalid --layers {text!r}: expected N or FEW,MORE,N", hint="for example 32 or 4,8,32")
    few, more, wanted = (1, 2, int(words[0])) if len(words) == 1 else map(int, words)
    if not 0 < few < more <= wanted:
        raise KprofError(f"invalid --layers {text!r}: FEW < MORE <= N is required, with FEW at least 1")
    if (wanted - few) % (more - few):
        raise KprofError(f"--layers: {wanted} cannot be reached from {few} in steps of {more - few}")
    return Layers(few, more, wanted)


@dataclass(frozen=True)
class OneRun:
    """Profile of a program for one number of layers, run or extrapolated.

    Attributes:
        document: document of the profile.
        calls: all launches and operator calls, in order.
        pages: file names of the pages of Triton kernels.
    """

    document: "ProfileDocument"
    calls: "Sequence[StepCall]"
    pages: Mapping[str, str]


def scaled(program: Sequence[str], layers: Layers, by: str, one: Callable[[list[str]], OneRun]) -> OneRun:
    """Profile a program with ``few`` and with ``more`` layers, and extrapolate linearly to the model's layer count.

    Args:
        program: command of the program, with :data:`PLACE` in an argument.
        layers: the layer counts.
        by: how calls are grouped into rows.
        one: function that profiles a command.

    Raises:
        KprofError: no argument contains :data:`PLACE`.
    """
    if not any(PLACE in word for word in program):
        raise KprofError(
            f"no argument of the program contains {PLACE}",
            hint=f"kprof profile --layers {layers.wanted} -- python step.py {PLACE}",
        )
    few, more = (one([word.replace(PLACE, str(n)) for word in program]) for n in (layers.few, layers.more))
    return _continued(few, more, layers, by, list(program))


def _continued(few: OneRun, more: OneRun, layers: Layers, by: str, program: list[str]) -> OneRun:
    from msgspec.structs import replace

    from kprof.hardware.machine import find_product
    from kprof_analyzers.whole_step.changes import changes_of
    from kprof_analyzers.whole_step.layers import continued
    from kprof_analyzers.whole_step.table import rows_of, sums_of
    from kprof_analyzers.whole_step.timing import condition_time

    found = continued(few.calls, more.calls, layers.steps)
    notes = [
        *more.document.notes,
        f"each layer beyond {layers.few} is assumed to add the same as those up to {layers.more}",
    ]
    if found.shrunk:
        which = (
            f"smaller with {layers.more} layers than with {layers.few}, so the value with {layers.more} layers is used"
        )
        notes.append(f"{which}: {_listed(found.shrunk)}")
    if found.stretched and "shapes" in by:
        notes.append(
            f"shown with the sizes of {layers.more} layers and the time of {layers.wanted}: {_listed(found.stretched)}"
        )
    peaks = few.document.peak_bytes, more.document.peak_bytes
    sums = sums_of(found.calls)
    product = find_product(more.document.gpu)
    assert product is not None
    added = condition_time(CONDITIONS[more.document.condition], product, found.calls)
    document = replace(
        more.document,
        program=program,
        rows=rows_of(found.calls, by),
        us=sums.us + added.us,
        low_us=sums.low_us + added.low_us,
        high_us=sums.high_us + added.us,
        added_us=added.us,
        triton_us=sums.triton_us,
        calls=len(found.calls),
        unknown_calls=sums.unknown_calls,
        unknown=sums.unknown,
        unknown_kernel_calls=sums.unknown_kernel_calls,
        unknown_kernels=sums.unknown_kernels,
        changes=changes_of(found.calls, product),
        notes=notes,
        peak_bytes=None if None in peaks else _extrapolated(peaks[0] or 0, peaks[1] or 0, layers.steps),
        layers=[layers.few, layers.more, layers.wanted],
    )
    return OneRun(document, found.calls, more.pages)


def _extrapolated(few: int, more: int, steps: int) -> int:
    return few + (more - few) * steps


def _listed(names: Sequence[str]) -> str:
    left = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
    return f"{', '.join(names[:_NAMED])}{left}"
