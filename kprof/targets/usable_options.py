"""The options that each kind of target uses. An option that a target cannot use is an error, not ignored."""

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
"""Command-line flags of the options that determine what is compiled or how it is launched."""

_LAUNCHED = frozenset({"grid", "lds", "num_warps", "value", "launch"})
USES: Mapping[TargetKind, frozenset[str]] = {
    TargetKind.SOURCE: frozenset(FLAGS),  # Loading shows which of the next two kinds it is.
    TargetKind.KERNEL: frozenset({"config", "shape", "case", "all_configs", "env", "value", "passes"}),
    TargetKind.FUNCTION: frozenset(
        {"config", "shape", "signature", "constexpr", "grid", "all_configs", "env", "value", "passes"}
    ),
    TargetKind.HIP: _LAUNCHED,
    TargetKind.CODE: _LAUNCHED,
    TargetKind.DIRECTORY: _LAUNCHED,
    TargetKind.CAPTURE: frozenset({"all_configs", "value"}),
    TargetKind.REPORT: frozenset(),
}

_LAUNCH = "Its file describes the launch: set sizes with --shape or --case, knobs with --config."
_SOURCE = "Nothing is compiled here: give the kernel's source, as FILE.py::FUNCTION or a bundled kernel's name."
_INSTEAD: Mapping[TargetKind, str] = {
    TargetKind.KERNEL: _LAUNCH,
    TargetKind.FUNCTION: "It has no cases: its sizes are values of its arguments, --signature with --shape M=4096.",
    TargetKind.HIP: "clang compiles it for the --arch architecture.",
    TargetKind.CODE: _SOURCE,
    TargetKind.DIRECTORY: _SOURCE,
    TargetKind.CAPTURE: "It contains the launches that the program made: record the program with other values, "
    "or give the kernel's source as FILE.py::FUNCTION.",
    TargetKind.REPORT: "It is the result of a finished analysis: analyse the kernel again.",
}


def given(options: CompileOptions) -> list[str]:
    """Return the names of options that were set; 0 counts as set."""
    values = {name: getattr(options, name, None) for name in FLAGS}
    return [name for name, value in values.items() if value not in ({}, (), None, "") and value is not False]


def check(kind: TargetKind, what: str, options: Collection[str]) -> None:
    """Check that a target uses each of the options.

    Args:
        kind: kind of the target.
        what: its name or path.
        options: names of fields of :class:`kprof.options.groups.CompileOptions` that were set.

    Raises:
        TargetError: if it does not use one of them.
    """
    wrong = [FLAGS[name] for name in options if name in FLAGS and name not in USES[kind]]
    if wrong:
        raise TargetError(f"{what} is {kind.value} and does not use {' and '.join(wrong)}", hint=_INSTEAD[kind])


def usable(target: TargetLike, options: CompileOptions) -> CompileOptions:
    """Return the options for one side of a comparison; options that the side's target does not use keep their defaults.

    Raises:
        TargetError: if the target does not exist.
    """
    kind = resolve(target).kind
    default = CompileOptions()
    names = vars(default).keys() & FLAGS.keys() - USES[kind]
    return replace(options, **{name: getattr(default, name) for name in names})


def check_any(targets: Iterable[TargetLike], options: CompileOptions) -> None:
    """Check that at least one of several targets uses each option.

    Raises:
        TargetError: if no target uses an option, or a target does not exist.
    """
    found = [resolve(target) for target in targets]
    used = frozenset().union(*(USES[target.kind] for target in found))
    wrong = [name for name in given(options) if name not in used]
    for target in found[:1] if wrong else ():
        check(target.kind, target.text, wrong)
