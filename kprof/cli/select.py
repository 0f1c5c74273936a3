"""``kprof select``: which implementation and configuration to use for a shape."""

from kprof.cli._arguments import KernelArgument
from kprof.cli._options import takes_options
from kprof.options.programs import SelectOptions
from kprof.reporters.outputs import Conclusion, Outputs

HELP = "Say which implementation and configuration to use for a shape."


@takes_options("select", compiles=True)
def command(kernel: KernelArgument, options: SelectOptions, outputs: Outputs) -> None:
    """Say which implementation and configuration to use for a shape, and where each one's time comes from.

    A table that kprof bench or kprof tune wrote decides, where it covers the shape; else times that others published;
    else the model: the bundled kernels are compiled. Without Triton, or with --no-predict, it is the nearest shape of
    the table of its times that comes with kprof. Parameters that are not given are those of the kernel's default case.

    Example:  kprof select mlstm_chunkwise --shape S=4096,DQK=64,DV=64 --arch MI300X
    """
    from kprof.api.select import document, select_by
    from kprof.reporters import select_text

    found = select_by(kernel, options)
    verdict = select_text.verdict(found)
    outputs.tell(Conclusion(verdict, document(found)), lambda: print("\n".join(select_text.lines(found))))
