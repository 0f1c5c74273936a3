"""Cases for ``kill.py``: commands on small kernels, the data that each stores, and its answer."""

import hashlib
import json
import re
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from kprof.cache import location
from kprof.cache.entries import CacheSection
from kprof.captures import layout
from kprof.captures.reader import read as read_capture
from kprof.errors import KprofError
from kprof.gate import baseline
from kprof.tuning.journal import NAME as SEARCH
from kprof.tuning.journal import TuningJournal

KERNEL = """
import triton
import triton.language as tl

from kprof.kernel_spec import Kernel, Launch, Tensor


@triton.jit
def copy(source, target, N, BLOCK: tl.constexpr, TILES: tl.constexpr):
    first = tl.program_id(0).to(tl.int64) * (BLOCK * TILES)
    for tile in tl.static_range(TILES):
        at = first + tile * BLOCK + tl.arange(0, BLOCK)
        tl.store(target + at, tl.load(source + at, mask=at < N), mask=at < N)


def launch(shape, config):
    buffer = Tensor("fp32", (shape["N"],))
    knobs = {"BLOCK": config["BLOCK"], "TILES": config["TILES"]}
    grid = (triton.cdiv(shape["N"], knobs["BLOCK"] * knobs["TILES"]),)
    return Launch(args={"source": buffer, "target": buffer, "N": shape["N"], **knobs}, grid=grid)


KERNEL = Kernel(
    name="copy",
    entry=copy,
    summary="Copies",
    launch=launch,
    shapes={"large": {"N": 2**24}},
    config={"BLOCK": 1024, "TILES": 1, "num_warps": 4},
    configs=({"BLOCK": 2048, "TILES": 2, "num_warps": 8}, {"BLOCK": 512, "TILES": 1, "num_warps": 2}),
    space={"BLOCK": (512, 1024), "TILES": (1, 2), "num_warps": (2, 4)},
    flops=lambda _shape: 0,
    bytes=lambda shape: 8 * shape["N"],
)
"""
PROGRAM = """
import sys

import triton
import triton.language as tl


class Tensor:
    dtype, shape = "fp32", (4096,)

    def data_ptr(self):
        return 4096

    def ptr_range(self):
        return 1 << 20

    def stride(self):
        return (1,)


@triton.jit
def scale(x, y, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y + at, tl.load(x + at, mask=at < n) * 2, mask=at < n)


for block in map(int, sys.argv[1:]):
    scale[(4096 // block,)](Tensor(), Tensor(), 4096, BLOCK=block)
"""
CONFIG = """
arch = ["gfx942", "gfx1100"]
baseline = "baseline.json"

[[kernel]]
target = "kernel.py"
all_configs = true

[[program]]
command = ["python", "program.py", "512"]
arch = ["gfx942"]
"""
FILES = {
    "kernel.py": KERNEL,
    "new.py": KERNEL.replace("* TILES)\n    for", "* TILES + 0)\n    for"),
    "program.py": PROGRAM,
    "kprof.toml": CONFIG,
}
RESULT = "result.json"
PAGE = "page.html"
CAPTURE, BASELINE = "recorded", "baseline.json"
_TIMES = frozenset({"seconds", "started", "elapsed_s", "cached", "compiles_per_second", "wall_seconds"})

Kept = Mapping[str, bytes]
"""Data that was stored when the process was killed: path or key to content."""


@dataclass(frozen=True)
class Case:
    """One command to kill.

    Attributes:
        name: name of the command.
        arguments: arguments of ``kprof``.
        written: the file that it replaces atomically at its end.
        answer: function that returns the results without times, given the folder in which it ran.
        kept: function that returns the data that it has stored so far.
        goes_on: whether another run continues from the stored data.
    """

    name: str
    arguments: tuple[str, ...]
    written: str
    answer: Callable[[Path], Any]
    kept: Callable[[Path], Kept]
    goes_on: bool = False


def timeless(value: Any) -> Any:
    """Return a document without values that depend on the clock or the cache."""
    if isinstance(value, dict):
        return {name: timeless(inner) for name, inner in value.items() if name not in _TIMES}
    return [timeless(inner) for inner in value] if isinstance(value, list) else value


def entries(folder: Path) -> Kept:
    """Return the cache's entries, each with a hash of its content."""
    root = location.entries(folder / "cache")
    found = {}
    for path in root.glob("*/*/*"):
        if path.name.startswith("."):
            continue
        try:
            found[str(path.relative_to(folder))] = hashlib.sha256(path.read_bytes()).digest()
        except FileNotFoundError:
            continue
    return found


def damaged(folder: Path) -> list[str]:
    """Return the entries of the cache that its own reader rejects."""
    found = []
    for name in entries(folder):
        path = folder / name
        section, _, version = path.parent.parent.name.rpartition("-")
        if CacheSection(section, int(version)).read(path.name, folder / "cache") is None:
            found.append(f"{name} is damaged")
    return found


def _searched(folder: Path) -> Kept:
    path = folder / "out" / SEARCH
    lines = path.read_bytes().splitlines(keepends=True) if path.exists() else []
    return {f"line {number}": line for number, line in enumerate(lines) if line.endswith(b"\n")}


def _recorded(folder: Path) -> Kept:
    """Return the kernels of a capture that have a result, and the complete lines of its journals."""
    root = folder / CAPTURE
    found = {str(path.relative_to(folder)): path.read_bytes() for path in root.glob(f"{layout.KERNELS}/[0-9a-f]*/*")}
    for path in root.glob(f"{layout.JOURNAL}/*"):
        content = path.read_bytes()
        found[str(path.relative_to(folder))] = content[: content.rfind(b"\n") + 1]
    return found


def _nothing(_folder: Path) -> Kept:
    return {}


def _captured(folder: Path) -> Any:
    capture = read_capture(folder / CAPTURE)
    return [sorted((k.name, k.id, k.error or "") for k in capture.kernels), capture.complete]


def _document(folder: Path) -> Any:
    return timeless(json.loads((folder / RESULT).read_bytes()))


def _ranking(folder: Path) -> Any:
    """Return the ranked configurations, sorted within equal times, whose order depends on the processes."""
    answers = TuningJournal(folder / "out" / SEARCH).known()
    return sorted((key, answer.status, answer.isa, answer.time_us) for key, answer in answers.items())


def _accepted(folder: Path) -> Any:
    return baseline.encode(baseline.read(folder / BASELINE))


def _page(folder: Path) -> Any:
    """Return the kernels that a page describes."""
    return sorted(set(re.findall(r"<h[12][^>]*>([^<]+)<", (folder / PAGE).read_text())))


_COMMON = ("--arch", "gfx942", "-j", "2")
CASES = (
    Case(
        "capture",
        (
            "capture",
            "--force",
            "-j",
            "2",
            "-o",
            CAPTURE,
            "--",
            sys.executable,
            "program.py",
            "128",
            "256",
            "512",
            "1024",
        ),
        "",
        _captured,
        _recorded,
    ),
    Case(
        "tune",
        ("tune", "kernel.py", *_COMMON, "--budget", "0", "-o", "out", "--json", RESULT),
        RESULT,
        _ranking,
        _searched,
        goes_on=True,
    ),
    Case("report", ("report", "kernel.py", *_COMMON, "--all-configs", "-o", PAGE), PAGE, _page, _nothing),
    Case(
        "select",
        ("select", "softmax", "--arch", "gfx942", "--shape", "M=512,N=768", "--json", RESULT),
        RESULT,
        _document,
        _nothing,
    ),
    Case("diff", ("diff", "kernel.py", "new.py", *_COMMON, "--json", RESULT), RESULT, _document, _nothing),
    Case("check", ("check", "-j", "2", "--update-baseline"), BASELINE, _accepted, _nothing),
    Case("advise", ("advise", "kernel.py", *_COMMON, "--budget", "900", "--json", RESULT), RESULT, _document, _nothing),
)


def lost(case: Case, folder: Path, kept: Kept) -> list[str]:
    """Return the data that was stored when the process was killed, but is missing or different now."""
    now = case.kept(folder)
    return [f"{name} is lost" for name, content in kept.items() if not now.get(name, b"").startswith(content)]


def readable(case: Case, folder: Path) -> list[str]:
    """Return problems that readers find in the files that a killed command has left."""
    if case.name == "capture" and (folder / CAPTURE / layout.HEAD).exists():
        try:
            read_capture(folder / CAPTURE)
        except KprofError as error:
            return [f"the capture cannot be read: {error}"]
    return []
