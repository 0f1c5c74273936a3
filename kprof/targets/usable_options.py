"""Which options a kind of target uses, in one table. An option that a target cannot use is an error, not ignored."""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import replace

from kprof.errors import TargetError
from kprof.options.groups import CompileOptions, WorkgroupOptions
from kprof.options.option import declared
from kprof.targets.target import TargetKind, TargetLike, resolve

FLAGS: Mapping[str, str] = {
    each.name: each.flag
    for each in (*declared(CompileOptions), *declared(WorkgroupOptions))
    if each.name not in {"arch", "jobs", "condition"}
}
"""Options that say what is compiled or how it is launched, as the command line calls them."""

_LAUNCHED = frozenset({"grid", "lds", "num_warps"})
USES: Mapping[TargetKind, frozenset[str]] = {
    TargetKind.SOURCE: frozenset(FLAGS),  # Known better once it is loaded, as one of the next two.
    TargetKind.KERNEL: frozenset({"config", "shape", "case", "all_configs", "env", "value", "passes"}),
    TargetKind.FUNCTION: frozenset(
        {"config", "shape", "signature", "constexpr", "grid", "all_configs", "env", "value", "passes"}
    ),
    TargetKind.HIP: _LAUNCHED,
    TargetKind.CODE: _LAUNCHED,
    TargetKind.DIRECTORY: _LAUNCHED | {"value"},
    TargetKind.CAPTURE: frozenset({"all_configs", "value"}),
    TargetKind.REPORT: frozenset(),
}

_LAUNCH = "It says itself how it is launched: sizes are set with --shape or --case, knobs with --config."
_SOURCE = "Nothing is compiled here: give the kernel's source, as FILE.py::FUNCTION or a bundled kernel's name."
_INSTEAD: Mapping[TargetKind, str] = {
    TargetKind.KERNEL: _LAUNCH,
    TargetKind.FUNCTION: "It has no cases: its sizes are values of its arguments, --signature with --shape M=4096.",
    TargetKind.HIP: "clang compiles it for what --arch says.",
    TargetKind.CODE: _SOURCE,
    TargetKind.DIRECTORY: _SOURCE,
    TargetKind.CAPTURE: "It holds launches as the program made them: record the program with other values, or give the "
    "kernel's source as FILE.py::FUNCTION.",
    TargetKind.REPORT: "It was written by an analysis that is over: analyse the kernel again.",
}


def given(options: CompileOptions) -> list[str]:
    """The fields that somebody has set; 0 is a value."""
    values = {name: getattr(options, name, None) for name in FLAGS}
    return [name for name, value in values.items() if value not in ({}, (), None, "") and value is not False]


def check(kind: TargetKind, what: str, options: Collection[str]) -> None:
    """See that a target uses each of the options.

    Args:
        kind: of the target.
        what: its name or path.
        options: fields of :class:`kprof.options.groups.CompileOptions` that are set.

    Raises:
        TargetError: it does not use one of them.
    """
    wrong = [FLAGS[name] for name in options if name in FLAGS and name not in USES[kind]]
    if wrong:
        raise TargetError(f"{what} is {kind.value} and does not use {' and '.join(wrong)}", hint=_INSTEAD[kind])


def usable(target: TargetLike, options: CompileOptions) -> CompileOptions:
    """The options without those that a target of its form does not use, for one of two sides.

    Raises:
        TargetError: there is no such target.
    """
    kind = resolve(target).kind
    default = CompileOptions()
    names = vars(default).keys() & FLAGS.keys() - USES[kind]
    return replace(options, **{name: getattr(default, name) for name in names})


def check_any(targets: Iterable[TargetLike], options: CompileOptions) -> None:
    """See that one of several targets at least uses each of the options.

    Raises:
        TargetError: none of them does, or there is no such target.
    """
    found = [resolve(target) for target in targets]
    used = frozenset().union(*(USES[target.kind] for target in found))
    wrong = [name for name in given(options) if name not in used]
    for target in found[:1] if wrong else ():
        check(target.kind, target.text, wrong)
