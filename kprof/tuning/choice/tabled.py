"""Look up a shape in a dispatch table."""

from typing import Any, NamedTuple

from msgspec.structs import replace

from kprof.errors import KprofError
from kprof.hardware.machine import product_in
from kprof.kernel_spec import Kernel, Shape
from kprof.tuning.choice.distance import distance, numbers, too_far
from kprof.tuning.choice.model import ConsideredImplementation, ImplementationChoice
from kprof.tuning.choice.predicting import cannot, illegal
from kprof.tuning.dispatch_table import DispatchEntry, Table


class Tabled(NamedTuple):
    """The table's answer: a selection, or notes on why there is none."""

    selection: ImplementationChoice | None
    notes: list[str]


def tabled(kernel: Kernel, shape: Shape, arch: str, table: Table) -> Tabled:
    """Return the entry for a shape, or the nearest entry whose configuration is legal for it."""
    same = [entry for entry in table.entries if entry.kernel == kernel.name and entry.arch == arch]
    if not same:
        return Tabled(None, [f"the dispatch table has no entry for {kernel.name} on {arch}"])
    near = [(gap, entry) for entry in same if (gap := distance(shape, entry.shape)) is not None]
    rejected: list[str] = []
    for gap, entry in sorted(near, key=lambda pair: pair[0]):
        config, problem = _fits(kernel, entry, shape, arch)
        if problem is None:
            found = _selection(entry, gap, config, shape)
            return Tabled(replace(found, notes=rejected), [])
        rejected.append(f"dispatch table, entry with {numbers(entry.shape)}: {problem}")
    if not near:
        far = too_far(shape, ((numbers(entry.shape), entry.shape) for entry in same))
        other = f"all {len(same)} for {kernel.name} have another dtype, layout or flag"
        rejected.append(f"dispatch table: {far or other}")
    return Tabled(None, rejected)


def _selection(entry: DispatchEntry, gap: float, config: dict[str, Any], shape: Shape) -> ImplementationChoice:
    where = entry.device or entry.arch
    reason = f"{entry.basis} {'on' if entry.basis == 'measured' else 'for'} {where}"
    if gap:
        reason = f"nearest entry, {entry.basis} with {numbers(entry.shape)}"
    others = sorted(entry.compared.items(), key=lambda pair: pair[1])
    # In a table, "triton" is the kernel with its defaults and "tuned" the best of its listed configurations.
    names = {"triton": f"{entry.kernel} (defaults)", "tuned": f"{entry.kernel} (tuned)"}
    candidates = [ConsideredImplementation(names.get(n, n), entry.basis, ms, reason=f"on {where}") for n, ms in others]
    if not candidates:
        candidates = [
            ConsideredImplementation(entry.implementation, entry.basis, entry.ms, config=config, reason=f"on {where}")
        ]
    return ImplementationChoice(
        kernel=entry.kernel,
        arch=entry.arch,
        shape=dict(shape),
        implementation=entry.implementation,
        config=config,
        rule="nearest" if gap else "exact",
        reason=reason,
        distance=gap,
        measured=entry.shape,
        ms=entry.ms,
        device=entry.device,
        basis=entry.basis,
        candidates=candidates,
    )


def _fits(kernel: Kernel, entry: DispatchEntry, shape: Shape, arch: str) -> tuple[dict[str, Any], str | None]:
    """Return an entry's complete configuration for a shape, and the reason why it cannot be used, or None."""
    from kprof.tuning.choice.kernels import load

    if entry.implementation not in {kernel.name, *kernel.alternatives}:
        return {}, None
    other = kernel if entry.implementation == kernel.name else load(entry.implementation)
    try:
        config = other.configure(product_in(entry.device) or arch, entry.config, shape)
    except KprofError as error:
        return {}, f"does not fit {other.name} any more: {error.message}"
    return config, cannot(other, shape, arch) or illegal(other, config, shape, arch)
