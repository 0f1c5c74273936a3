"""Compare the launches that Triton's hook listed on an NVIDIA GPU with captures of the same programs.

Usage: ``python validation/compare_launches.py LISTED.json``, where ``validation/launches/programs.py`` wrote the list
on a machine with a GPU. Each program of the list is captured on this machine, for an MI300X, and
docs/validation/launches.md lists the agreement. Both sides need the same Triton, because signatures differ between
versions.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from kprof.captures.model import CapturedKernel
from kprof.captures.reader import read

ROOT = Path(__file__).resolve().parents[1]
PROGRAMS = Path(__file__).with_name("launches") / "programs.py"
PAGE = ROOT / "docs" / "validation" / "launches.md"
TIME_LIMIT = 1200
PARTS = ("signature", "grid", "constants", "options")

HEAD = """# Launches on an NVIDIA GPU and in captures

`validation/launches/programs.py` ran unmodified public programs on one {device} (Triton {there}, torch {torch}) and
listed what Triton's own launch hook saw; `python validation/compare_launches.py` captured the same programs without a
GPU as if on an MI300X (Triton {here}). An autotuner goes on with its first configuration on both sides. *Launches* are
those of the hook and those of the capture; *the same* have the same kernel, signature, grid, compile-time arguments,
warps and stages on both sides, where those that neither side names count as the same. What differs is listed by kernel
below, with the reason.

| program | launches: hook, capture | kernels: hook, capture | the same | but for constants and options | the rest |
|---|---:|---:|---:|---:|---:|
"""

_SHARE = "its grid is the number of processors, 132 and 304"
_TUNED = "its first configuration is another one for NVIDIA"
EXPLAINED = {
    ("liger", "_dyt_bwd_kernel"): _SHARE,
    ("liger", "_layer_norm_backward_kernel"): f"{_SHARE}, and so are the rows of each workgroup",
    ("liger", "_rms_norm_backward_kernel"): _SHARE,
    ("liger", "liger_cross_entropy_kernel"): "Liger launches half the warps on AMD, which are twice as wide",
    ("tutorial_02", "softmax_kernel"): "as many workgroups as fit, and stages by the size of the shared memory",
    ("tutorial_03", "matmul_kernel"): f"{_TUNED}; FP8, and a transposed b for it, are for NVIDIA alone",
    (
        "tutorial_06",
        "_attn_fwd",
    ): "descriptors and specialised warps, of which there is a benchmark more, are for Hopper",
    ("tutorial_06", "_attn_bwd"): "the tutorial takes other blocks and stages on AMD",
    ("tutorial_06", "_attn_bwd_preprocess"): "the tutorial takes other blocks and stages on AMD",
    ("tutorial_08", "grouped_matmul_tma_kernel"): "it needs Hopper's TMA",
}
"""Map program and kernel to the reason why the two lists differ, found in the program's source."""

DEFAULTS = {"cuda": {"num_warps": 4, "num_stages": 3}, "hip": {"num_warps": 4, "num_stages": 2}}
"""Default values of the compilers for options that a launch does not set; they count as no difference."""


def text(part: Any) -> str:
    """Return a part of a launch as text for the comparison."""
    return json.dumps(part, sort_keys=True)


def key_of(parts: dict[str, str]) -> tuple[str, ...]:
    """Return the kernel's name followed by the parts in their order."""
    return (parts["kernel"], *(parts[part] for part in PARTS))


def plain(value: Any) -> Any:
    """Return a constant in the form used by the list: functions and types by their last name."""
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, tuple | list):
        return [plain(item) for item in value]
    return str(value.name).rpartition(".")[2]


def without_defaults(launches: Counter[tuple[str, ...]], backend: str) -> Counter[tuple[str, ...]]:
    """Return the launches without options that have the backend's default value."""
    found: Counter[tuple[str, ...]] = Counter()
    for (*parts, options), count in launches.items():
        said = {name: value for name, value in json.loads(options).items() if DEFAULTS[backend][name] != value}
        found[(*parts, text(said))] += count
    return found


def of_capture(kernel: CapturedKernel) -> dict[str, str]:
    """Return the compared properties of a kernel of a capture, without its grid."""
    request = kernel.request
    return {
        "kernel": kernel.name,
        "signature": text({name: str(kind) for name, kind in request.signature.items()}),
        "constants": text({name: plain(value) for name, value in request.constexprs.items()}),
        "options": text({name: request.options.get(name) for name in DEFAULTS["hip"]}),
    }


def captured(name: str) -> tuple[Counter[tuple[str, ...]], list[str]]:
    """Return the launches in a program's capture, and its messages about failures."""
    with tempfile.TemporaryDirectory() as folder:
        start = [sys.executable, "-m", "kprof", "capture", "--arch", "MI300X", "-o", f"{folder}/capture", "--"]
        command = [*start, sys.executable, str(PROGRAMS), "--run", name]
        ran = subprocess.run(command, capture_output=True, text=True, timeout=TIME_LIMIT, check=False, cwd=folder)
        found: Counter[tuple[str, ...]] = Counter()
        for kernel in read(f"{folder}/capture").kernels:
            about = of_capture(kernel)
            for grid, count in kernel.grids.items():
                found[key_of({**about, "grid": text(list(grid))})] += count
    return found, [line for line in ran.stdout.splitlines() if line.startswith("failed ")]


def of_list(launches: list[dict[str, Any]]) -> Counter[tuple[str, ...]]:
    """Return the launches in the GPU's list of a program."""
    found: Counter[tuple[str, ...]] = Counter()
    for launch in launches:
        about = {part: text(launch[part]) for part in PARTS}
        found[key_of({**about, "kernel": launch["kernel"]})] += launch["launches"]
    return found


def without_constants(launches: Counter[tuple[str, ...]]) -> Counter[tuple[str, ...]]:
    """Return kernel, signature and grid only; the signature lacks the constants, too."""
    found: Counter[tuple[str, ...]] = Counter()
    for (kernel, signature, grid, *_), count in launches.items():
        kinds = {name: kind for name, kind in json.loads(signature).items() if kind != "constexpr"}
        found[kernel, text(kinds), grid] += count
    return found


def difference(there: Counter[tuple[str, ...]], here: Counter[tuple[str, ...]]) -> str:
    """Describe the parts in which two sets of launches of one kernel differ, with examples."""
    if not there or not here:
        return f"only {'in the capture' if here else 'on the GPU'}"
    said = []
    for index, part in enumerate(PARTS, 1):
        on_gpu, in_capture = ({launch[index] for launch in side} for side in (there, here))
        if on_gpu != in_capture:
            one = next(iter(sorted(on_gpu - in_capture)), "-")
            other = next(iter(sorted(in_capture - on_gpu)), "-")
            said.append(f"{part}: `{differing(one, other)}` and `{differing(other, one)}`")
    counts = sum(there.values()), sum(here.values())
    if counts[0] != counts[1]:
        said.append(f"launches: {counts[0]} and {counts[1]}")
    return "; ".join(said) or "the same parts, put together otherwise"


def differing(one: str, other: str) -> str:
    """Return the entries of the first mapping that the second one lacks."""
    try:
        first, second = json.loads(one), json.loads(other)
    except ValueError:
        return one
    if isinstance(first, dict) and isinstance(second, dict):
        return text({name: value for name, value in first.items() if second.get(name) != value})[:120]
    return one[:120]


def compared(
    name: str, listed: dict[str, Any], capture: tuple[Counter[tuple[str, ...]], list[str]]
) -> tuple[str, list[str], bool]:
    """Return a program's row of the page, its differences, and whether all differences are explained."""
    there = of_list(listed["launches"])
    here, failed = capture
    launches = f"{sum(there.values())}, {sum(here.values())}"
    kernels = [len({launch[0] for launch in side}) for side in (there, here)]
    most, exact = max(sum(there.values()), sum(here.values())), there & here
    there, here = without_defaults(there - exact, "cuda"), without_defaults(here - exact, "hip")
    same = sum(exact.values()) + sum((there & here).values())
    near = sum((without_constants(there - here) & without_constants(here - there)).values())
    rest = most - same - near
    row = f"| {name} | {launches} | {kernels[0]}, {kernels[1]} | {same} | {near} | {rest} |"
    said, explained = [], True
    for kernel in sorted({launch[0] for launch in (there - here) + (here - there)}):
        sides = [Counter({k: n for k, n in side.items() if k[0] == kernel}) for side in (there - here, here - there)]
        reason = EXPLAINED.get((name, kernel))
        explained = explained and reason is not None
        said.append(f"{name}, {kernel}: {reason or '**not explained**'} ({difference(*sides)})")
    on_both = set(listed["failed"]) & set(failed)
    said += [f"{name}: on both sides {line}" for line in sorted(on_both)]
    said += [f"{name}: on the GPU {line}" for line in listed["failed"] if line not in on_both]
    said += [f"{name}: in the capture {line}" for line in failed if line not in on_both]
    return row, said, explained


def main() -> None:
    """Compare all programs, and write the page."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--at-once", type=int, default=1, metavar="N", help="programs that are captured at a time")
    parser.add_argument("listed", type=Path, metavar="LISTED.json", help="what validation/launches/programs.py wrote")
    chosen = parser.parse_args()
    path: Path = chosen.listed
    import triton

    listed = json.loads(path.read_text(encoding="utf-8"))
    os.environ.setdefault("OMP_NUM_THREADS", "2")
    rows, said, explained = [], [], True
    with ThreadPoolExecutor(chosen.at_once) as pool:
        captures = dict(zip(listed["programs"], pool.map(captured, listed["programs"]), strict=True))
    for name, program in listed["programs"].items():
        row, more, clear = compared(name, program, captures[name])
        print(row, *more, sep="\n", flush=True)
        rows.append(row)
        said += more
        explained = explained and clear
    head = HEAD.format(device=listed["device"], there=listed["triton"], torch=listed["torch"], here=triton.__version__)
    differences = "\nWhat differs, GPU first:\n\n" + "\n".join(f"- {line}" for line in said) + "\n" if said else ""
    PAGE.write_text(head + "\n".join(rows) + "\n" + differences, encoding="utf-8")
    sys.exit(not explained)


if __name__ == "__main__":
    main()
