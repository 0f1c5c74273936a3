"""Find Triton kernels in a trace with their launch properties, so that static analyses can be joined with them."""

import re
from collections import Counter
from typing import Literal

import msgspec

from kprof.inputs.torch_profiler.model import Activity, LinkedTrace, Operator, Size

_INDUCTOR = re.compile(r"^triton_(?:poi|red|per|tem|for|mm|bmm|flex)?_?\w*$")
# A Triton kernel has the name of a Python function: no C++ scope, template or mangling.
_PLAIN = re.compile(r"^[A-Za-z_]\w*$")
_NOT_TRITON = re.compile(
    r"^(?:Cijk_|_Z|__amd_|nccl|rccl|SubTensorOp|batched_transpose|igemm_|miopen|Im2|MIOpen|naive_conv|gcnAsm|ampere_|volta_)"
    r"|^(?:volta|turing|sm\d+|cudnn|cutlass)_",
    re.IGNORECASE,
)
_MODULE_LAUNCH = ("hipModuleLaunchKernel", "cuLaunchKernel", "hipDrvLaunchKernelEx", "cuLaunchKernelEx")


class TritonKernel(msgspec.Struct, frozen=True):
    """All runs of one Triton kernel with one launch shape.

    Attributes:
        evidence: reason why the kernel counts as a Triton kernel. ``metadata``: the operator around it names a Triton
            source file; ``name``: it has Inductor's prefix ``triton_``; ``launch``: it has a plain function name and
            was launched through the module API, which other tools also use.
        workgroup_size: work-items of a workgroup, the product of all three extents.
        num_warps: number of wavefronts from the trace, or else workgroup size divided by the wavefront's size.
        lds_bytes: dynamic LDS of the launch, which Triton calls ``shared``.
        source, source_hash: Inductor's file and hash, if the trace records them.
    """

    name: str
    evidence: Literal["metadata", "name", "launch"]
    count: int
    total_ns: int
    workgroups: Size | None
    workgroup_size: int | None
    num_warps: int | None
    num_stages: int | None
    lds_bytes: int | None
    source: str | None
    source_hash: str | None


class _Sum:
    def __init__(self, first: Activity) -> None:
        self.first = first
        self.count = self.total = 0
        self.lds: Counter[int | None] = Counter()


def triton_kernels(trace: LinkedTrace, wavefront_size: int | None = None) -> list[TritonKernel]:
    """Return Triton kernels by total time, largest first.

    Args:
        trace: the linked tables.
        wavefront_size: lanes of a wavefront, to compute the number of wavefronts if the trace does not record it.
    """
    groups: dict[tuple[int, int, int], _Sum] = {}
    table = trace.activities
    kinds = table.words("kind")
    kernel, lds = kinds.code("kernel"), table.numbers("lds_bytes")
    hashes, operators = trace.operators.words("kernel_hash"), trace.operators.words("name").data
    calls = trace.launches.words("name").data
    codes = (table.words(field).data for field in ("name", "workgroups", "workgroup_size"))
    numbers = (table.numbers(field).data for field in ("launch", "operator", "duration_ns"))
    has_hashes = any(hashes.words)
    known: dict[tuple[int, ...], bool] = {}
    for row, (kind, name, grid, block, launch, operator, duration) in enumerate(
        zip(kinds.data, *codes, *numbers, strict=True)
    ):
        if kind != kernel:
            continue
        # Properties of the operator around the launch that show that it is a Triton kernel.
        above = (operators[operator], hashes.data[operator]) if has_hashes and operator >= 0 else (-1, -1)
        told = name, calls[launch] if launch >= 0 else -1, *above
        is_triton = known.get(told)
        if is_triton is None:
            is_triton = known[told] = _evidence(trace, table[row]) is not None
        if is_triton:
            key = name, grid, block
            found = groups.get(key)
            if found is None:
                found = groups[key] = _Sum(table[row])
            found.count += 1
            found.total += duration
            found.lds[lds[row]] += 1
    rows = [_row(trace, found, wavefront_size) for found in groups.values()]
    return sorted(rows, key=lambda r: (-r.total_ns, r.name))


def _evidence(trace: LinkedTrace, activity: Activity) -> Literal["metadata", "name", "launch"] | None:
    hashes = trace.operators.words("kernel_hash")
    above = activity.operator
    if above >= 0 and hashes[above] and trace.operator_name(above) == activity.name:
        return "metadata"
    if _INDUCTOR.match(activity.name):
        return "name"
    launch = trace.launches.words("name")[activity.launch] if activity.launch >= 0 else ""
    if _PLAIN.match(activity.name) and not _NOT_TRITON.search(activity.name) and launch.startswith(_MODULE_LAUNCH):
        return "launch"
    return None


def _row(trace: LinkedTrace, found: _Sum, wavefront_size: int | None) -> TritonKernel:
    first = found.first
    evidence = _evidence(trace, first)
    operator: Operator | None = None
    if evidence == "metadata":
        operator = trace.operators[first.operator]
    size = first.workgroup_size[0] * first.workgroup_size[1] * first.workgroup_size[2] if first.workgroup_size else None
    warps = operator.num_warps if operator is not None else None
    if warps is None and size and wavefront_size and size % wavefront_size == 0:
        warps = size // wavefront_size
    lds = found.lds.most_common(1)[0][0]
    return TritonKernel(
        first.name,
        evidence or "name",
        found.count,
        found.total,
        first.workgroups,
        size,
        warps,
        operator.num_stages if operator is not None else None,
        lds,
        operator.kernel_file if operator is not None else None,
        operator.kernel_hash if operator is not None else None,
    )
