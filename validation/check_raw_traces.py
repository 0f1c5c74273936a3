"""Compare raw thread traces with the output of AMD's decoder for them: docs/validation/raw_thread_traces.md.

Searches every commit of the clones for folders with both ``.att`` files and a ``ui_output_agent_*`` of the same
dispatch, and with a code object of the kernel in the same commit. kprof reads only the raw files and the code object.
Its issues and cycles are compared with the decoded ones, for each wavefront and each instruction.

    git clone --mirror https://github.com/ROCm/aiter && ...
    .venv/bin/python validation/check_raw_traces.py ROCm/aiter=aiter.git
"""

import json
import shutil
import statistics
import subprocess
import sys
import tempfile
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from kprof.errors import KprofError
from kprof.inputs import thread_trace
from kprof.inputs.thread_trace import DecodedThreadTrace
from kprof.inputs.thread_trace.packets import CYCLES, RawWavefront, read_packets
from kprof_analyzers.profiles.measured.join import is_called

_PAGE = Path(__file__).parents[1] / "docs/validation/raw_thread_traces.md"
_SILENT = ("s_waitcnt", "s_nop")


@dataclass
class Pair:
    """A dispatch in raw and in decoded form.

    Attributes:
        place: commit and folder.
        wavefronts: number of wavefronts that issued instructions: raw, decoded.
        issues: number of issued instructions: raw, decoded.
        equal: number of listed instructions with equal issue counts on both sides, and number of all.
        gaps: number of gaps between two issues of a wavefront that agree exactly, that agree to a tick, and of all.
        cycles: sum of all cycles including idle ones: raw, decoded.
        moved: share of the decoded cycles that raw and decoded data assign to different instructions.
        correlation: correlation of the instructions' cycles.
    """

    place: str
    wavefronts: tuple[int, int]
    issues: tuple[int, int]
    equal: tuple[int, int]
    gaps: tuple[int, int, int]
    cycles: tuple[int, int]
    moved: float
    correlation: float


def _git(directory: str, *words: str) -> bytes:
    return subprocess.run(["git", "-C", directory, *words], check=True, capture_output=True).stdout


def _folders(directory: str) -> Iterator[tuple[str, str]]:
    """Yield commit and folder of each set of raw files, at the commit that added it."""
    seen: set[str] = set()
    log = _git(directory, "log", "--all", "--reverse", "--name-only", "--format=%x00%H", "--", "*.att").decode()
    for commit in log.split("\0")[1:]:
        number, *paths = commit.split("\n")
        for folder in dict.fromkeys(str(PurePosixPath(path).parent) for path in paths if path.endswith(".att")):
            if folder not in seen:
                seen.add(folder)
                yield number, folder


def _unpack(directory: str, commit: str, folder: str, to: Path) -> None:
    subprocess.run(["tar", "x", "-C", str(to)], input=_git(directory, "archive", commit, folder), check=True)


def _pairs(directory: str) -> Iterator[Pair | str]:
    for commit, folder in _folders(directory):
        place = f"{commit[:8]} `{folder}`"
        files = _git(directory, "ls-tree", "-r", "--name-only", commit).decode().splitlines()
        above = str(PurePosixPath(folder).parent)
        beside = [one for one in files if one.startswith(f"{above}/ui_output_agent_")]
        decoded = sorted({str(PurePosixPath(one).parent) for one in beside})
        objects = [one for one in files if one.endswith(".hsaco")]
        if len(decoded) != 1:
            yield f"{place}: {len(decoded)} decoded traces beside it"
            continue
        with tempfile.TemporaryDirectory() as scratch:
            root = Path(scratch)
            for each in (folder, decoded[0], *objects):
                _unpack(directory, commit, each, root)
            try:
                yield _pair(place, root / folder, root / decoded[0], [root / one for one in objects])
            except (KprofError, OSError) as error:
                yield f"{place}: {error}"


def _pair(place: str, raw_folder: Path, decoded_folder: Path, objects: list[Path]) -> Pair | str:
    decoded = thread_trace.read(decoded_folder)
    kernel = decoded.kernel or ""
    for number, one in enumerate(objects):
        if not is_called(kernel, one.stem):
            continue
        beside = raw_folder / f"{number}.hsaco"
        shutil.copy(one, beside)
        raw = thread_trace.read(raw_folder)
        beside.unlink()
        lost = any("leave the code" in issue for issue in raw.issues)
        if raw.kernel is not None and is_called(raw.kernel, kernel) and not lost:
            return _compared(place, raw, decoded, raw_folder, decoded_folder)
    return f"{place}: no code object of {kernel} in the commit is the traced one"


def _compared(place: str, raw: DecodedThreadTrace, decoded: DecodedThreadTrace, files: Path, folder: Path) -> Pair:
    listed = [one for one in decoded.instructions if not one.text.startswith(";")]
    first, start = listed[0].address or 0, raw.instructions[0].address or 0
    mine = {(one.address or 0) - start: one for one in raw.instructions}
    idle = {one.line: one.idle for one in decoded.timeline.totals()}
    sides = []
    equal = 0
    for one in listed:
        found = mine.get((one.address or 0) - first)
        hits, cycles = (found.hits, found.latency) if found is not None else (0, 0)
        equal += hits == one.hits
        sides.append((cycles, one.latency + idle.get(one.line or -1, 0)))
    ours, theirs = zip(*sides, strict=True)
    moved = sum(abs(a - b) for a, b in sides) / 2 / sum(theirs)
    wavefronts, gaps = _wavefronts(files, folder)
    return Pair(
        place, wavefronts, (raw.hits, decoded.hits), (equal, len(listed)), gaps,
        (sum(ours), sum(theirs)), moved, statistics.correlation(ours, theirs),
    )  # fmt: skip


def _wavefronts(files: Path, folder: Path) -> tuple[tuple[int, int], tuple[int, int, int]]:
    """Return the number of wavefronts, and how many of their gaps between two issues agree."""
    text = {row[2]: row[0] for row in json.loads((folder / "code.json").read_bytes())["code"]}
    theirs: dict[tuple[int, int, int], list[dict[str, list[list[int]]]]] = defaultdict(list)
    for path in sorted(folder.glob("se*_wv*.json")):
        document = json.loads(path.read_bytes())
        wave = document["wave"]
        theirs[int(document["name"][2:]), wave["simd"], wave["slot"]].append(wave)
    ours: dict[tuple[int, int, int], list[RawWavefront]] = defaultdict(list)
    for path in files.glob("*_shader_engine_*.att"):
        engine = int(path.stem.split("_")[-2])
        for one in read_packets(path.read_bytes()).wavefronts:
            if one.issued:
                ours[engine, one.simd, one.slot].append(one)
    exact = near = count = 0
    for place, waves in theirs.items():
        waves.sort(key=lambda wave: wave["begin"])
        for wave, mine in zip(waves, ours.get(place, ()), strict=False):
            # The decoder writes the time at which an instruction could issue, and its duration; it issues in the last
            # tick.
            issued = [one for one in wave["instructions"] if not text[one[4]].startswith(_SILENT)]
            ends = [clock + duration for clock, _, _, duration, *_ in issued]
            times = [time for time, _ in mine.issued]
            if len(ends) != len(times):
                continue
            for last, end, before, time in zip(ends, ends[1:], times, times[1:], strict=False):
                differs = abs(end - last - time + before)
                exact += not differs
                near += differs <= CYCLES
                count += 1
    sizes = sum(map(len, ours.values())), sum(map(len, theirs.values()))
    return sizes, (exact, near, count)


def _page(found: list[Pair], left: list[str], repositories: list[str]) -> Iterator[str]:
    yield from _HEAD.splitlines()
    yield ""
    yield f"Searched: the whole history of {', '.join(repositories)}."
    yield ""
    wavefronts, issues = (sum(getattr(one, name)[0] for one in found) for name in ("wavefronts", "issues"))
    equal, listed = (sum(one.equal[place] for one in found) for place in range(2))
    gaps = [sum(one.gaps[place] for one in found) for place in range(3)]
    yield (
        f"{len(found)} dispatches are there raw, decoded and with their code object: {wavefronts:,} wavefronts that "
        f"issued {issues:,} instructions. Of the {listed:,} instructions of their listings {equal:,} were issued as "
        f"often on both sides."
    )
    if gaps[2]:
        yield (
            f"Of {gaps[2]:,} gaps between two issues {gaps[0] / gaps[2]:.1%} are equal and {gaps[1] / gaps[2]:.1%} "
            f"equal to a tick of {CYCLES} cycles."
        )
    yield ""
    yield (
        "| trace | wavefronts | decoded | issues | decoded | same issues | gaps equal | to a tick | cycles | decoded "
        "| moved | correlation |"
    )
    yield f"|{'---|' * 12}"
    for one in found:
        share = [f"{one.gaps[place] / one.gaps[2]:.1%}" if one.gaps[2] else "-" for place in (0, 1)]
        yield (
            f"| {one.place} | {one.wavefronts[0]:,} | {one.wavefronts[1]:,} | {one.issues[0]:,} | {one.issues[1]:,} "
            f"| {one.equal[0]:,} of {one.equal[1]:,} | {share[0]} | {share[1]} | {one.cycles[0]:,} | {one.cycles[1]:,} "
            f"| {one.moved:.1%} | {one.correlation:.4f} |"
        )
    yield from ("", "## Left out", "")
    yield from (f"- {one}" for one in left)


_HEAD = """# Raw thread traces and AMD's decoder

`.att` files, read by kprof with nothing but the kernel's code object, and what `rocprof-trace-decoder` wrote of the
same dispatch. *Same issues*: instructions of the listing that were issued equally often on both sides. *Gaps*: cycles
between two issues of a wavefront; the decoder's instruction issues in the last tick of its duration. *Cycles*: of all
instructions; the decoder's with the idle ones before them, which raw packets do not tell apart. *Moved*: the part of
the cycles that the two give to different instructions: to the decoder an MFMA takes 8 to 12 cycles, of which kprof
gives all but 4 to the next instruction.

Written by `validation/check_raw_traces.py`."""


def main() -> None:
    """Write the page."""
    named = [one.partition("=") for one in sys.argv[1:]]
    rows = [row for _, _, directory in named for row in _pairs(directory)]
    found = [row for row in rows if isinstance(row, Pair)]
    left = [row for row in rows if isinstance(row, str)]
    _PAGE.write_text("\n".join(_page(found, left, [repository for repository, _, _ in named])) + "\n")


if __name__ == "__main__":
    main()
