"""``kprof validate``: compare the performance model with measurements."""

import typer

from kprof.cli._arguments import TargetsArgument
from kprof.cli._options import takes_options
from kprof.cli._programs import program_of
from kprof.options.kernels import ValidateOptions
from kprof.output.terminal import terminal
from kprof.reporters.outputs import Outputs

HELP = "Compare the model's time and loops with measurements."

_EXIT = {"confirmed": 0, "refuted": 1, "cannot tell": 2}


@takes_options("validation", compiles=True)
def command(targets: TargetsArgument, options: ValidateOptions, outputs: Outputs) -> None:
    """Compare measured and modelled values side by side: the error of the model in total and in each loop.

    Exit codes: 0 each time is within the model's range, 1 a time is outside of it, 2 cannot tell, because another build
    or launch was measured, or because there is only a thread trace.

    TARGET may be a folder of kprof bench --keep, which contains the measured times and the kernels with their launches.

    Example:  kprof validate gemm --shape M=4096,N=4096,K=4096 --counters results/

    Example:  kprof validate kept/
    """
    from kprof.api.validate import validate

    named, program = program_of(targets)
    found = validate(*named, options=options, program=program)

    def show_kernels() -> None:
        from kprof.reporters.validation_text import show

        show(found.kernels, terminal(no_color=outputs.no_color))

    outputs.tell(found, show_kernels)
    raise typer.Exit(_EXIT[found.standing])
