"""Which layout conversions move data between wavefronts, and so through LDS."""

from kprof.inputs.mlir import Operation, Scalar, TensorType
from kprof_analyzers.memory.linear_layout import WARP, UnknownLayoutError, linear


def goes_through_lds(operation: Operation) -> bool:
    """Whether data changes the wavefront in a ``ttg.convert_layout``; ``False`` too where layouts are not known."""
    return crosses_wavefronts(operation) is True


def crosses_wavefronts(operation: Operation) -> bool | None:
    """Whether data changes the wavefront in a ``ttg.convert_layout``; ``None`` where layouts are not known."""
    types = (*operation.operand_types, *operation.result_types)
    if len(types) != 2 or not all(isinstance(t, TensorType) and isinstance(t.element, Scalar) for t in types):
        return None
    source, target = types
    assert isinstance(source, TensorType)
    assert isinstance(target, TensorType)
    if source.layout is None or target.layout is None:
        return None
    try:
        one, other = linear(source.layout, source.shape), linear(target.layout, target.shape)
    except UnknownLayoutError:
        return None
    # A wavefront that already holds what others hold too has nothing to fetch from them.
    pairs = zip(one.bases[WARP], other.bases[WARP], strict=False)
    return any(any(held) and held != wanted for held, wanted in pairs)
