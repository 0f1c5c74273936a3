"""``kprof demo``: analyse an attention kernel that spills registers on an MI300X, and its fix."""

from kprof.cli import analyze
from kprof.cli._options import takes_options
from kprof.options.kernels import AnalyzeCommandOptions
from kprof.output.progress import until_output
from kprof.output.writing import log
from kprof.reporters.outputs import Outputs

HELP = "See it at work: attention that spills registers on an MI300X, why, and the fix. No GPU needed."

_TARGET = "flash_attention"
_OPTIONS = AnalyzeCommandOptions(arch=("gfx942",), case="d256_s4096", config={"BLOCK_M": 128, "BLOCK_N": 64})
_COMMAND = f"kprof analyze kernel {_TARGET} --arch gfx942 --case d256_s4096 --config BLOCK_M=128,BLOCK_N=64"


@takes_options("report")
def command(outputs: Outputs) -> None:
    """Show kprof on an example: attention with head size 256 that spills registers on an MI300X, why, and the fix.

    The demo compiles the kernel and its fixes, without a GPU, and shows the output of the command that it prints first.
    """
    if not outputs.to_stdout:
        log(f"$ {_COMMAND}")
    # The printed command removed the progress line, so begin a new line for the compile.
    with until_output(f"compiling {_TARGET}"):
        analyze.run([_TARGET], _OPTIONS, outputs)
