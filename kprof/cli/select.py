"""``kprof select``: choose the implementation and configuration for a shape."""

from kprof.cli._arguments import KernelArgument
from kprof.cli._options import takes_options
from kprof.options.programs import SelectOptions
from kprof.reporters.outputs import Conclusion, Outputs

HELP = "Choose the implementation and configuration for a shape."


@takes_options("select", compiles=True)
def command(kernel: KernelArgument, options: SelectOptions, outputs: Outputs) -> None:
    """Choose the implementation and configuration for a shape, and show the source of each implementation's time.

    The time comes from a table that kprof bench or kprof tune wrote, if it covers the shape; else from published times;
    else from the model, which compiles the bundled kernels. Without Triton, or with --no-predict, kprof uses the
    nearest shape in its own table of predicted times. Omitted sizes are those of the kernel's default case.

    Example:  kprof select mlstm_chunkwise --shape S=4096,DQK=64,DV=64 --arch MI300X
    """
    from kprof.api.select import document, select_by
    from kprof.reporters import select_text

    found = select_by(kernel, options)
    verdict = select_text.verdict(found)
    outputs.tell(Conclusion(verdict, document(found)), lambda: print("\n".join(select_text.lines(found))))
