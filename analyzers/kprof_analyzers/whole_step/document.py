"""Schema ``kprof.profile/1`` of the output of ``kprof profile``."""

import msgspec

from kprof.condition import WARM

SCHEMA = "kprof.profile/1"
UNSEARCHED = "only the program's own configurations are compared; to compare more, run: "
"""Beginning of the note that names the command which compares more configurations."""


class ProfiledRow(msgspec.Struct, frozen=True):
    """One row of the table: a group of calls. Times are predicted, in microseconds; ``None`` if unknown.

    Attributes:
        name: Triton kernel or operator.
        shapes: extents of an operator's tensors, or a kernel's grid; "" if the row's calls differ in them.
        kind: ``triton``, or the operator's kind: ``product``, ``elementwise``, ...; "" if unknown.
        phase: ``forward``, ``backward``, ``optimizer``, ``outside modules``; several are separated by commas.
        module: the ``torch.nn`` modules around the call, outermost first; "" if the row has calls of several modules.
        range: name that the program gives this part of the step; "" if the row has calls of several parts.
        calls: number of calls.
        place: file and line of the program with the most time; "" if unknown.
        places: number of lines of the program that make the row's calls.
        us: time of all calls.
        low_us, high_us: likely range of the time.
        limit_us: minimum time of all these calls at the GPU's peaks; ``None`` if it is unknown for one of them.
        share: the row's share of the sum of all rows with a known time.
        bound: limit that applies to most of the time.
        finding: the costliest finding of a Triton kernel, in words.
        why: reason why there is no time.
    """

    name: str
    shapes: str
    kind: str
    phase: str
    module: str
    range: str
    calls: int
    us: float | None
    low_us: float | None
    high_us: float | None
    share: float | None = None
    bound: str = ""
    finding: str = ""
    why: str = ""
    place: str = ""
    places: int = 0
    limit_us: float | None = None


class ProfileChange(msgspec.Struct, frozen=True):
    """A change that is predicted to save time.

    Attributes:
        what: description of the change.
        us: predicted saving in microseconds; an upper bound if ``at_most`` is true.
        share: share of the step that it saves.
        calls: number of calls that the change affects.
        at_most: whether the saving is an upper bound and likely to be smaller.
        sure: basis of the predicted saving, as a phrase.
        now_us: current microseconds of these calls; 0 if not given.
    """

    what: str
    us: float
    share: float
    calls: int
    at_most: bool
    sure: str = ""
    now_us: float = 0.0


class ProfileDocument(msgspec.Struct, frozen=True):
    """Predicted GPU time of a program on a GPU that the program did not run on. No time is measured.

    Attributes:
        gpu: name of the product.
        program: command line of the program, if known.
        rows: rows by decreasing time, then rows without a time.
        us, low_us, high_us: sum of all known times, and its likely range; errors of calls that are limited by the same
            resource add up, others are independent.
        triton_us: time of Triton kernels.
        calls: number of launches and operators.
        unknown_calls: number of calls without a time.
        unknown: names of calls without a time, most calls first.
        unknown_kernel_calls: launches of Triton kernels without a time; if there are any, ``us`` is a lower bound.
        unknown_kernels: names of Triton kernels without a time, most launches first.
        unwritten: places where the program read values that no kernel wrote, such as ``nonzero at step.py:12``. Work
            whose size or order depends on these values is not in the time.
        changes: changes with the largest predicted savings.
        notes: assumptions, and work that the times do not include.
        peak_bytes: maximum memory that one process of the program has in use according to torch's allocator, including
            set-up; absent if it was not recorded.
        memory_bytes: memory of the GPU; absent if unknown.
        layers: if the model was run with fewer layers than it has: numbers of layers of the first run, the second run
            and the model; otherwise empty.
        condition: timing condition that is predicted: ``warm``, ``flushed``, ``flushed-dirty`` or ``graph``.
        added_us: part of ``us`` that the timing condition adds to the whole program: events, and flushing the caches.
        clock_mhz: mean engine clock while the program runs, if nobody holds it; absent if no clocks of programs on this
            GPU are published.
        tritons: releases of Triton that compiled its kernels.
        other_gpus: the same program on other GPUs, run and compiled for each.
    """

    schema: str
    gpu: str
    program: list[str]
    rows: list[ProfiledRow]
    us: float
    low_us: float
    high_us: float
    triton_us: float
    calls: int
    unknown_calls: int
    unknown: list[str]
    changes: list[ProfileChange]
    notes: list[str]
    peak_bytes: int | None = None
    memory_bytes: int | None = None
    layers: list[int] = []
    unwritten: list[str] = []
    condition: str = WARM.name
    added_us: float = 0.0
    clock_mhz: float | None = None
    tritons: list[str] = []
    unknown_kernel_calls: int = 0
    unknown_kernels: list[str] = []
    other_gpus: "list[ProfileDocument]" = []

    @property
    def complete(self) -> bool:
        """Whether each launch of a Triton kernel has a time; otherwise the sum is a lower bound."""
        return not self.unknown_kernel_calls

    @property
    def fits(self) -> bool:
        """Whether the GPU has enough memory for the program, as far as known."""
        return self.peak_bytes is None or self.memory_bytes is None or self.peak_bytes <= self.memory_bytes
