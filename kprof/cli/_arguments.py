"""Arguments that several commands share, and the completion of their values."""

from collections.abc import Iterable, Mapping
from typing import Annotated, Any

import typer

# Names of command parameters that contain a target, whose cases are completed.
_TARGETS = ("targets", "target", "kernel", "kernels")


def targets(incomplete: str) -> list[tuple[str, str]]:
    """Complete bundled kernels, and after ``::`` their parts."""
    from kprof.api import completion

    found = completion.kernels()
    return _beginning({name: found[name] for name in found if "::" not in name or ":" in incomplete}, incomplete)


def architectures(incomplete: str) -> list[tuple[str, str]]:
    """Complete architectures and products, also after a comma."""
    from kprof.api import completion

    return _after_comma(completion.architectures(), incomplete)


def cases(ctx: typer.Context, incomplete: str) -> list[str]:
    """Complete case names of the bundled kernels that are on the command line."""
    from kprof.api import completion

    return [case for target in _typed(ctx) for case in completion.cases(target) if case.startswith(incomplete)]


def rules(incomplete: str) -> list[tuple[str, str]]:
    """Complete identifiers of rules, also after a comma."""
    from kprof.api import completion

    return _after_comma(completion.rules(), incomplete)


def _typed(ctx: typer.Context) -> Iterable[str]:
    # While the value of an option is being completed, click leaves the arguments in ctx.args instead of assigning them
    # to parameters.
    yield from ctx.args
    for name in _TARGETS:
        given: Any = ctx.params.get(name)
        yield from [given] if isinstance(given, str) else given or ()


def _after_comma(words: Mapping[str, str], incomplete: str) -> list[tuple[str, str]]:
    head, comma, last = incomplete.rpartition(",")
    return [(f"{head}{comma}{word}", text) for word, text in _beginning(words, last)]


def _beginning(words: Mapping[str, str], start: str) -> list[tuple[str, str]]:
    return [(word, text) for word, text in words.items() if word.startswith(start)]


TargetsArgument = Annotated[
    list[str],
    typer.Argument(
        metavar="TARGET",
        help="A bundled kernel, FILE.py::FUNCTION, an .amdgcn or .s file, a .hsaco or .co file, HIP source, "
        "a Triton cache or -save-temps directory, or what kprof capture wrote.",
        autocompletion=targets,
    ),
]
TargetArgument = Annotated[
    str, typer.Argument(metavar="TARGET", help="As for kprof analyze kernel.", autocompletion=targets)
]
KernelArgument = Annotated[
    str, typer.Argument(metavar="KERNEL", help="A bundled kernel, or a file with a KERNEL.", autocompletion=targets)
]
