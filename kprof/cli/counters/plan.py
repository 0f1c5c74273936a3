"""``kprof counters plan``: plan the counters that confirm or refute findings, and the passes that collect them."""

from typing import Annotated

import typer

from kprof.cli._arguments import targets
from kprof.cli._options import takes_options
from kprof.options.kernels import CounterPlanOptions
from kprof.reporters.outputs import Outputs

HELP = "Plan the counters, in passes, that confirm or refute findings."


@takes_options("counters-plan", compiles=True)
def command(
    target: Annotated[
        str,
        typer.Argument(
            help="A finding (its rule's number or name), a metric, or a kernel as kprof analyze kernel takes it.",
            autocompletion=targets,
        ),
    ],
    options: CounterPlanOptions,
    outputs: Outputs,
) -> None:
    """Plan the counters that confirm or refute a finding or a kernel's findings, and the passes that collect them.

    Each pass is one run of the program. -o writes them as input files: rocprofv3 -i FOLDER/rocprofv3.yaml.

    Example:  kprof counters plan flash_attention --arch MI300X -o counters/
    """
    from kprof.api.counter_plan import counter_plan
    from kprof.reporters.counters_plan_text import page

    found = counter_plan(target, options=options)
    outputs.tell(found, lambda: print("\n".join(page(found.plan))))
