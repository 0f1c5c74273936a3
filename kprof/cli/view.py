"""``kprof view``: a page that compiles and answers while a knob is turned."""

import sys
from collections.abc import Mapping
from typing import Annotated, Any

import typer

from kprof.cli._compile_options import NO_OPTIONS, TargetsArgument, compile_options
from kprof.cli._programs import program_of

HELP = "A page in your browser: turn a kernel's knobs, see figures, source and instructions follow."


@compile_options(without=["all_configs", "passes"])
def command(
    targets: TargetsArgument,
    compile_with: Mapping[str, Any] = NO_OPTIONS,
    port: Annotated[int, typer.Option("--port", help="Port of the loopback; 0: one that is free.", min=0)] = 0,
    jobs: Annotated[int, typer.Option("-j", "--jobs", help="Questions at a time, 0 for one a core.", min=0)] = 0,
    timeout: Annotated[float, typer.Option("--timeout", help="Seconds that one question may take.", min=1)] = 120.0,
    browser: Annotated[bool, typer.Option("--browser/--no-browser", help="Open the page in a browser.")] = True,
) -> None:
    """Serve a page of kernels to this machine's browser, until Ctrl-C. No GPU is used.

    Each knob is a choice of its values; panes show Python, TTIR, TTGIR, LLVM IR and assembly side by side and follow
    when a file is saved. Only this machine can reach it, and only with the token in the address that is printed.

    Example:  kprof view my.py::fn --arch MI300X --signature '*fp16,*fp16,i32:16' --constexpr BLOCK=1024
    """
    from kprof.api.live.view.serving import serve
    from kprof.errors import TargetError

    targets, program = program_of(targets)
    if program is not None:
        command_line = " ".join(("python", targets[0].partition("::")[0], *program))
        hint = f"kprof capture -o FOLDER -- {command_line}; kprof view FOLDER"
        raise TargetError("a page runs no program: it shows what was recorded of one", hint=hint)

    def tell(address: str) -> None:
        print(f"{address}\nOnly this machine can open it, with the whole address. Ctrl-C ends.")
        sys.stdout.flush()
        if browser:
            import webbrowser

            webbrowser.open(address)

    try:
        serve(targets, compile_with, port=port, jobs=jobs, timeout=timeout, tell=tell)
    except KeyboardInterrupt:
        # How it is ended.
        raise typer.Exit(0) from None
