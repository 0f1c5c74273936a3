"""``kprof oracle``: judge candidates for a kernel without a GPU, as JSON."""

from pathlib import Path
from typing import Annotated

import typer

from kprof.cli._options import takes_options
from kprof.errors import KprofError
from kprof.options.programs import OracleCommandOptions
from kprof.output.writing import log
from kprof.reporters.outputs import Outputs

HELP = "Judge candidates for a kernel: do they compile, are they correct, how fast; as JSON, for agents and searches."


@takes_options(compiles=True)
def command(
    files: Annotated[list[Path], typer.Argument(metavar="FILE", help="Candidates, each a file of Triton functions.")],
    options: OracleCommandOptions,
    outputs: Outputs,
) -> None:
    """Judge candidates, which replace a kernel's Triton function, without a GPU.

    The result is JSON on standard output, and a one-line summary on standard error.

    Each candidate is compiled, run in Triton's interpreter on the checks of the case, and compared with the reference.
    It runs in a sandboxed process without network, which can write only to its own folder.

    Exit codes: 0 all candidates are ok, 1 a candidate is not ok, 2 cannot tell.

    Example:  kprof oracle try1.py try2.py --reference softmax --arch MI300X
    """
    if options.reference is None:
        raise KprofError(
            "--reference is missing: the kernel to compare candidates with", hint="--reference KERNEL[@CASE]"
        )
    from kprof.api.oracle import document_of, gpu_of, oracle, summary_of

    found = oracle(files, options.reference, options=options)
    log(summary_of(map(str, files), found))
    if not outputs.quiet:
        print(document_of(options.reference, gpu_of(options), map(str, files), found))
    raise typer.Exit(0 if all(one.ok for one in found) else 1)
