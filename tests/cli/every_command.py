"""Every command once, in places that are hard on it; a process that was warmed up forks a child for each.

Run as a program with a scratch folder: a line of JSON for each command and place.
"""

import io
import json
import os
import shutil
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
ARTEFACTS = ROOT / "tests" / "artifacts"
sys.path[:0] = [str(ROOT), str(ROOT / "analyzers")]
PROGRAM = "import sys\nsys.exit(0)\n"

SAMPLES = {
    "TARGET": "k.amdgcn",
    "[TARGET]": "k.amdgcn",
    "KERNEL": "softmax",
    "FILE": "candidate.py",
    "LAYOUT": "#ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [8, 8], warpsPerCTA = [4, 1], order = [1, 0]}>",
    "MODEL": str(ROOT / "tests/artifacts/model_configs/qwen3-8b"),
    "name": "gfx942",
    "rule": "KP301",
    "target": "softmax",
    "before": "trace.json",
    "after": "trace.json",
}
"""By metavar, or by name where there is none: an argument of a command."""
SMALL = {
    "--budget": ("0.01",),
    "--check-only": (),
    "--force": (),
    "--no-browser": (),
    "--no-predict": (),
    "--reference": ("softmax",),
    "--server": ("vllm",),
}
"""Options that keep a command small, or that it needs, wherever one has them."""
OWN: dict[str, tuple[str, ...]] = {
    "bisect": ("--good", "3.6.0", "--bad", "3.6.0"),
    "capture": ("-o", "recorded", "--", sys.executable, "program.py"),
    "counters diff": ("counter_collection_1.csv", "counter_collection_1.csv", "--arch", "gfx942"),
    "counters metrics": ("counter_collection_1.csv", "--arch", "gfx942"),
    "counters roofline": ("counter_collection_1.csv", "--arch", "gfx942"),
    "diff": ("k.amdgcn", "k.amdgcn"),
    "ingest counters": ("counter_collection_1.csv",),
    "ingest mlir": ("k.ttgir",),
    "ingest results": ("tunableop.csv",),
    "ingest thread-trace": ("code.json",),
    "ingest tunableop": ("tunableop.csv",),
    "lint": ("configs",),
    "oracle": ("--timeout", "1"),
    "profile": ("--", sys.executable, "program.py"),
    "report": ("-o", "page.html"),
    "trace report": ("-o", "page.html"),
    "tune": ("-j", "1", "-o", "out"),
    "validate": ("--counters", "counter_collection_1.csv"),
}
"""What follows from no option or argument: the files of a format, a program, a pair."""


def derived() -> dict[str, tuple[str, ...]]:
    """Every command of the program with what follows it; one that is added stands here by itself."""
    from typer.main import get_command

    from kprof.cli.app import app

    found: dict[str, tuple[str, ...]] = {}
    waiting: list[tuple[tuple[str, ...], Any, Any]] = [((), get_command(app), None)]
    for path, command, parent in waiting:
        if not hasattr(command, "list_commands"):
            found[" ".join(path)] = _arguments(" ".join(path), command)
            continue
        context = command.context_class(command, info_name=path[-1] if path else "kprof", parent=parent)
        names = command.list_commands(context)
        waiting += [((*path, name), command.get_command(context, name), context) for name in names]
    return found


def _arguments(path: str, command: Any) -> tuple[str, ...]:
    own = OWN.get(path, ())
    named = [one for one in command.params if one.param_type_name == "argument"]
    # A program and files of a format are its own; a configuration or a document that need not be named is left out.
    files = [] if own and not own[0].startswith("-") else [SAMPLES.get(one.metavar or one.name) for one in named]
    if path.startswith(("trace ", "ingest trace")) and files:
        files = [file or "trace.json" for file in files]
    flags = {flag for one in command.params for flag in (*one.opts, *one.secondary_opts)}
    # There a budget is for --tune alone.
    flags -= {"--budget"} if path == "trace ops" else set()
    small = [word for flag, values in SMALL.items() if flag in flags for word in (flag, *values)]
    gpu = ["--arch", "MI300X"] if path == "configs" else []
    if "--" in own:
        return (*small, *own)
    return (*[file for file in files if file], *small, *gpu, *own)


COMMANDS = derived()
"""By command, what follows it in a folder that :func:`furnish` has furnished."""
SILENT = frozenset({"serve lsp", "serve mcp", "capture", "cache clear"})
"""Those that may have nothing to say on standard output."""


def furnish(folder: Path) -> None:
    """Put what the commands read into a folder."""
    sys.path[:0] = [str(ROOT), str(ROOT / "analyzers"), str(ROOT / "servers"), str(ROOT / "validation")]
    from damage_readers import _CODE, _TUNABLE, _VLLM, TRACE

    folder.mkdir(parents=True, exist_ok=True)
    shutil.copy(ARTEFACTS / "gfx942" / "scaled_exp.triton-3.9.0.amdgcn", folder / "k.amdgcn")
    shutil.copy(ARTEFACTS / "rocprof" / "v3" / "counter_collection_1.csv", folder)
    shutil.copy(next((ARTEFACTS / "mlir").glob("matmul.gfx942.*.ttgir")), folder / "k.ttgir")
    (folder / "program.py").write_text(PROGRAM)
    (folder / "trace.json").write_text(TRACE)
    (folder / "code.json").write_text(_CODE)
    (folder / "tunableop.csv").write_text(_TUNABLE)
    (folder / "configs").mkdir(exist_ok=True)
    (folder / "configs" / "E=8,N=14336,device_name=AMD_Instinct_MI300X.json").write_text(_VLLM)
    (folder / "kprof.toml").write_text(
        'arch = ["gfx942"]\n[budget]\nmax_vgpr_spills = 0\n[[kernel]]\ntarget = "k.amdgcn"\n'
    )


def main(arguments: tuple[str, ...]) -> None:
    """The program; never returns."""
    from kprof.cli.app import main as program

    sys.argv = ["kprof", *arguments]
    program()


def streams(out: int | None, err: int, encoding: str) -> None:
    """Standard streams as the interpreter makes them at its start."""
    null = os.open(os.devnull, os.O_RDWR)
    os.dup2(null, 0)
    if null > 2:
        os.close(null)
    os.dup2(err, 2)
    sys.stdin = io.TextIOWrapper(open(0, "rb", closefd=False))  # noqa: SIM115 - a stream
    sys.stderr = io.TextIOWrapper(open(2, "wb", 0, closefd=False), encoding, "backslashreplace", write_through=True)  # noqa: SIM115
    if out is None:
        os.close(1)
        sys.stdout = None  # type: ignore[assignment]
        return
    os.dup2(out, 1)
    sys.stdout = io.TextIOWrapper(open(1, "wb", closefd=False), encoding, "strict")  # noqa: SIM115


def raising(_place: Path) -> None:
    """An error of kprof itself, in whatever the command calls."""
    import typer

    def error(*_given: Any, **_named: Any) -> None:
        raise ZeroDivisionError("--token=S3CRET")

    import click

    for kind in {click.Command, *_bases(typer.core.TyperCommand)}:
        if "invoke" in vars(kind):
            kind.invoke = error  # type: ignore[method-assign]


def _bases(kind: type) -> list[type]:
    return [base for base in kind.__mro__ if base.__name__ == "Command"]


def homeless(_place: Path) -> None:
    """Neither variables nor the list of users tell a home."""
    import pwd

    def gone(number: int) -> None:
        raise KeyError(number)

    pwd.getpwuid = gone  # type: ignore[assignment]
    for name in ("HOME", "XDG_CACHE_HOME", "KPROF_CACHE_DIR", "TRITON_CACHE_DIR"):
        os.environ.pop(name, None)


def no_folder_at_home(place: Path) -> None:
    """A home in which nothing can be made, whoever asks: it is a file."""
    (place / "home").write_text("")
    for name in ("XDG_CACHE_HOME", "KPROF_CACHE_DIR", "TRITON_CACHE_DIR"):
        os.environ.pop(name, None)
    os.environ["HOME"] = str(place / "home")


def nothing(_place: Path) -> None:
    """As it is."""


Prepare = Callable[[Path], None]
PLACES: dict[str, tuple[Prepare, str, str]] = {
    "plain": (nothing, "file", "utf-8"),
    "raises": (raising, "file", "utf-8"),
    "reader left": (nothing, "broken pipe", "utf-8"),
    "output closed": (nothing, "closed", "utf-8"),
    "output full": (nothing, "/dev/full", "utf-8"),
    "latin-1": (nothing, "file", "latin-1"),
    "ascii": (nothing, "file", "ascii"),
    "no home": (homeless, "file", "utf-8"),
    "a home that takes nothing": (no_folder_at_home, "file", "utf-8"),
    "not UTF-8": (nothing, "file", "utf-8"),
}
"""By name: what is prepared in the child, what standard output is, and its encoding."""


def child(command: str, place: str, folder: Path) -> dict[str, Any]:
    """Run a command in a place, and say how it ended."""
    prepare, output, encoding = PLACES[place]
    work = folder / "work"
    arguments = COMMANDS[command]
    if place == "not UTF-8":
        work = Path(os.fsdecode(os.fsencode(folder) + b"/caf\xe9"))
        arguments = tuple(str(work / a) if (work / a).exists() else a for a in arguments)
    began = time.monotonic()
    number = os.fork()
    if not number:
        os.chdir(work)
        os.environ.update(KPROF_CACHE_DIR=str(folder / "cache"), TMPDIR=str(folder / "tmp"), NO_COLOR="1")
        out: int | None = None
        if output == "broken pipe":
            reading, out = os.pipe()
            os.close(reading)
        elif output == "/dev/full":
            out = os.open(output, os.O_WRONLY)
        elif output == "file":
            out = os.open(folder / "out.txt", os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
        err = os.open(folder / "err.txt", os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
        code = 99
        try:
            streams(out, err, encoding)
            prepare(folder)
            main((*command.split(), *arguments))
        except SystemExit as stop:
            code = 0 if stop.code is None else stop.code if isinstance(stop.code, int) else 98
        except BaseException:  # noqa: BLE001 - reported as a traceback
            import traceback

            os.write(2, traceback.format_exc().encode(errors="replace"))
        finally:
            # As the interpreter ends: what is still held is written then.
            for stream in (sys.stdout, sys.stderr):
                try:
                    if stream is not None:
                        stream.flush()
                except (OSError, ValueError) as error:
                    os.write(2, f"Traceback at the end: {error}".encode())
            os._exit(code)
    _, status = os.waitpid(number, 0)
    return {
        "command": command,
        "place": place,
        "code": os.waitstatus_to_exitcode(status),
        "seconds": round(time.monotonic() - began, 2),
        "out": (folder / "out.txt").read_text(errors="replace") if output == "file" else "",
        "err": (folder / "err.txt").read_text(errors="replace"),
    }


def sweep(folder: Path, commands: list[str], places: list[str]) -> None:
    """Every command in every place."""
    furnish(folder / "work")
    shutil.copytree(folder / "work", os.fsdecode(os.fsencode(folder) + b"/caf\xe9"), dirs_exist_ok=True)
    (folder / "tmp").mkdir(exist_ok=True)
    for command in commands:
        for place in places:
            print(json.dumps(child(command, place, folder)), flush=True)


if __name__ == "__main__":
    sys.path[:0] = [str(ROOT), str(ROOT / "analyzers"), str(ROOT / "servers")]

    sweep(Path(sys.argv[1]), json.loads(sys.argv[2]) or list(COMMANDS), json.loads(sys.argv[3]) or list(PLACES))
