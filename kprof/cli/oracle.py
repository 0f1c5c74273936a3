"""``kprof oracle``: candidates for a kernel judged without a GPU, as JSON."""

from pathlib import Path
from typing import Annotated

import typer

from kprof.api.defaults import DEFAULT_GPU
from kprof.cli._completion import architectures
from kprof.cli.common import JobsOption
from kprof.output.writing import log

HELP = "Judge candidates for a kernel: compiled, right, predicted time; as JSON, for agents and searches."


def command(
    files: Annotated[list[Path], typer.Argument(metavar="FILE", help="Candidates, each a file of Triton functions.")],
    case: Annotated[
        str,
        typer.Option(
            "--case",
            help="A bundled kernel, or a file with a KERNEL, which is imported; @CASE for one of its shapes.",
            metavar="KERNEL[@CASE]",
        ),
    ],
    arch: Annotated[
        str,
        typer.Option("--arch", "-a", help="Architecture or product.", metavar="ARCH", autocompletion=architectures),
    ] = DEFAULT_GPU,
    jobs: JobsOption = 0,
    seconds: Annotated[
        float, typer.Option("--timeout", help="Seconds to compile a candidate, and again to run its checks.", min=0.1)
    ] = 60.0,
    memory: Annotated[int, typer.Option("--memory", help="MiB that a candidate may take.", min=1)] = 4096,
    seed: Annotated[int, typer.Option("--seed", help="Seed of the inputs that results are compared on.")] = 0,
    any_python: Annotated[
        bool,
        typer.Option("--any-python", help="Take candidates with other Python, too; such a one could fake its answer."),
    ] = False,
    allow_network: Annotated[bool, typer.Option("--allow-network", help="Leave the network to candidates.")] = False,
) -> None:
    """Judge candidates, which take the place of a kernel's Triton function, without a GPU.

    JSON on standard output; on standard error a line for people.

    Each is compiled, run in Triton's interpreter on the checks of the case, and compared with its reference. It runs in
    a process that has a folder of its own, no network, and no other files to write.

    Exit codes: 0 all are ok, 1 one is not, 2 cannot tell.

    Example:  kprof oracle try1.py try2.py --case softmax --arch MI300X
    """
    from kprof.api.oracle import document_of, oracle, summary_of

    found = oracle(
        files,
        case,
        arch,
        jobs=jobs,
        seconds=seconds,
        memory=memory << 20,
        seed=seed,
        any_python=any_python,
        allow_network=allow_network,
    )
    log(summary_of(map(str, files), found))
    print(document_of(case, arch, map(str, files), found))
    raise typer.Exit(0 if all(one.ok for one in found) else 1)
