"""``kprof view``: serve a page that recompiles a kernel when a knob is changed."""

import sys

import typer

from kprof.cli._arguments import TargetsArgument
from kprof.cli._options import takes_options
from kprof.cli._programs import program_of
from kprof.options.kernels import ViewOptions
from kprof.reporters.outputs import Outputs

HELP = "A page in your browser: change a kernel's knobs, and see figures, source and instructions change."


@takes_options(compiles=True)
def command(targets: TargetsArgument, options: ViewOptions, outputs: Outputs) -> None:
    """Serve a page of kernels to this machine's browser, until Ctrl-C. No GPU is used.

    Each knob is a list of its values; panes show Python, TTIR, TTGIR, LLVM IR and assembly side by side, and are
    updated when a file is saved. Only this machine can reach the page, and only with the token in the printed address.

    Example:  kprof view my.py::fn --arch MI300X --signature '*fp16,*fp16,i32:16' --constexpr BLOCK=1024
    """
    from kprof.api.live.view.serving import serve
    from kprof.errors import TargetError

    targets, program = program_of(targets)
    if program is not None:
        command_line = " ".join(("python", targets[0].partition("::")[0], *program))
        hint = f"kprof capture -o FOLDER -- {command_line}; kprof view FOLDER"
        raise TargetError("kprof view runs no program, but can show a recorded one", hint=hint)

    def tell(address: str) -> None:
        print(
            address
            if outputs.quiet
            else f"{address}\nOnly this machine can open it, with the whole address. Ctrl-C ends."
        )
        sys.stdout.flush()
        if options.browser:
            import webbrowser

            webbrowser.open(address)

    try:
        serve(targets, options, tell=tell)
    except KeyboardInterrupt:
        # Ctrl-C is the normal way to end the server.
        raise typer.Exit(0) from None
