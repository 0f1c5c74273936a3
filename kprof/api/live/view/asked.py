"""What the page may ask, read strictly: an unknown field, a wrong type or too much of anything is refused."""

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Literal, TypeVar

import msgspec

from kprof.api.live.listings import STAGES
from kprof.errors import KprofError
from kprof.options.groups import SearchOptions

MOST_BYTES = 64 * 1024
"""Of a request; those of the page have some hundred."""

Name = Annotated[str, msgspec.Meta(min_length=1, max_length=100)]
Value = int | float | bool | Annotated[str, msgspec.Meta(max_length=200)] | None
Gpu = Annotated[str, msgspec.Meta(pattern=r"^[A-Za-z0-9_.-]{0,40}\Z")]
Release = Annotated[str, msgspec.Meta(pattern=r"^[A-Za-z0-9.]{0,40}\Z")]
Values = Annotated[dict[Name, Value], msgspec.Meta(max_length=100)]


class Asked(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """A question about one configuration of one target.

    Attributes:
        target: position among the targets that the server was started with: no path is ever taken from a request.
        arch: product or architecture; as the server was started when empty.
        case: one of the kernel's named shapes; as the server was started when ``None``.
        config, constexpr, shape: on top of what the server was started with.
        kernel: position among the target's kernels, for a listing.
        stage: of a listing.
        triton: release that compiles; the installed one when empty.
        budget: seconds after which a search for better knobs begins no compile.
    """

    target: Annotated[int, msgspec.Meta(ge=0, le=10_000)] = 0
    arch: Gpu = ""
    case: Name | None = None
    config: Values = {}
    constexpr: Values = {}
    shape: Values = {}
    kernel: Annotated[int, msgspec.Meta(ge=0, le=100_000)] = 0
    stage: str = ""
    triton: Release = ""
    budget: Annotated[float, msgspec.Meta(ge=1, le=600)] = SearchOptions().budget


class AskedLanding(Asked, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """A question about one finding of a report: its rule, its location, and the loop and cause of its evidence."""

    rule: Annotated[str, msgspec.Meta(pattern=r"^[A-Z]{2}[0-9]{3}\Z")] = ""
    file: Annotated[str, msgspec.Meta(max_length=4096)] | None = None
    line: Annotated[int, msgspec.Meta(ge=0, le=1 << 31)] | None = None
    loop: Name | None = None
    cause: Name | None = None


class AskedPair(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Two questions about one target, to be compared."""

    old: Asked
    new: Asked


class AskedOccupancy(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What a kernel would take: registers of a lane, bytes of LDS and wavefronts of a workgroup.

    ``curve`` is the one that it is drawn over.
    """

    arch: Gpu
    vgpr: Annotated[int, msgspec.Meta(ge=1, le=4096)]
    agpr: Annotated[int, msgspec.Meta(ge=0, le=4096)]
    lds: Annotated[int, msgspec.Meta(ge=0, le=1 << 24)]
    num_warps: Annotated[int, msgspec.Meta(ge=1, le=128)]
    curve: Literal["vgpr", "lds", "num-warps"]


Kind = TypeVar("Kind", Asked, AskedLanding, AskedPair, AskedOccupancy)


def read(body: bytes, kind: type[Kind]) -> Kind:
    """A request's body.

    Raises:
        KprofError: it is no such question.
    """
    try:
        return msgspec.json.decode(body, type=kind)
    except (msgspec.MsgspecError, ValueError, RecursionError) as error:
        raise KprofError(f"this is no question: {error}") from None


MEASURED = ("counters", "trace", "thread_trace")
"""Options that name measurements; they belong to a report, and the last one to a listing, too."""


def arguments(asked: Asked, targets: Sequence[str], base: Mapping[str, Any]) -> dict[str, Any]:
    """Arguments of :func:`kprof.analyze` for a question, without measurements.

    Args:
        asked: the question.
        targets: of the server.
        base: options that the server was started with.

    Raises:
        KprofError: there is no such target.
    """
    if asked.target >= len(targets):
        raise KprofError(f"there is no target {asked.target + 1}, there are {len(targets)}")
    found = {name: value for name, value in base.items() if name not in MEASURED}
    found["target"] = targets[asked.target]
    if asked.arch:
        found["arch"] = asked.arch
    if asked.case is not None:
        found["case"] = asked.case
    for name in ("config", "constexpr", "shape"):
        found[name] = {**(base.get(name) or {}), **getattr(asked, name)}
    # What is not set is not sent: some targets take none of these options.
    return {name: value for name, value in found.items() if value not in (None, "", {}, [])}


def report_arguments(asked: Asked, targets: Sequence[str], base: Mapping[str, Any]) -> dict[str, Any]:
    """The same with what was measured.

    Raises:
        KprofError: there is no such target.
    """
    measured = {name: base[name] for name in MEASURED if base.get(name)}
    return {**arguments(asked, targets, base), **measured}


def listing_arguments(asked: Asked, targets: Sequence[str], base: Mapping[str, Any]) -> dict[str, Any]:
    """The same for one stage of one kernel.

    Raises:
        KprofError: there is no such target or stage.
    """
    if asked.stage not in STAGES:
        raise KprofError(f"no stage {asked.stage!r}", hint=f"there are {', '.join(STAGES)}")
    traced = {"thread_trace": base["thread_trace"]} if base.get("thread_trace") else {}
    return {**arguments(asked, targets, base), **traced, "stage": asked.stage, "kernel": asked.kernel}


def kernel_arguments(asked: Asked, targets: Sequence[str], base: Mapping[str, Any]) -> dict[str, Any]:
    """The same for one kernel.

    Raises:
        KprofError: there is no such target.
    """
    return {**arguments(asked, targets, base), "kernel": asked.kernel}


def landing_arguments(asked: AskedLanding, targets: Sequence[str], base: Mapping[str, Any]) -> dict[str, Any]:
    """The same for one finding. Its file is only compared with those of the instructions.

    Raises:
        KprofError: there is no such target.
    """
    names = ("rule", "file", "line", "loop", "cause")
    return {**kernel_arguments(asked, targets, base), **{name: getattr(asked, name) for name in names}}


def difference_arguments(asked: AskedPair, targets: Sequence[str], base: Mapping[str, Any]) -> dict[str, Any]:
    """Arguments of the session's ``difference``; stage and kernel are those of the first question.

    Raises:
        KprofError: there is no such target or stage, or these are two targets.
    """
    if asked.old.stage not in STAGES:
        raise KprofError(f"no stage {asked.old.stage!r}", hint=f"there are {', '.join(STAGES)}")
    return {**pair_arguments(asked, targets, base), "stage": asked.old.stage, "kernel": asked.old.kernel}


def two_targets() -> KprofError:
    """Only configurations of one target are compared."""
    return KprofError("two targets cannot be compared here", hint="kprof diff compares reports of any two.")


def pair_arguments(asked: AskedPair, targets: Sequence[str], base: Mapping[str, Any]) -> dict[str, Any]:
    """Arguments of the session's ``compare``.

    Raises:
        KprofError: there is no such target, or these are two.
    """
    if asked.old.target != asked.new.target:
        raise two_targets()
    old, new = (arguments(one, targets, base) for one in (asked.old, asked.new))
    new.pop("target")
    return {"target": old.pop("target"), "old": old, "new": new}


def advice_arguments(asked: Asked, targets: Sequence[str], base: Mapping[str, Any]) -> dict[str, Any]:
    """Arguments of :func:`kprof.advise`, of a kernel with cases.

    Raises:
        KprofError: there is no such target, or it is launched as the command line says and has no cases.
    """
    given = arguments(asked, targets, base)
    if stays := [name for name in ("signature", "constexpr", "grid") if name in given]:
        raise KprofError(
            f"better knobs are looked for where a kernel says how it is launched, and not by {', '.join(stays)}",
            hint="kprof advise FILE.py::FUNCTION takes the grid as a formula of the knobs.",
        )
    return {**given, "budget": asked.budget, "run": False}
