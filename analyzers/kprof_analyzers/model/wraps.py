"""Compute the share of distinct elements in loaded tiles whose rows or columns repeat, as with ``offsets % M``.

A product of few rows fills its tile with copies of its rows: ``(pid * 64 + arange(64)) % 4`` loads four rows sixteen
times. Lanes request the copies, but find them in the vector cache or in the same request, so the copies cause no
additional traffic from L2 or memory.
"""

from kprof.analysis import KernelFacts
from kprof.inputs.mlir import Module, Operation, TensorType
from kprof_analyzers.memory.addressing import Stride, address, steps_of
from kprof_analyzers.memory.dataflow import flow_of, global_loads
from kprof_analyzers.model.scalars import Evaluator

_REMAINDERS = ("arith.remsi", "arith.remui")


# Cache of the last kernel's shares, because traffic.py and fetched.py query the same kernel one after the other.
_last: list[tuple[KernelFacts, dict[int, float]]] = []


def wrapped_shares(facts: KernelFacts) -> dict[int, float]:
    """Return the share of distinct elements in the tiles of TTGIR loads, by index of the load.

    Loads without repeated elements are omitted. Repetition is recognised if indices are remainders, as in ``rows % M``,
    with a divisor that the launch determines.
    """
    if facts.ttgir is None:
        return {}
    for known, found in _last:
        if known is facts:
            return found
    result = _wrapped(facts, facts.ttgir)
    _last[:] = [(facts, result)]
    return result


def _wrapped(facts: KernelFacts, module: Module) -> dict[int, float]:
    shares = _remainders(module, facts)
    flow, found = flow_of(module), {}
    for load in global_loads(module) if shares else ():
        made_of = {op.index: op for op in _address_operations(load)}
        share = 1.0
        for op in made_of.values():
            before = flow.producer(flow.input(op, 0))
            # If the address also uses the dividend in another way, as in (n % width, n // width), no element is a copy.
            if op.index in shares and before is not None and before.index not in made_of:
                share *= shares[op.index]
        if share < 1:
            found[load.index] = share
    return found


def _remainders(module: Module, facts: KernelFacts) -> dict[int, float]:
    """Return the share of distinct results, below 1, of each remainder of consecutive numbers, by operation index."""
    evaluator = None
    found = {}
    # An unknown grid is represented by zeros, so that a divisor computed from it is recognised as unknown.
    wide, high, deep = (0, 0, 0) if facts.grid is None else [*facts.grid, 1, 1, 1][:3]
    for op in module.named(*_REMAINDERS):
        shape = next((t for t in op.result_types if isinstance(t, TensorType)), None)
        left, right = (flow_of(module).input(op, n) for n in (0, 1))
        steps = steps_of(module, left)
        if shape is None or not steps or steps_of(module, right):
            continue
        axes = [axis for axis, step in steps.items() if axis < len(shape.shape)]
        if len(axes) != 1 or steps[axes[0]] != Stride():
            continue
        # The divisor is evaluated for two workgroups, to find out whether it depends on the workgroup.
        programs = [(0, 0, 0), (1, 1, 1)]
        evaluator = evaluator or Evaluator(module, facts.arguments, programs, (wide, high, deep), facts.contents)
        divisor, extent = evaluator.certain(right), shape.shape[axes[0]]
        if isinstance(divisor, int) and 0 < divisor < extent:
            found[op.index] = divisor / extent
    return found


def _address_operations(load: Operation) -> list[Operation]:
    """Return the operations that compute a load's addresses.

    The search backwards ends at remainders, at loads, and at values carried from earlier iterations.
    """
    where = address(load)
    if where is None:
        return []
    stop = {"tt.load", "amdg.buffer_load", *_REMAINDERS}
    return list(flow_of(load.module).back(where, stop=lambda op: op.name in stop, carried=False))
