"""The page's queries, decoded strictly: unknown fields, wrong types and oversized values are rejected."""

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Literal, TypeVar

import msgspec

from kprof.api.live.listings import STAGES
from kprof.errors import KprofError
from kprof.options.groups import SearchOptions

MOST_BYTES = 64 * 1024
"""Maximum size of a request in bytes; the page's requests have a few hundred."""

Name = Annotated[str, msgspec.Meta(min_length=1, max_length=100)]
Value = int | float | bool | Annotated[str, msgspec.Meta(max_length=200)] | None
Gpu = Annotated[str, msgspec.Meta(pattern=r"^[A-Za-z0-9_.-]{0,40}\Z")]
Release = Annotated[str, msgspec.Meta(pattern=r"^[A-Za-z0-9.]{0,40}\Z")]
Values = Annotated[dict[Name, Value], msgspec.Meta(max_length=100)]


class ViewQuery(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """A query about one configuration of one target.

    Attributes:
        target: position among the server's targets; a request cannot name a path.
        arch: product or architecture; "" for the server's own.
        case: name of one of the kernel's shapes; ``None`` for the server's own.
        config, constexpr, shape: values that override the server's own.
        kernel: position among the target's kernels, for a listing.
        stage: compiler stage of a listing.
        triton: Triton release to compile with; "" for the installed one.
        budget: seconds after which a search for better knobs starts no further compile.
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


class FindingQuery(ViewQuery, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """A query about one finding of a report: its rule, its location, and the loop and cause of its evidence."""

    rule: Annotated[str, msgspec.Meta(pattern=r"^[A-Z]{2}[0-9]{3}\Z")] = ""
    file: Annotated[str, msgspec.Meta(max_length=4096)] | None = None
    line: Annotated[int, msgspec.Meta(ge=0, le=1 << 31)] | None = None
    loop: Name | None = None
    cause: Name | None = None


class DiffQuery(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A comparison of two configurations of one target."""

    old: ViewQuery
    new: ViewQuery


class OccupancyQuery(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A query about occupancy: registers per lane, and LDS bytes and wavefronts per workgroup.

    ``curve`` is the resource that occupancy is drawn over.
    """

    arch: Gpu
    vgpr: Annotated[int, msgspec.Meta(ge=1, le=4096)]
    agpr: Annotated[int, msgspec.Meta(ge=0, le=4096)]
    lds: Annotated[int, msgspec.Meta(ge=0, le=1 << 24)]
    num_warps: Annotated[int, msgspec.Meta(ge=1, le=128)]
    curve: Literal["vgpr", "lds", "num-warps"]


Kind = TypeVar("Kind", ViewQuery, FindingQuery, DiffQuery, OccupancyQuery)


def read(body: bytes, kind: type[Kind]) -> Kind:
    """Decode a request's body.

    Raises:
        KprofError: the body is not a query of this kind.
    """
    try:
        return msgspec.json.decode(body, type=kind)
    except (msgspec.MsgspecError, ValueError, RecursionError) as error:
        raise KprofError(f"invalid query: {error}") from None


MEASURED = ("counters", "trace", "thread_trace")
"""Options that name measurements. Reports use all of them, listings only ``thread_trace``."""


def arguments(asked: ViewQuery, targets: Sequence[str], base: Mapping[str, Any]) -> dict[str, Any]:
    """Return the arguments of :func:`kprof.analyze` for a query, without measurements.

    Args:
        asked: the query.
        targets: the server's targets.
        base: options that the server was started with.

    Raises:
        KprofError: the target does not exist.
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
    # Options that are not set are omitted, because some targets accept none of them.
    return {name: value for name, value in found.items() if value not in (None, "", {}, [])}


def report_arguments(asked: ViewQuery, targets: Sequence[str], base: Mapping[str, Any]) -> dict[str, Any]:
    """Return :func:`arguments` with the measurements.

    Raises:
        KprofError: the target does not exist.
    """
    measured = {name: base[name] for name in MEASURED if base.get(name)}
    return {**arguments(asked, targets, base), **measured}


def listing_arguments(asked: ViewQuery, targets: Sequence[str], base: Mapping[str, Any]) -> dict[str, Any]:
    """Return the arguments of the session's ``listing``: :func:`arguments` with a stage and a kernel.

    Raises:
        KprofError: the target or the stage does not exist.
    """
    if asked.stage not in STAGES:
        raise KprofError(f"no stage {asked.stage!r}", hint=f"there are {', '.join(STAGES)}")
    traced = {"thread_trace": base["thread_trace"]} if base.get("thread_trace") else {}
    return {**arguments(asked, targets, base), **traced, "stage": asked.stage, "kernel": asked.kernel}


def kernel_arguments(asked: ViewQuery, targets: Sequence[str], base: Mapping[str, Any]) -> dict[str, Any]:
    """Return :func:`arguments` with the position of a kernel.

    Raises:
        KprofError: the target does not exist.
    """
    return {**arguments(asked, targets, base), "kernel": asked.kernel}


def landing_arguments(asked: FindingQuery, targets: Sequence[str], base: Mapping[str, Any]) -> dict[str, Any]:
    """Return :func:`kernel_arguments` with a finding. Its file is compared with the instructions' files, never opened.

    Raises:
        KprofError: the target does not exist.
    """
    names = ("rule", "file", "line", "loop", "cause")
    return {**kernel_arguments(asked, targets, base), **{name: getattr(asked, name) for name in names}}


def difference_arguments(asked: DiffQuery, targets: Sequence[str], base: Mapping[str, Any]) -> dict[str, Any]:
    """Return the arguments of the session's ``difference``; both sides use the stage and the kernel of the old side.

    Raises:
        KprofError: the target or the stage does not exist, or the sides have different targets.
    """
    if asked.old.stage not in STAGES:
        raise KprofError(f"no stage {asked.old.stage!r}", hint=f"there are {', '.join(STAGES)}")
    return {**pair_arguments(asked, targets, base), "stage": asked.old.stage, "kernel": asked.old.kernel}


def two_targets() -> KprofError:
    """Create the error for a comparison of configurations of two different targets."""
    return KprofError("this view cannot compare two different targets", hint="kprof diff compares reports of any two.")


def pair_arguments(asked: DiffQuery, targets: Sequence[str], base: Mapping[str, Any]) -> dict[str, Any]:
    """Return the arguments of the session's ``compare``.

    Raises:
        KprofError: the target does not exist, or the sides have different targets.
    """
    if asked.old.target != asked.new.target:
        raise two_targets()
    old, new = (arguments(one, targets, base) for one in (asked.old, asked.new))
    new.pop("target")
    return {"target": old.pop("target"), "old": old, "new": new}


def advice_arguments(asked: ViewQuery, targets: Sequence[str], base: Mapping[str, Any]) -> dict[str, Any]:
    """Return the arguments of :func:`kprof.advise` for a kernel with cases.

    Raises:
        KprofError: the target does not exist, or options describe its launch because it has no cases.
    """
    given = arguments(asked, targets, base)
    if stays := [name for name in ("signature", "constexpr", "grid") if name in given]:
        raise KprofError(
            f"a search for better knobs needs a kernel with cases and does not support {', '.join(stays)}",
            hint="kprof advise FILE.py::FUNCTION takes the grid as a formula of the knobs.",
        )
    return {**given, "budget": asked.budget, "run": False}
