"""Published times as candidates."""

from typing import Any, NamedTuple

from kprof.bench.published import rows
from kprof.errors import KprofError
from kprof.hardware.machine import product_in
from kprof.kernel_spec import Kernel, Shape
from kprof.tuning.choice.distance import distance, too_far
from kprof.tuning.choice.model import ConsideredImplementation

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
    found = [_candidate(name, row, kernel, shape, arch) for name, row in best.items()]
    found.sort(key=lambda one: one.ms or 0.0)
    return Published(found, case, shapes[case], gap, device)


def _candidate(name: str, row: dict[str, Any], kernel: Kernel, shape: Shape, arch: str) -> ConsideredImplementation:
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
        config = form.configure(arch, None, shape)
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
