"""Run every command of the table in docs/commands.md with placeholders filled in, as installed by ``make demo``.

No command may require another package (except torch for ``capture``, ``profile`` and ``bench``; ``doctor`` names
missing packages), end in a traceback, or have an exit code that its page does not list. Needs Triton, but no GPU, and
network only for ``kprof diff --triton``.

    .venv/bin/python validation/try_readme.py
"""

import argparse
import json
import os
import re
import shlex
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
ARTIFACTS = ROOT / "tests" / "artifacts"
ASKS = re.compile(r"pip install|is not installed|No module named")
NEED_TORCH = ("kprof capture", "kprof profile", "kprof bench")
NEED_OTHER_TRITONS = ("--triton",)
# This command's purpose is to name the packages that a machine lacks.
MAY_ASK = ("kprof doctor",)
# The search as written takes minutes; its duration is not tested here.
SHORTER = {"kprof tune": ("--budget", "10")}
# This command runs until Ctrl-C, which is sent after a while.
UNTIL_INTERRUPTED = ("--watch",)
WHILE_IN_SECONDS, LIMIT_IN_SECONDS = 20, 240
# These commands need a measurement of exactly this kernel; with any other one their verdict is "cannot tell".
MAY_END_WITH_2 = ("kprof validate",)
BLOCKED = "#ttg.blocked<{sizePerThread=[1,8], threadsPerWarp=[8,8], warpsPerCTA=[4,1], order=[1,0]}>"
KERNEL = """\
import triton
import triton.language as tl


@triton.jit
def fn(x, y, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y + offsets, tl.load(x + offsets, mask=offsets < n) * 2, mask=offsets < n)
"""
TRACE = [
    {"ph": "X", "cat": "kernel", "name": "k", "pid": 0, "tid": 7, "ts": 10.0, "dur": 5.0, "args": {"device": 0}},
    {"ph": "X", "cat": "cpu_op", "name": "aten::mm", "pid": 1, "tid": 1, "ts": 1.0, "dur": 4.0, "args": {}},
]


def commands() -> Iterator[str]:
    """Return the commands of the table, as written."""
    text = (ROOT / "docs" / "commands.md").read_text(encoding="utf-8")
    start = text.index("| you want to know | command |")
    for line in text[start : text.index("\n\n", start)].splitlines()[2:]:
        yield from re.findall(r"`(kprof [^`]*)`", line)


def filled(command: str, folder: Path) -> list[str]:
    """Return the command with its placeholders filled in."""
    places = {
        "my.py::fn": str(folder / "my.py::fn"),
        "#ttg.blocked<...>": BLOCKED,
        "OLD": str(ARTIFACTS / "gfx942/matmul.triton-3.4.0.amdgcn"),
        "NEW": str(ARTIFACTS / "gfx942/matmul.triton-3.9.0.amdgcn"),
        "TARGET": "softmax",
        "config.json": str(ARTIFACTS / "model_configs/deepseek-v3/config.json"),
    }
    kinds = {"counters": ARTIFACTS / "rocprof/v3", "trace": folder / "trace.json", "lint": folder / "configs"}
    words = shlex.split(command)
    for number, word in enumerate(words):
        if word in {"PATH", "PATH..."}:
            words[number] = str(next(path for kind, path in kinds.items() if {kind, f"--{kind}"} & set(words)))
        elif word == "...":
            words[number : number + 1] = ["--arch", "gfx942", "--vgpr", "168", "--num-warps", "4"]
        else:
            words[number] = places.get(word, word)
    return words


def run(words: list[str], folder: Path, environment: Mapping[str, str], interrupted: bool) -> tuple[int, str]:
    """Return exit code and output; a command is interrupted after a while, or killed at the time limit."""
    with subprocess.Popen(
        words, cwd=folder, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    ) as process:
        try:
            if interrupted:
                try:
                    output, _ = process.communicate(timeout=WHILE_IN_SECONDS)
                    return process.returncode or 70, output + "\nended although nothing interrupted it"
                except subprocess.TimeoutExpired:
                    process.send_signal(signal.SIGINT)
            output, _ = process.communicate(timeout=LIMIT_IN_SECONDS)
        except subprocess.TimeoutExpired:
            process.kill()
            output, _ = process.communicate()
            return 70, f"{output}\nnot over after {LIMIT_IN_SECONDS} s"
    return process.returncode, output


def main() -> int:
    """Run the commands; the exit code is 1 if a command fails."""
    argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter).parse_args()
    # Background jobs of a shell ignore SIGINT, and the commands started here would inherit that.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    failed = 0
    with tempfile.TemporaryDirectory(prefix="kprof-readme-") as name:
        folder = Path(name)
        (folder / "my.py").write_text(KERNEL)
        (folder / "trace.json").write_text(json.dumps({"schemaVersion": 1, "traceEvents": TRACE}))
        configs = folder / "configs"
        configs.mkdir()
        (configs / "E=8,N=14336,device_name=AMD_Instinct_MI300X.json").write_text(
            json.dumps(
                {
                    "1": {
                        "BLOCK_SIZE_M": 16,
                        "BLOCK_SIZE_N": 64,
                        "BLOCK_SIZE_K": 128,
                        "GROUP_SIZE_M": 1,
                        "num_warps": 4,
                        "num_stages": 2,
                        "waves_per_eu": 0,
                    }
                }
            )
        )
        (folder / "kprof.toml").write_text('[[kernel]]\ntarget = "softmax"\narch = ["gfx942"]\n')
        environment = {**os.environ, "KPROF_CACHE_DIR": str(folder / "cache"), "NO_COLOR": "1"}
        # Two commands run in parallel, because many use one core and one only waits to be interrupted. Results are
        # printed in order.
        with ThreadPoolExecutor(2) as pool:
            started: list[tuple[str, Future[tuple[int, str]] | None]] = []
            for command in commands():
                if command.startswith(NEED_TORCH) or any(word in command for word in NEED_OTHER_TRITONS):
                    started.append((command, None))
                    continue
                shorter = next((more for start, more in SHORTER.items() if command.startswith(start)), ())
                words = [sys.executable, "-m", "kprof", *filled(command, folder)[1:], *shorter]
                interrupted = any(word in command for word in UNTIL_INTERRUPTED)
                started.append((command, pool.submit(run, words, folder, environment, interrupted)))
            for command, running in started:
                if running is None:
                    print(f"left out      {command}")
                    continue
                code, output = running.result()
                asks = ASKS.search(output) and not command.startswith(MAY_ASK)
                codes = {0, 1, 2} if command.startswith(MAY_END_WITH_2) else {0, 1}
                good = code in codes and "Traceback" not in output and not asks
                failed += not good
                print(f"{'ok' if good else 'FAILED'} ({code})".ljust(14) + command)
                if not good:
                    print(output)
    return 1 if failed else 0


if __name__ == "__main__":
    raise SystemExit(main())
