"""Compare reading a 10,000-line assembly file with llvm-mc reading the same file.

    python validation/benchmarks/isa_reader.py [FILE.amdgcn] [--lines 10000] [--repeat 15]

The sides run one after the other. llvm-mc does more work (it encodes each instruction), but in native code, and
starting its process is part of using it. The reader's own start-up time is reported separately. The budget is 60 ms.
"""

import argparse
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

ROOT = Path(__file__).parent.parent.parent
sys.path.insert(0, str(ROOT))

from kprof.inputs import amdgcn  # noqa: E402

SAMPLE = ROOT / "tests" / "artifacts" / "gfx942" / "matmul.triton-3.6.0.amdgcn"
BUDGET_MS = 60.0
_BODY_END = re.compile(r"^\.Lfunc_end0:", re.MULTILINE)


def long_text(path: Path, lines: int) -> str:
    """Return a text of about ``lines`` lines: copies of the kernel's code, each with its own labels."""
    text = path.read_text("utf-8", "replace")
    if text.count("\n") >= lines:
        return text
    begin = text.index("\n", text.index("; %bb.")) + 1
    match = _BODY_END.search(text)
    assert match is not None
    end = match.start()
    # Only the last copy may end the program, and only the first may contain definitions that must be unique.
    body = [line for line in text[begin:end].split("\n") if not line.lstrip().startswith("s_endpgm")]
    again = "\n".join(line for line in body if not line.lstrip().startswith((".file", ".Ltmp", ".cfi", ".Lfunc")))
    copies = max(0, (lines - text.count("\n")) // (again.count("\n") + 1) + 1)
    repeated = (re.sub(r"\.LBB0_(\d+)", rf".LBB{copy + 1}_\1", again) for copy in range(copies))
    return "\n".join([text[:begin], *body, *repeated, "\ts_endpgm", text[end:]])


def median_ms(action: Callable[[], object], repeat: int) -> tuple[float, float]:
    """Return median and minimum time in milliseconds."""
    times = []
    for _ in range(repeat):
        begin = time.perf_counter()
        action()
        times.append(1e3 * (time.perf_counter() - begin))
    return statistics.median(times), min(times)


def whole(text: str) -> None:
    """Read the text, and build the loops of every kernel."""
    for kernel in amdgcn.parse(text).kernels:
        assert kernel.loops is not None


def everything(text: str) -> None:
    """Read the text, and decode every instruction."""
    for kernel in amdgcn.parse(text).kernels:
        for instruction in kernel.instructions:
            assert instruction.effects is not None
            assert instruction.location is not None


def main() -> int:
    """Print times and ratios; the exit code is 1 if the budget is exceeded."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", nargs="?", type=Path, default=SAMPLE)
    parser.add_argument("--lines", type=int, default=10_000)
    parser.add_argument("--repeat", type=int, default=15)
    arguments = parser.parse_args()
    text = long_text(arguments.file, arguments.lines)
    lines = text.count("\n")
    first = time.perf_counter()
    assembly = amdgcn.parse(text)
    first_ms = 1e3 * (time.perf_counter() - first)
    instructions = sum(len(kernel.instructions) for kernel in assembly.kernels)
    print(f"{lines:,} lines, {instructions:,} instructions, {assembly.arch}")
    read = median_ms(lambda: amdgcn.parse(text), arguments.repeat)
    looped = median_ms(lambda: whole(text), arguments.repeat)
    decoded = median_ms(lambda: everything(text), max(1, arguments.repeat // 3))
    print(f"first read (tables not yet loaded)   {first_ms:8.1f} ms")
    print(f"read                                 {read[0]:8.1f} ms   best {read[1]:.1f}")
    print(f"read + control flow + loops          {looped[0]:8.1f} ms   best {looped[1]:.1f}")
    print(f"read + every operand, register, line {decoded[0]:8.1f} ms   best {decoded[1]:.1f}")
    tool = shutil.which("llvm-mc-19") or shutil.which("llvm-mc")
    if tool is not None:
        with tempfile.NamedTemporaryFile("w", suffix=".s") as file:
            file.write(re.sub(r"^\s*\.amdgcn_target.*$", "", text, flags=re.MULTILINE))
            file.flush()
            command = [tool, "-triple=amdgcn-amd-amdhsa", f"-mcpu={assembly.arch}", "-filetype=null", file.name]
            subprocess.run(command, check=True, capture_output=True)
            theirs = median_ms(lambda: subprocess.run(command, check=True, capture_output=True), arguments.repeat)
        print(f"{Path(tool).name:36} {theirs[0]:8.1f} ms   best {theirs[1]:.1f}")
        print(f"ratio, read + loops / llvm-mc        {looped[0] / theirs[0]:8.2f}")
    per_ten_thousand = looped[0] * 10_000 / lines
    print(f"budget: {per_ten_thousand:.1f} of {BUDGET_MS:.0f} ms for 10,000 lines")
    return 0 if per_ten_thousand < BUDGET_MS else 1


if __name__ == "__main__":
    sys.exit(main())
