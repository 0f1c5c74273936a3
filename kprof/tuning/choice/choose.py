"""How an implementation is chosen for a shape.

The first of these that can say anything decides:

1. **The dispatch table**, where one is given: the entry with the same numbers (``exact``), else the nearest one
   (``nearest``). Only entries of the same kernel and architecture count, and only those whose parameters that are not
   numbers (dtype, layout, flags) are the same. Each number is compared by its logarithm; an entry is near when none
   differs by more than a factor of two, and the nearest has the least sum of ``|log2(a / b)|``. Its implementation has
   to support the shape and its configuration has to be legal for it, else the next nearest is tried.
2. **Published times** (``published``): those of the nearest case of the same product, near in the same sense. The
   fastest that can do the shape and that can be run here. Cases of other forms of the kernel count where the kernel
   itself has none near. Times whose conditions are not known order forms of one kernel by their ratio; the time itself
   counts for nothing.
3. **The model** (``predicted``): each bundled kernel that solves the problem with its own defaults, all its launches
   together. The fastest; the kernel that was asked for where the model cannot tell the two apart. They are compiled and
   predicted; where nothing can or may be compiled, the times are those of the shipped table's nearest shape
   (:mod:`kprof.tuning.choice.shipped`), which is of the model of a release.
4. **The kernel's own defaults** (``default``), or the first of its ``alternatives`` that supports the shape.

Whatever decides, the answer lists every implementation that was considered, with its time and how that is known, or why
there is none.
"""

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from msgspec.structs import replace

from kprof.bench.published import rows
from kprof.condition import WARM
from kprof.errors import KprofError
from kprof.hardware.machine import product_in
from kprof.kernel_spec import Kernel, Shape
from kprof.tuning.choice.distance import distance, numbers, too_far
from kprof.tuning.choice.kernels import is_bundled
from kprof.tuning.choice.model import ConsideredImplementation, ImplementationChoice
from kprof.tuning.choice.predicting import bundled, predicted
from kprof.tuning.choice.shipped import CONDITION, Shipped, shipped, usable_triton
from kprof.tuning.choice.tabled import tabled
from kprof.tuning.dispatch_table import TABLE_VARIABLE, Table, read

if TYPE_CHECKING:
    from kprof.hardware.machine import Architecture, Product

_ONLY_RATIO = ", so that only the ratio counts"


class Published(NamedTuple):
    """What was published for a problem or one near to it.

    Attributes:
        candidates: the fastest time of each implementation, fastest first; empty where nothing near was published.
        case: name of the case.
        shape: its parameters.
        distance: of its shape from the one that was asked for.
        device: product that they are of.
        note: why nothing counts although something was published; empty otherwise.
    """

    candidates: list[ConsideredImplementation]
    case: str = ""
    shape: dict[str, Any] | None = None
    distance: float = 0.0
    device: str = ""
    note: str = ""


def published(kernel: Kernel, shape: Shape, arch: str, device: str) -> Published:
    """The published times of the nearest case.

    Args:
        kernel: whose problem it is.
        shape: problem parameters, dtypes resolved.
        arch: architecture.
        device: product that is asked about; times of others do not count.
    """
    known = rows(kernel.name)
    mine = [row for row in known if product_in(row["device"]) == device]
    shapes = {row["case"]: kernel.problem(arch, row["case"]) for row in mine if row["case"] in kernel.shapes}
    near = [(gap, case) for case, one in shapes.items() if (gap := distance(shape, one)) is not None]
    if not near:
        far = too_far(shape, shapes.items())
        others = ", ".join(dict.fromkeys(row["device"] for row in known if row not in mine))
        if far is not None:
            return Published([], note=f"published times for {kernel.name}: {far}")
        return Published([], note=f"times were published for {others} only" if others and not mine else "")
    gap, case = min(near)
    best: dict[str, dict[str, Any]] = {}
    for row in mine:
        name = row.get("implementation", row["provider"])
        if row["case"] == case and (name not in best or row["ms"] < best[name]["ms"]):
            best[name] = row
    found = [_candidate(name, row, kernel, shape, arch, device) for name, row in best.items()]
    found.sort(key=lambda one: one.ms or 0.0)
    return Published(found, case, shapes[case], gap, device)


def _candidate(  # noqa: PLR0917 - a published time, of what, and where
    name: str, row: dict[str, Any], kernel: Kernel, shape: Shape, arch: str, device: str
) -> ConsideredImplementation:
    from kprof.bench.implementations import providers
    from kprof.tuning.choice.kernels import load
    from kprof.tuning.choice.predicting import cannot, illegal

    reason, ratio_only = row["source"], bool(row.get("ratio_only"))
    if name not in {kernel.name, *kernel.alternatives}:
        runs = name in providers(kernel)
        extra = "" if runs else "; kprof bench cannot run it"
        return ConsideredImplementation(
            name, "published", row["ms"], reason=reason + extra, runs=runs, ratio_only=ratio_only
        )
    form = kernel if name == kernel.name else load(name)
    try:
        config = form.configure(device or arch, None, shape)
        problem = cannot(form, shape, arch) or illegal(form, config, shape, arch)
    except KprofError as error:
        config, problem = {}, error.message
    if problem is not None:
        return ConsideredImplementation(name, "published", reason=problem, usable=False)
    return ConsideredImplementation(
        name,
        "published",
        row["ms"],
        config=config,
        reason=f"{row['provider']}: {reason}{_ONLY_RATIO if ratio_only else ''}",
        ratio_only=ratio_only,
    )


def select(
    kernel: str,
    shape: Shape,
    arch: str,
    table: Table | Path | str | None = None,
    *,
    predict: bool | None = None,
    condition: str = WARM.name,
) -> ImplementationChoice:
    """Which implementation and configuration to use for a shape on an architecture.

    Args:
        kernel: bundled kernel or file.
        shape: problem parameters; those left out are the default case's.
        arch: architecture, ``gfx942``, or product, ``MI300X``; any other name is compared as it is.
        table: a table or its path; by default the file that ``KPROF_DISPATCH_TABLE`` names, if any.
        predict: whether to compile what was not measured and let the model say how long it takes, which takes seconds
            the first time. ``False``: nothing is compiled. ``None``: where there is a usable Triton.
        condition: that times are predicted for, see :mod:`kprof.condition`; published ones are of their own.

    Raises:
        KprofError: no such kernel or parameter, the table cannot be read, nothing can do the problem there, or it is to
            be compiled without a usable Triton.
    """
    from kprof.compiler.versions import installed
    from kprof.hardware.machine import load_gpu
    from kprof.tuning.choice.kernels import load

    loaded = load(kernel)
    machine, product = (None, None) if arch.startswith("sm_") else load_gpu(arch)
    if table is None and (place := os.environ.get(TABLE_VARIABLE)):
        table = place
    known = read(table) if isinstance(table, Path | str) else table
    name = machine.name if machine is not None else arch
    problem = loaded.problem(name, None, shape)
    if machine is not None and product is None:
        product = next(iter(machine.products.values()), None)
    if predict:
        installed()
    compiles = bool(usable_triton()) if predict is None else predict
    machine = machine if compiles else None
    return choose(loaded, problem, name, known, machine=machine, product=product, condition=condition)


def choose(
    kernel: Kernel,
    shape: Shape,
    arch: str,
    table: Table | None,
    *,
    machine: "Architecture | None" = None,
    product: "Product | None" = None,
    condition: str = WARM.name,
) -> ImplementationChoice:
    """The implementation and configuration for a shape; how is in the module's description.

    Args:
        kernel: whose problem it is.
        shape: problem parameters, dtypes resolved.
        arch: architecture.
        table: measured entries, if there are any.
        machine: what to predict for; ``None``: nothing is compiled.
        product: what it is about; published times of other products do not count.
        condition: that times are predicted for.

    Raises:
        KprofError: nothing can do the problem on this architecture.
    """
    notes: list[str] = []
    if table is not None:
        found = tabled(kernel, shape, arch, table)
        if found.selection is not None:
            return found.selection
        notes += found.notes
    device = "" if product is None else product.name
    forms = bundled(kernel, shape, arch, device)
    known = _published(kernel, shape, forms, arch, device)
    notes += [known.note] if known.note else []
    own, kept = _own(kernel, shape, forms, machine, product, condition)
    usable = [one for one in known.candidates if one.usable and one.runs]
    if not usable and not any(one.usable for one in own):
        why = next((one.reason for one in own if one.reason), "no kernel supports the shape")
        raise KprofError(f"nothing can do this on {arch}: {why}")
    notes += kept.notes
    base = ImplementationChoice(
        kernel=kernel.name,
        arch=arch,
        shape=dict(shape),
        implementation=kernel.name,
        config={},
        rule="default",
        reason="",
        candidates=_ordered([*known.candidates, *own, *_others(kernel, known)]),
        device=device,
        notes=notes,
        condition=condition,
    )
    if absolute := [one for one in usable if not one.ratio_only]:
        return _by_publication(base, known, absolute, own)
    if len(usable) > 1:
        return _by_ratio(base, known, usable, own)
    base = replace(base, distance=kept.distance, measured=kept.shape)
    timed = [one for one in own if one.ms is not None]
    return _by_model(base, timed, own) if timed else _default(base, own)


def _own(  # noqa: PLR0917 - what is asked, of which forms, for which GPU, under which condition
    kernel: Kernel,
    shape: Shape,
    forms: list[tuple[Kernel, ConsideredImplementation]],
    machine: "Architecture | None",
    product: "Product | None",
    condition: str,
) -> tuple[list[ConsideredImplementation], Shipped]:
    """The bundled kernels with the model's times, and what the shipped table had to say about it."""
    kept = Shipped([], None, None, [])
    if machine is not None:
        return predicted(forms, shape, machine, product, condition), kept
    if product is not None and is_bundled(kernel):
        kept = shipped(kernel, shape, product, forms)
        if kept.candidates:
            kept.notes.append(f"the shipped times are of {CONDITION}, whatever the condition asked for ({condition})")
    return kept.candidates or [candidate for _, candidate in forms], kept


def _published(
    kernel: Kernel, shape: Shape, forms: list[tuple[Kernel, ConsideredImplementation]], arch: str, device: str
) -> Published:
    """What was published for the kernel, else for another form of it."""
    found = published(kernel, shape, arch, device)
    others = (published(form, one.shape, arch, device) for form, one in forms if one.usable and one.shape)
    return found if found.candidates else next((other for other in others if other.candidates), found)


def _by_publication(
    base: ImplementationChoice,
    known: Published,
    usable: list[ConsideredImplementation],
    own: list[ConsideredImplementation],
) -> ImplementationChoice:
    best = usable[0]
    near = f"case {known.case}" if not known.distance else f"nearest case {known.case}, {numbers(known.shape or {})}"
    among = "the only published time" if len(usable) == 1 else f"fastest of {len(usable)} published times"
    named = {one.implementation for one in usable}
    faster = [
        one
        for one in own
        if one.implementation not in named and one.high_ms is not None and best.ms is not None and one.high_ms < best.ms
    ]
    notes = [
        f"the model has {one.implementation} at {one.ms:.4g} ms, {one.high_ms:.4g} at most, which is less than was "
        "published: measure both"
        for one in faster
    ]
    return replace(
        base,
        implementation=best.implementation,
        config=best.config,
        rule="published",
        reason=f"{among} ({near}): {best.reason}",
        distance=known.distance,
        measured=known.shape,
        ms=best.ms,
        basis="published",
        device=known.device,
        notes=[*base.notes, *notes],
    )


def _by_ratio(
    base: ImplementationChoice,
    known: Published,
    usable: list[ConsideredImplementation],
    own: list[ConsideredImplementation],
) -> ImplementationChoice:
    """Choose the form that was published to be faster; its time is the model's, which other kernels compare with."""
    best, second, *_ = usable
    beaten = {one.implementation for one in usable if one is not best}
    timed = [one for one in own if one.ms is not None and one.implementation not in beaten]
    mine = next((one for one in timed if one.implementation == best.implementation), None)
    if mine is not None and len(timed) > 1:
        by_model = _by_model(base, timed, own)
        if by_model.implementation != best.implementation:
            return by_model
    near = f"case {known.case}" if not known.distance else f"nearest case {known.case}, {numbers(known.shape or {})}"
    ratio = (second.ms or 0.0) / (best.ms or 1.0)
    return replace(
        base,
        implementation=best.implementation,
        config=best.config,
        rule="published",
        reason=f"published as {ratio:.2f} times as fast as {second.implementation} ({near})",
        distance=known.distance,
        measured=known.shape,
        ms=None if mine is None else mine.ms,
        basis="unknown" if mine is None else "predicted",
        device=known.device,
    )


def _by_model(
    base: ImplementationChoice, timed: list[ConsideredImplementation], own: list[ConsideredImplementation]
) -> ImplementationChoice:
    from kprof_analyzers.model.certainty import least_difference

    least = least_difference()
    best = min(timed, key=lambda one: one.ms or 0.0)
    asked = next((one for one in timed if one.implementation == base.kernel), None)
    reason = f"fastest of {len(timed)} predicted" if len(timed) > 1 else "the only one that could be predicted"
    if len(own) == 1:
        reason = "the only bundled kernel for it, with its own defaults"
    behind = min((one.ms or 0.0 for one in timed if one is not best), default=None)
    if asked is not None and asked is not best and (asked.ms or 0.0) < (best.ms or 0.0) * (1 + least):
        reason = f"not distinguished from {best.implementation}, which is predicted less than {least:.0%} faster"
        best = asked
    elif behind is not None and best.ms:
        reason += f", {behind / best.ms:.2f} times as fast as the next"
    if base.distance:
        reason += f", at the nearest shape of the shipped table ({numbers(base.measured or {})})"
    if best.shape:
        reason += "; its parameters are " + numbers(best.shape)
    return replace(
        base,
        implementation=best.implementation,
        config=best.config,
        rule="predicted",
        reason=reason,
        ms=best.ms,
        basis="predicted",
    )


def _default(base: ImplementationChoice, own: list[ConsideredImplementation]) -> ImplementationChoice:
    best = next(one for one in own if one.usable)
    words = "nothing was measured or published for this shape or near it, and nothing was predicted"
    refused = "".join(f"; not {one.implementation}: {one.reason}" for one in own[: own.index(best)])
    reason = f"{words}; {best.implementation}'s own defaults{refused}"
    return replace(base, implementation=best.implementation, config=best.config, reason=reason, device="")


def _others(kernel: Kernel, known: Published) -> list[ConsideredImplementation]:
    """Other libraries without a time."""
    from kprof.bench.implementations import providers

    named = {one.implementation for one in known.candidates}
    why = "not measured or published near this shape; the model predicts Triton kernels only"
    return [ConsideredImplementation(name, "unknown", reason=why) for name in providers(kernel) if name not in named]


def _ordered(candidates: list[ConsideredImplementation]) -> list[ConsideredImplementation]:
    """Those with a time first, fastest first; then those without one that might do, then those that cannot."""
    return sorted(candidates, key=lambda one: (not (one.usable and one.runs), one.ms is None, one.ms or 0.0))
