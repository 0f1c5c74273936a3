"""Choose an implementation and configuration for a shape.

The first of these sources that has an answer decides:

1. **The dispatch table**, if one is given: the entry with the same numbers (``exact``), else the nearest entry
   (``nearest``). Only entries with the same kernel, architecture and non-numeric parameters (dtype, layout, flags) are
   considered. Numbers are compared by their logarithms: an entry is near if no number differs by more than a factor of
   two, and the nearest entry has the smallest sum of ``|log2(a / b)|``. If its implementation does not support the
   shape, or its configuration is not legal for it, the next nearest entry is tried.
2. **Published times** (``published``) of the nearest case of the same product, with the same definition of near. The
   fastest implementation that supports the shape and can be run here is chosen. If the kernel itself has no near case,
   cases of its other forms (bundled kernels that solve the same problem) are used. Of times measured under unknown
   conditions, only the ratio is used, to order the forms of one kernel.
3. **The model** (``predicted``): each bundled kernel that solves the problem, with its default configuration and all
   its launches. The fastest kernel is chosen, or the requested kernel if the model cannot distinguish the two. The
   kernels are compiled and predicted. If nothing can or may be compiled, the times come from the nearest shape of the
   shipped table (:mod:`kprof.tuning.choice.shipped`), which the model of a release produced.
4. **The kernel's own defaults** (``default``), or the first of its ``alternatives`` that supports the shape.

The answer always lists every implementation that was considered: its time and the source of the time, or the reason why
it has no time.
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

_ONLY_RATIO = ", so only the ratio of the times is used"


class Published(NamedTuple):
    """Published times for a problem or for the nearest published case.

    Attributes:
        candidates: the fastest time of each implementation, fastest first; empty if no near case was published.
        case: name of the case.
        shape: parameters of the case.
        distance: distance between the case's shape and the requested shape.
        device: product on which the times were measured.
        note: reason why the published times do not count, or "".
    """

    candidates: list[ConsideredImplementation]
    case: str = ""
    shape: dict[str, Any] | None = None
    distance: float = 0.0
    device: str = ""
    note: str = ""


def published(kernel: Kernel, shape: Shape, arch: str, device: str) -> Published:
    """Return the published times of the nearest case.

    Args:
        kernel: the kernel whose problem is solved.
        shape: problem parameters, dtypes resolved.
        arch: architecture.
        device: the requested product; times of other products do not count.
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


def _candidate(  # noqa: PLR0917 - a published time, its kernel and shape, and the GPU
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
    """Choose the implementation and configuration for a shape on an architecture.

    Args:
        kernel: bundled kernel or file.
        shape: problem parameters; missing parameters are taken from the default case.
        arch: architecture, ``gfx942``, or product, ``MI300X``; a name such as ``sm_90`` can only match table entries.
        table: a table or its path; by default the file named by ``KPROF_DISPATCH_TABLE``, if set.
        predict: True: compile the kernels without a measured time and predict their times, which takes seconds the
            first time. False: compile nothing. None: predict if a usable Triton is installed.
        condition: condition for predicted times, see :mod:`kprof.condition`; published times have their own conditions.

    Raises:
        KprofError: if the kernel or a parameter does not exist, the table cannot be read, no kernel supports the
            problem, or ``predict`` is True without a usable Triton.
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
    """Choose the implementation and configuration for a shape by the rules in the module's docstring.

    Args:
        kernel: the kernel whose problem is solved.
        shape: problem parameters, dtypes resolved.
        arch: architecture.
        table: measured entries, or None.
        machine: architecture to predict for; None: compile nothing.
        product: the requested product; published times of other products do not count.
        condition: condition for predicted times.

    Raises:
        KprofError: if no kernel supports the problem on this architecture.
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
    considered, kept = _bundled_and_shipped(kernel, shape, forms, machine, product, condition)
    own = [one for one in considered if not one.needs]
    usable = [one for one in known.candidates if one.usable and one.runs]
    if not usable and not any(one.usable for one in own):
        why = next((one.reason for one in own if one.reason), "no kernel supports the shape")
        raise KprofError(f"no implementation supports this on {arch}: {why}")
    notes += kept.notes
    base = ImplementationChoice(
        kernel=kernel.name,
        arch=arch,
        shape=dict(shape),
        implementation=kernel.name,
        config={},
        rule="default",
        reason="",
        candidates=_ordered([*known.candidates, *considered, *_libraries_without_time(kernel, known)]),
        device=device,
        notes=notes,
        condition=condition,
    )
    choice = _chosen(base, known, usable, own, kept)
    return replace(choice, notes=[*choice.notes, *other_inputs(choice)])


def _chosen(
    base: ImplementationChoice,
    known: Published,
    usable: list[ConsideredImplementation],
    own: list[ConsideredImplementation],
    kept: Shipped,
) -> ImplementationChoice:
    """Choose an implementation: by published times, else their ratios, else predicted times, else the defaults."""
    if absolute := [one for one in usable if not one.ratio_only]:
        return _by_publication(base, known, absolute, own)
    if len(usable) > 1:
        return _by_ratio(base, known, usable, own)
    base = replace(base, distance=kept.distance, measured=kept.shape)
    timed = [one for one in own if one.ms is not None]
    return _by_model(base, timed, own) if timed else _default(base, own)


def other_inputs(choice: ImplementationChoice, *, faster_only: bool = False) -> list[str]:
    """Return a sentence for each kernel that needs other inputs: how its predicted time compares with the choice's.

    Args:
        choice: the choice with its candidates.
        faster_only: only kernels that are faster with at least the certainty that the model needs to tell two apart.
    """
    from kprof_analyzers.model.certainty import predicted_gain

    mine = next((one for one in choice.candidates if one.implementation == choice.implementation), None)
    ms = choice.ms if choice.basis == "predicted" else None if mine is None or mine.basis != "predicted" else mine.ms
    sentences = []
    for one in choice.candidates:
        gain = predicted_gain(one.ms, ms, choice.arch) if one.needs else None
        if gain is None or (faster_only and not (gain.told_apart and gain.speedup > 1)):
            continue
        name = f"{one.implementation}, which needs {one.needs}"
        if gain.speedup > 1:
            sentences.append(f"{name}, is predicted {gain.words()}")
        elif slower := predicted_gain(ms, one.ms, choice.arch):
            sentences.append(f"compared with {name}, {choice.implementation} is predicted {slower.words()}")
    return sentences


def _bundled_and_shipped(  # noqa: PLR0917 - the problem, the kernels, the GPU and the condition
    kernel: Kernel,
    shape: Shape,
    forms: list[tuple[Kernel, ConsideredImplementation]],
    machine: "Architecture | None",
    product: "Product | None",
    condition: str,
) -> tuple[list[ConsideredImplementation], Shipped]:
    """Return the bundled kernels with predicted times, and the shipped table's answer, which is empty if unused."""
    kept = Shipped([], None, None, [])
    if machine is not None:
        return predicted(forms, shape, machine, product, condition), kept
    if product is not None and is_bundled(kernel):
        kept = shipped(kernel, shape, product, forms)
        if kept.candidates:
            kept.notes.append(f"the shipped times are for {CONDITION}, not for the requested condition ({condition})")
    return kept.candidates or [candidate for _, candidate in forms], kept


def _published(
    kernel: Kernel, shape: Shape, forms: list[tuple[Kernel, ConsideredImplementation]], arch: str, device: str
) -> Published:
    """Return the published times of the kernel, or else of another form of it."""
    found = published(kernel, shape, arch, device)
    same_inputs = (pair for pair in forms if pair[1].usable and pair[1].shape and not pair[1].needs)
    others = (published(form, one.shape, arch, device) for form, one in same_inputs)
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
        f"the model predicts {one.implementation} at {one.ms:.4g} ms, {one.high_ms:.4g} at most, which is "
        "less than the published time: measure both"
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
    """Choose the form with the fastest published time. Report the model's time, to be compared with other kernels'."""
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
    reason = f"fastest of {len(timed)} predicted" if len(timed) > 1 else "the only implementation with a predicted time"
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
    words = "no time was measured, published or predicted for this shape or a near one"
    refused = "".join(f"; not {one.implementation}: {one.reason}" for one in own[: own.index(best)])
    reason = f"{words}; {best.implementation}'s own defaults{refused}"
    return replace(base, implementation=best.implementation, config=best.config, reason=reason, device="")


def _libraries_without_time(kernel: Kernel, known: Published) -> list[ConsideredImplementation]:
    """List libraries that have no time for this shape."""
    from kprof.bench.implementations import providers

    named = {one.implementation for one in known.candidates}
    why = "not measured or published near this shape; the model predicts Triton kernels only"
    return [ConsideredImplementation(name, "unknown", reason=why) for name in providers(kernel) if name not in named]


def _ordered(candidates: list[ConsideredImplementation]) -> list[ConsideredImplementation]:
    """Sort candidates: usable before unusable, the same inputs before others, timed before untimed, then by time."""
    return sorted(
        candidates,
        key=lambda one: (not (one.usable and one.runs), bool(one.needs), one.ms is None, one.ms or 0.0),
    )
