"""``kprof diff``: what changed between two compiles, and why it got worse."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Annotated

import typer

from kprof.cli._format_options import format_options
from kprof.cli.common import (
    ArchOption,
    ConfigOption,
    JobsOption,
    NoColorOption,
    QuietOption,
    ShapeOption,
    VerboseOption,
)
from kprof.errors import KprofError
from kprof.inputs.assignments import assignments, listed
from kprof.output.status_line import StatusLine
from kprof.output.terminal import terminal
from kprof.output.writing import log
from kprof.reporters.outputs import NO_OUTPUTS, Outputs

if TYPE_CHECKING:
    from kprof.diffing.build import Input
    from kprof.diffing.document import Diff
    from kprof.diffing.limits import Limits
    from kprof.targets.options import Options

HELP = "Compare two compiles, or one kernel under several Tritons, and explain what got worse."

_EXIT = {"ok": 0, "regression": 1, "cannot_tell": 2}


@format_options("diff")
def command(
    targets: Annotated[
        list[str],
        typer.Argument(
            metavar="TARGET",
            help="Two of these, old and new: a --json report, a capture or Triton cache directory, an .amdgcn, .hsaco "
            "or .co file, a kernel. Or one kernel, or capture, with --triton.",
        ),
    ],
    triton: Annotated[
        list[str],
        typer.Option(
            "--triton",
            "-t",
            help="A Triton to compile with, old to new; give it two or more times. 'installed' is the running one.",
            metavar="VERSION",
        ),
    ] = [],
    arch: ArchOption = "",
    config: ConfigOption = [],
    shape: ShapeOption = [],
    case: Annotated[str | None, typer.Option("--case", help="One of the kernel's named shapes.")] = None,
    all_configs: Annotated[
        bool, typer.Option("--all-configs", help="Each configuration that the kernel lists.")
    ] = False,
    signature: Annotated[
        str | None, typer.Option("--signature", help="Argument types of your own kernel: '*fp16:16,*fp16,i32'.")
    ] = None,
    constexpr: Annotated[
        list[str], typer.Option("--constexpr", help="Compile-time arguments: BLOCK=1024.", metavar="K=V,...")
    ] = [],
    env: Annotated[
        list[str], typer.Option("--env", help="Triton's environment switches for this compile.", metavar="K=V,...")
    ] = [],
    explain: Annotated[
        bool | None,
        typer.Option(
            "--explain/--no-explain",
            help="Look for cause and cures by recompiling; on by default with --triton, possible with two captures.",
        ),
    ] = None,
    budget: Annotated[
        float, typer.Option("--budget", help="Seconds for explanations; no compile is begun afterwards.", min=1)
    ] = 60.0,
    fail_on: Annotated[
        str, typer.Option("--fail-on", help="Exit with 1 on a change for the worse of: note, warning or error.")
    ] = "warning",
    tolerance: Annotated[
        list[str],
        typer.Option("--tolerance", help="What may get worse: vgpr_spills=4,loop_instructions=20%.", metavar="K=V,..."),
    ] = [],
    outputs: Outputs = NO_OUTPUTS,
    jobs: JobsOption = 0,
    verbose: VerboseOption = 0,
    quiet: QuietOption = False,
    no_color: NoColorOption = False,
) -> None:
    """Compare two compiles, or one kernel under several Tritons, and explain what got worse. No GPU is used.

    kprof diff old.json new.json

    kprof diff gemm --arch gfx950 --triton 3.6.0 --triton 3.9.0

    Exit codes: 0 nothing is worse, 1 something is, 2 cannot tell.
    """
    from kprof.targets.options import Options

    options = Options(
        archs=tuple(listed(arch)),
        config=assignments(config, "--config"),
        shape=assignments(shape, "--shape"),
        case=case,
        all_configs=all_configs,
        signature=signature,
        constexprs=assignments(constexpr, "--constexpr"),
        environment={name: str(value) for name, value in assignments(env, "--env").items()},
        jobs=jobs,
    )
    limits = _limits(fail_on, tolerance)
    versions = _versions(triton)
    if versions:
        document = _tritons(targets, versions, options, limits, 0.0 if explain is False else budget)
    else:
        document = _two(targets, options, limits, budget if explain else 0.0)
    outputs.write(document, lambda: _show(document, verbose=verbose, quiet=quiet, no_color=no_color))
    raise typer.Exit(_EXIT[document.verdict.status])


def _limits(fail_on: str, tolerance: list[str]) -> "Limits":
    from kprof.diffing.limits import Limits, tolerances
    from kprof.findings import Severity

    try:
        return Limits(Severity(fail_on), tolerances(tolerance))
    except ValueError:
        raise KprofError(f"--fail-on takes note, warning or error, got {fail_on!r}") from None


def _versions(triton: list[str]) -> list[str]:
    """The releases asked for, in order."""
    from kprof.compiler.installations import normalise

    named = [part for text in triton for part in listed(text)]
    versions = [normalise(name) for name in named]
    if len(versions) == 1:
        raise KprofError(
            "one --triton alone is nothing to compare with",
            hint=f"--triton installed --triton {named[0]} compares with the running one.",
        )
    twice = {version for version in versions if versions.count(version) > 1}
    if twice:
        raise KprofError(f"--triton names {', '.join(sorted(twice))} twice")
    return versions


def _tritons(targets: list[str], versions: list[str], options: "Options", limits: "Limits", budget: float) -> "Diff":
    from pathlib import Path

    from kprof.diffing.build import diff
    from kprof.targets.recompile import is_recorded
    from kprof.targets.target import Kind
    from kprof.targets.usable_options import check, given
    from kprof.tuning.trials.tritons import Tritons

    if len(targets) != 1:
        raise KprofError("with --triton one kernel is compared with itself: name one target")
    place = Path(targets[0].partition("::")[0])
    if is_recorded(targets[0]):
        check(Kind.CAPTURE, targets[0], given(options))
    elif place.exists() and place.suffix != ".py":
        raise KprofError(
            "this is compiled already: another Triton cannot compile it again",
            path=targets[0],
            hint="--triton takes a bundled kernel, FILE.py::FUNCTION or a capture. Two caches are compared as: "
            "kprof diff A B",
        )
    with StatusLine() as status, Tritons(targets[0], options, versions, _teller(status)) as tritons:
        sides = tritons.sides()
        explained = tritons.explanations(sides, limits, budget) if budget else {}
        status.clear()
        recorded = [f"compiled from the TTIR that {targets[0]} holds"] if is_recorded(targets[0]) else []
        return diff(sides, limits, explained, recorded)


def _two(targets: list[str], options: "Options", limits: "Limits", budget: float) -> "Diff":
    from kprof.diffing.build import diff
    from kprof.diffing.sides import labels, side
    from kprof.targets.recompile import is_recorded
    from kprof.targets.usable_options import check_any

    if len(targets) != 2:
        raise KprofError(
            f"two things are compared, got {len(targets)}",
            hint="kprof diff OLD NEW, or kprof diff KERNEL --triton 3.6.0 --triton 3.9.0",
        )
    check_any(targets, options)
    captures = all(map(is_recorded, targets))
    if budget and not captures:
        raise KprofError("explanations recompile the kernel: that takes --triton, or two captures")
    with StatusLine() as status:
        tell = _teller(status)
        sides = [side(named, options, tell) for named in labels(*targets)]
        found = diff(sides, limits)
        if found.verdict.status != "regression":
            return found
        if not budget:
            return diff(sides, limits, notes=_upgrade(sides, targets if captures else ()))
        from kprof.tuning.trials.captures import explain_captures

        explained, notes = explain_captures(targets, sides, options, limits, budget=budget, tell=tell)
    return diff(sides, limits, explained, notes)


def _upgrade(sides: "list[Input]", targets: Sequence[str] = ()) -> list[str]:
    """Where two Tritons made the sides: how to find out why something got worse.

    Args:
        sides: what is compared.
        targets: the two captures; empty for anything else.
    """
    versions = [sorted({k.triton for k in side.kernels if isinstance(k.triton, str)}) for side in sides]
    if versions[0] == versions[1] or not all(len(found) == 1 for found in versions):
        return []
    (old,), (new,) = versions
    how = f"{' '.join(targets)} --explain" if targets else f"KERNEL --triton {old} --triton {new}"
    return [f"another Triton made the new side; why a kernel got worse: kprof diff {how}"]


def _teller(status: StatusLine) -> Callable[[str], None]:
    """Tells steps on a line that the next one replaces; slow ones are told in a log too."""

    def tell(text: str) -> None:
        if status.terminal:
            status.draw(text)
        elif text.startswith(("getting", "waiting")):
            log(text)

    return tell


def _show(document: "Diff", *, verbose: int, quiet: bool, no_color: bool) -> None:
    from kprof.reporters.diff_text import DiffTextReporter

    reporter = DiffTextReporter(terminal(no_color=no_color), verbose)
    if quiet:
        reporter.verdict(document)
    else:
        reporter.show(document)
