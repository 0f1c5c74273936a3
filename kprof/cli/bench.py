"""``kprof bench``: check and time a kernel on the GPU of this machine."""

from typing import TYPE_CHECKING

import typer

from kprof.cli._arguments import KernelArgument
from kprof.cli._options import takes_options
from kprof.options.programs import BenchOptions
from kprof.output.headline import tell_first, tell_last
from kprof.output.quantities import duration
from kprof.output.writing import log
from kprof.reporters.outputs import Outputs

if TYPE_CHECKING:
    from kprof.api.measure import Measurement

HELP = "Check and time a kernel on a real GPU, against torch and other libraries."


@takes_options("bench")
def command(kernel: KernelArgument, options: BenchOptions, outputs: Outputs) -> None:
    """Check and time a kernel on a real GPU, ROCm or CUDA.

    Results are first compared with the kernel's reference; a case with a wrong result is reported but not timed.

    --case also accepts the first part of several names (llama405b), or all. -o draws the rates over the cases, as SVG.

    Exit codes: 0 success, 1 a wrong result, 2 a measurement failed or there is no GPU.

    Example:  kprof bench rmsnorm_residual_fp8 --case llama405b --provider triton,tuned,torch
    """
    from kprof.api.measure import measure
    from kprof.reporters.bench_text import show

    found = measure(kernel, options=options, progress=None if outputs.quiet else _progress)
    alone = outputs.to_stdout or options.output == "-"
    silent = outputs.quiet or alone
    if not silent:
        tell_first(found.summary)
    outputs.write(found.document, lambda: None if silent else show(found.document, no_color=outputs.no_color))
    if options.output is not None:
        found.draw(options.output)
    if alone:
        log(found.summary)
    else:
        tell_last(found.summary, alone=outputs.quiet)
    raise typer.Exit(found.exit_code)


def _progress(found: "Measurement") -> None:
    what = duration(1000 * found.timing.median) if found.timing else found.status
    log(f"{found.kernel} {found.case} {found.who}: {what}")
