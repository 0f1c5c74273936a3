"""Compute operations and bytes per second of operators by shape, and the time lost relative to the GPU's limits."""

from array import array
from collections.abc import Iterator, Mapping, Sequence

import msgspec

from kprof.hardware import machine
from kprof.hardware.machine import Product
from kprof.inputs.torch_profiler.columns import Words
from kprof.inputs.torch_profiler.issues import TraceIssue
from kprof.inputs.torch_profiler.model import LinkedTrace, TraceInfo
from kprof_analyzers.profiles.timeline.operators import attention, convolutions, elementwise, products
from kprof_analyzers.profiles.timeline.operators.arguments import Argument, Formula, Work, arguments

FORMULAS: Mapping[str, Formula] = {
    **products.OPERATORS,
    **convolutions.OPERATORS,
    **attention.OPERATORS,
    **elementwise.OPERATORS,
}


def work_of(name: str, given: Sequence[Argument]) -> Work | None:
    """Return the work of an operator's call; ``None`` if its name or its arguments are unknown."""
    formula = FORMULAS.get(name)
    return formula(given) if formula is not None and given else None


def triton_work(given: Sequence[Argument]) -> Work | None:
    """Return the minimum work of a Triton kernel: each tensor argument is read or written once."""
    moved = sum(argument.bytes for argument in given if argument.is_tensor)
    return Work(None, moved, assumed="each tensor read or written once") if moved else None


_TERA = 1e12


class RooflineLimits(msgspec.Struct, frozen=True):
    """Limits of the GPU.

    Attributes:
        gpu: name of the product.
        hbm: peak memory bandwidth in bytes per second.
        peaks: peak operations per second by kind of arithmetic: ``matrix_bf16``, ...
        compute_units: number of compute units, if known.
    """

    gpu: str
    hbm: float | None
    peaks: dict[str, float]
    compute_units: int | None = None


class OperatorRoofline(msgspec.Struct, frozen=True):
    """All calls of one operator with equal shapes and types.

    Attributes:
        name: name of the operator or the Triton kernel.
        shapes: extents of the tensors, ``25088x768 768x2304``.
        types: types of the tensors, without repetition.
        calls: number of calls that launched a kernel.
        kernels: number of kernels that they launched.
        total_ns: GPU time of these kernels.
        flop: operations per call; ``None`` if unknown, or if they do not limit the call.
        bytes: bytes per call, each operand and result counted once; ``None`` if unknown.
        bound: limit that determines the least time of a call: ``HBM`` or a peak (``matrix_bf16``); "" if unknown.
        least_ns: time of all calls at this limit; ``None`` if unknown.
        assumed: assumption behind ``flop`` and ``bytes``, in words; "" if there is none.
        lost_ns: time beyond ``least_ns``; 0 if the calls are faster.
        share: share of the limit that is reached. It can be above 1 if operands stay in a cache.
        tflops, tbs: reached operations and bytes per second, both in units of 1e12.
    """

    name: str
    shapes: str
    types: str
    calls: int
    kernels: int
    total_ns: int
    flop: int | None = None
    bytes: int | None = None
    bound: str = ""
    least_ns: float | None = None
    assumed: str = ""
    lost_ns: float | None = None
    share: float | None = None
    tflops: float | None = None
    tbs: float | None = None


class OperatorTable(msgspec.Struct, frozen=True):
    """Operators of one trace.

    Attributes:
        limits: limits of the GPU; ``None`` if the GPU is unknown.
        rows: operators by decreasing lost time, then those without a known limit by time.
        kernel_ns: time of all kernels.
        known_ns: time of kernels whose operator has a formula and shapes.
        graph_ns: time of kernels that a graph replayed; the trace does not contain their operators.
        without_shapes: True if no operator has shapes, because the trace was recorded without ``record_shapes``.
    """

    info: TraceInfo
    limits: RooflineLimits | None
    rows: list[OperatorRoofline]
    kernel_ns: int
    known_ns: int
    graph_ns: int
    without_shapes: bool
    issues: tuple[TraceIssue, ...]


class _Sum:
    def __init__(self) -> None:
        self.total = self.kernels = 0
        self.calls: set[int] = set()


Key = tuple[str, str | None, str | None, str | None]


def limits_of(info: TraceInfo, gpu: str | None = None) -> RooflineLimits | None:
    """Return the published limits of the product ``gpu``, or of the GPU in the trace; ``None`` if it is unknown."""
    names = [gpu] if gpu else [machine.product_in(name) for name in info.devices]
    products = {product.name: product for name in names if name and (product := machine.find_product(name)) is not None}
    return limits_of_product(next(iter(products.values()))) if len(products) == 1 else None


_WIDE = ("", "matrix_fp32", "matrix_fp64", "matrix_xf32")
"""Values of :attr:`Work.unit` that :func:`matrix_us` ignores: no products, or products of types wider than 16 bits."""


def matrix_us(work: Work, limits: RooflineLimits) -> float:
    """Return the minimum time in µs of products of 16-bit and narrower types, at the peak rate; 0 for other work."""
    peak = limits.peaks.get(work.unit)
    if work.unit in _WIDE or not work.flop or not peak:
        return 0.0
    return 1e6 * work.flop / peak


def limits_of_product(product: Product) -> RooflineLimits:
    """Return the published limits of a product."""
    arch = machine.load(product.arch)
    hbm = product.memory.get("hbm")
    peaks = {name: value * _TERA for name, value in product.peaks.items()}
    if product.compute_units and product.clock_mhz:
        for name, rate in arch.rates.items():
            if name.startswith("matrix_") and rate and name != "matrix_sparse_factor":
                peaks.setdefault(name, rate * product.compute_units * product.clock_mhz * 1e6)
    bandwidth = hbm.bandwidth_gbs if hbm else None
    return RooflineLimits(product.name, bandwidth * 1e9 if bandwidth else None, peaks, product.compute_units or None)


def operator_table(trace: LinkedTrace, limits: RooflineLimits | None) -> OperatorTable:
    """Return operators by shape, largest lost time first.

    A kernel is counted for the innermost operator around its launch whose work kprof can compute. If there is none, it
    is counted for the innermost operator.
    """
    sums: dict[Key, _Sum] = {}
    durations = trace.activities.numbers("duration_ns").data
    replayed = trace.activities.words("graph")
    kernel_ns = graph_ns = 0
    texts = [trace.operators.words(field) for field in ("name", "input_dims", "input_types", "concrete_inputs")]
    owners = _Owners(trace)
    names, operators = trace.activities.words("name"), trace.activities.numbers("operator").data
    for row in _kernels(trace):
        kernel_ns += durations[row]
        operator = owners.of(operators[row])
        key: Key
        if replayed[row] or operator < 0:
            graph_ns += durations[row] if replayed[row] else 0
            key = (names[row], None, None, None)
        else:
            key = _key(texts, operator)
        found = sums.setdefault(key, _Sum())
        found.total += durations[row]
        found.kernels += 1
        found.calls.add(operator if not replayed[row] and operator >= 0 else -row - 1)
    rows = [_row(key, found, limits) for key, found in sums.items()]
    rows.sort(key=lambda r: (-(r.lost_ns or 0.0), -r.total_ns, r.name, r.shapes))
    known = sum(r.total_ns for r in rows if r.bytes is not None or r.flop is not None)
    no_shapes = not any(texts[1].words)
    return OperatorTable(trace.info, limits, rows, kernel_ns, known, graph_ns, no_shapes, trace.issues)


def _key(texts: list[Words], operator: int) -> Key:
    name, dims, types, values = (column[operator] for column in texts)
    return name, dims, types, values


def _kernels(trace: LinkedTrace) -> Iterator[int]:
    kinds = trace.activities.words("kind")
    code = kinds.code("kernel")
    return (row for row, kind in enumerate(kinds.data) if kind == code)


class _Owners:
    """Maps the operator directly around a launch to the operator that the launch is counted for."""

    def __init__(self, trace: LinkedTrace) -> None:
        names = trace.operators.words("name")
        self._has_formula = [name in FORMULAS for name in names.words]
        self._names = names.data
        self._annotations = [kind == "annotation" for kind in trace.operators.words("kind").words]
        self._kinds = trace.operators.words("kind").data
        self._parents = trace.operators.numbers("parent").data
        self._found = array("q", [-2]) * len(trace.operators)

    def of(self, innermost: int) -> int:
        """Return the row of the operator that a launch is counted for; -1 if the launch is outside of operators."""
        if innermost < 0:
            return -1
        known = self._found[innermost]
        if known != -2:
            return known
        at, first = innermost, -1
        while at >= 0:
            if not self._annotations[self._kinds[at]]:
                first = at if first < 0 else first
                if self._has_formula[self._names[at]]:
                    break
            at = self._parents[at]
        self._found[innermost] = result = at if at >= 0 else first
        return result


def _row(key: Key, found: _Sum, limits: RooflineLimits | None) -> OperatorRoofline:
    name, dims, types, values = key
    given = arguments(dims, types, values)
    work = work_of(name, given)
    if work is None and name.startswith("triton_"):
        work = triton_work(given)
    calls, total = len(found.calls), found.total
    tensors = [argument for argument in given if argument.is_tensor]
    bound, least = bound_of(work, limits)
    least = least * calls if least is not None else None
    flop, moved = (work.flop, work.bytes) if work else (None, None)
    return OperatorRoofline(
        name,
        " ".join("x".join(map(str, t.dims)) or "scalar" for t in tensors),
        " ".join(dict.fromkeys(_short(t) for t in tensors)),
        calls,
        found.kernels,
        total,
        flop,
        moved,
        bound,
        least,
        work.assumed if work else "",
        max(0.0, total - least) if least is not None else None,
        least / total if least is not None and total else None,
        # Convert from units per ns to 1e12 units per second.
        flop * calls / total / 1e3 if flop and total else None,
        moved * calls / total / 1e3 if moved and total else None,
    )


def _short(tensor: Argument) -> str:
    return tensor.arithmetic or tensor.type.removeprefix("c10::")


def bound_of(work: Work | None, limits: RooflineLimits | None) -> tuple[str, float | None]:
    """Return the name of the limit with the longest time, and the time of a call at this limit in ns."""
    if work is None or limits is None:
        return "", None
    times: dict[str, float] = {}
    if work.bytes is not None and limits.hbm:
        times["HBM"] = work.bytes / limits.hbm * 1e9
    if work.flop and work.unit in limits.peaks:
        times[work.unit] = work.flop / limits.peaks[work.unit] * 1e9
    elif work.flop:
        # Without the peak for the operands' type, the limit of a matrix product is unknown.
        return "", None
    if not times:
        return "", None
    name = max(times, key=lambda n: times[n])
    return name, times[name]
