"""Represent large GPU tensors by zeros that have the true size, but occupy no memory and are not computed.

They are ordinary CPU tensors (storage, views, addresses, autograd) on anonymous memory, whose pages the operating
system allocates only when they are touched. Results that torch would compute from them have their true shapes and
unknown values.
"""

import mmap
from dataclasses import dataclass
from math import prod
from typing import Any

from kprof.output.quantities import binary_bytes
from kprof.recording.device_marks import mark_of

LIMIT = 1 << 20
"""Minimum size in bytes of a large floating-point tensor."""
INTEGERS = 256
"""Factor on the limit for integers and masks, so lengths, offsets, indices and a sequence's mask stay known."""

_NO_RESERVE = getattr(mmap, "MAP_NORESERVE", 0x4000)
_ALLOCATIONS = (
    "aten::empty", "aten::new_empty", "aten::empty_like", "aten::zeros", "aten::new_zeros", "aten::zeros_like",
)  # fmt: skip
_WIDEST = 16


@dataclass(frozen=True)
class Shapes:
    """The result of an operator that was not computed.

    Attributes:
        out: the result: the arguments that the operator would have changed, unchanged, or new zeros.
        unknown: True if a GPU would compute other values.
    """

    out: Any
    unknown: bool


@dataclass(frozen=True)
class _Kind:
    """The effect of an operator, from its schema.

    Attributes:
        view: True if its result shares memory with an argument that it does not change.
        written: positions and names of the arguments that it changes.
        returned: for each result, the index in ``written`` of the argument that is returned; ``None`` for a new tensor.
    """

    view: bool
    written: tuple[tuple[int, str], ...]
    returned: tuple[int | None, ...]


class Large:
    """Decides which operators on large tensors are not computed, and counts them.

    Args:
        limit: minimum bytes of a large tensor, see :data:`LIMIT`.
    """

    def __init__(self, limit: int) -> None:
        import torch

        self._limit = limit
        self._tensor = torch.Tensor
        self._kinds: dict[Any, _Kind] = {}
        self.operators = 0
        self.tensors = 0
        self.bytes = 0

    def shapes(self, func: Any, args: Any, kwargs: Any, *, fetches: bool) -> Shapes | None:
        """Return an operator's result without its values; ``None`` if the operator has to be computed.

        Args:
            func: an overload.
            args: arguments of the call.
            kwargs: keyword arguments of the call, on the CPU.
            fetches: True if the operator copies known values to the CPU, where the program needs them.
        """
        kind = self._kind(func)
        if kind.view or fetches:
            return None
        tensors = [t for value in (*args, *kwargs.values()) for t in self._in(value)]
        large = any(map(self._large, tensors))
        if kind.written:
            return self._changed(func, kind, args, kwargs) if large else None
        if not large and self._max_result_bytes(args, tensors) < self._limit:
            return None
        try:
            made = on_meta(func, args, kwargs)
        except (NotImplementedError, RuntimeError, TypeError):
            # The result's size depends on values.
            return None
        if not large and not any(map(self._large, self._in(made))):
            return None
        return Shapes(self._zeros(made), unknown=not self._counted(func))

    def words(self) -> str | None:
        """Return a sentence about the operators that were not computed; ``None`` if all were computed."""
        if not self.operators:
            return None
        return (
            f"tensors of {self._limit >> 20} MiB and more have their true sizes and no values: "
            f"{self.tensors:,} of them ({binary_bytes(self.bytes)}) took no memory, and {self.operators:,} calls of "
            "torch's operators on them were not computed (--full-values computes them)"
        )

    def _counted(self, func: Any) -> bool:
        """Count the operator as not computed, unless it only allocates memory; return whether it only allocates."""
        if func._schema.name.startswith(_ALLOCATIONS):  # noqa: SLF001
            return True
        self.operators += 1
        return False

    def _changed(self, func: Any, kind: _Kind, args: Any, kwargs: Any) -> Shapes | None:
        """Skip an operator that changes arguments: mark these as unknown, and return its result.

        Return ``None`` if one of the changed arguments is on the CPU, so the operator has to be computed.
        """
        written = [args[at] if at < len(args) else kwargs.get(name) for at, name in kind.written]
        changed = [t for value in written for t in self._in(value)]
        if any(mark_of(t) is None for t in changed):
            return None
        made: tuple[Any, ...] = ()
        if None in kind.returned:
            try:
                found = self._zeros(on_meta(func, args, kwargs))
            except (NotImplementedError, RuntimeError, TypeError):
                return None
            made = tuple(found) if isinstance(found, tuple | list) else (found,)
        for tensor in changed:
            found_mark = mark_of(tensor)
            if found_mark is not None:
                found_mark.unknown = True
        self._counted(func)
        given = [made[i] if at is None else written[at] for i, at in enumerate(kind.returned)]
        return Shapes(given[0] if len(given) == 1 else tuple(given) if given else None, unknown=True)

    def _in(self, value: Any) -> list[Any]:
        items = value if isinstance(value, list | tuple) else (value,)
        return [item for item in items if isinstance(item, self._tensor)]

    def _large(self, tensor: Any) -> bool:
        size: int = tensor.numel() * tensor.element_size()
        limit = self._limit if tensor.is_floating_point() or tensor.is_complex() else INTEGERS * self._limit
        return size >= limit

    @staticmethod
    def _max_result_bytes(args: Any, tensors: list[Any]) -> int:
        """Return an upper bound for the bytes of a result, from the sizes in the arguments and the inputs' elements."""
        given = (prod(v) for v in args if isinstance(v, list | tuple) and v and all(type(n) is int for n in v))
        numbers = prod(v for v in args if type(v) is int and v > 1) if not tensors else 1
        elements = prod(max(1, tensor.numel()) for tensor in tensors)
        most: int = _WIDEST * max(1, elements, numbers) * max(1, 1, *given)
        return most

    def _zeros(self, made: Any) -> Any:
        from torch.utils._pytree import tree_map_only

        return tree_map_only(self._tensor, self._zero, made)

    def _zero(self, like: Any) -> Any:
        """Return zeros of a shape and layout; large ones use memory that is not allocated until it is touched."""
        import torch

        if not self._large(like):
            return torch.empty_strided(like.shape, like.stride(), dtype=like.dtype, device="cpu").zero_()
        extent = 1 + sum((n - 1) * step for n, step in zip(like.shape, like.stride(), strict=True))
        size = extent * like.element_size()
        memory = mmap.mmap(-1, size, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | _NO_RESERVE)
        self.tensors += 1
        self.bytes += size
        whole: Any = torch.frombuffer(memory, dtype=torch.uint8).untyped_storage()
        return torch.empty(0, dtype=like.dtype, device="cpu").set_(whole, 0, tuple(like.shape), like.stride())

    def _kind(self, func: Any) -> _Kind:
        found = self._kinds.get(func)
        if found is None:
            found = self._kinds[func] = _kind(func._schema)  # noqa: SLF001
        return found


def _kind(schema: Any) -> _Kind:
    places = [(at, a) for at, a in enumerate(schema.arguments) if a.alias_info is not None and a.alias_info.is_write]
    sets = [a.alias_info.before_set for _, a in places]
    shared = [r.alias_info for r in schema.returns]
    return _Kind(
        view=any(info is not None and not info.is_write for info in shared),
        written=tuple((at, a.name) for at, a in places),
        returned=tuple(
            None if info is None else next((i for i, s in enumerate(sets) if s & info.before_set), None)
            for info in shared
        ),
    )


def on_meta(func: Any, args: Any, kwargs: Any) -> Any:
    """Return the result of an operator as ``meta`` tensors, which have only shapes, strides and types.

    Raises:
        NotImplementedError, RuntimeError, TypeError: if the result's shape depends on more than the arguments' shapes.
    """
    import torch
    from torch.utils._pytree import tree_map_only

    def to_meta(tensor: Any) -> Any:
        return torch.empty_strided(tensor.shape, tensor.stride(), dtype=tensor.dtype, device="meta")

    meta_args, meta_kwargs = tree_map_only(torch.Tensor, to_meta, (args, kwargs))
    if "device" in meta_kwargs:
        meta_kwargs = {**meta_kwargs, "device": torch.device("meta")}
    return func(*meta_args, **meta_kwargs)
