"""Match thread traces in the histories of repositories with assembly in the same commit: docs/validation/joins.md.

Looks through every commit of the clones for ``code.json`` of a decoded thread trace and ``.amdgcn`` files of the same
commit. A trace is compared with each assembly of its kernel, regardless of folder names. If every instruction is equal,
the model's loops and findings are compared with the trace.

    git clone --mirror https://github.com/ROCm/aiter && ...
    .venv/bin/python validation/check_joins.py ROCm/aiter=aiter.git ...
"""

import statistics
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath

import kprof
from kprof.errors import KprofError
from kprof.inputs import amdgcn, thread_trace
from kprof.inputs.thread_trace import DecodedThreadTrace
from kprof.measured import Measured
from kprof_analyzers.profiles.measured.join import is_called
from kprof_analyzers.profiles.measured.traced import align

_PAGE = Path(__file__).parents[1] / "docs/validation/joins.md"
_BESIDE = ("code.json", "filenames.json", "occupancy.json")
_METADATA = (".amdgcn", ".json", ".hsaco")
_STANDINGS = {"confirmed": "confirmed", "refuted": "refuted", "not measured": "open"}


@dataclass
class Join:
    """A trace and the assembly with the most equal instructions.

    Attributes:
        repository, commit, trace: origin of the trace, and its folder.
        kernel: name of the kernel in the listing.
        assembly: path of that assembly; empty if there is none for this kernel.
        agreed: number of equal instructions before the first difference.
        differs: first different pair of instructions, traced and compiled; ``None`` if all are equal.
        hits: instructions that the traced wavefronts issued.
        measured: measured values for the comparison with model and findings; ``None`` without a match.
    """

    repository: str
    commit: str
    trace: str
    kernel: str
    hits: int
    assembly: str = ""
    agreed: int = 0
    differs: tuple[str, str] | None = None
    measured: Measured | None = None
    failed: str = field(default="")


def _git(directory: str, *words: str) -> bytes:
    return subprocess.run(["git", "-C", directory, *words], check=True, capture_output=True).stdout


def _traces(directory: str) -> Iterator[tuple[str, str]]:
    """Yield commit and path of each distinct ``code.json`` in the history."""
    seen: set[str] = set()
    log = _git(directory, "log", "--all", "--raw", "--no-abbrev", "--no-renames", "--format=%x00%H", "--", "*code.json")
    for commit in log.decode().split("\0")[1:]:
        number, *changes = commit.split("\n")
        for change in filter(None, changes):
            facts, path = change.split("\t")
            blob = facts.split()[3]
            if blob.strip("0") and blob not in seen and PurePosixPath(path).name == "code.json":
                seen.add(blob)
                yield number, path


def _unpack(directory: str, commit: str, paths: list[str], to: Path) -> None:
    for path in paths:
        try:
            content = _git(directory, "cat-file", "blob", f"{commit}:{path}")
        except subprocess.CalledProcessError:
            continue  # The clone may lack its largest files.
        (to / path).parent.mkdir(parents=True, exist_ok=True)
        (to / path).write_bytes(content)


def _joins(repository: str, directory: str) -> Iterator[Join]:
    for commit, path in sorted(_traces(directory), key=lambda pair: pair[1]):
        files = _git(directory, "ls-tree", "-r", "--name-only", commit).decode().splitlines()
        folder = str(PurePosixPath(path).parent)
        beside = [f"{folder}/{name}" for name in _BESIDE if f"{folder}/{name}" in files]
        with tempfile.TemporaryDirectory() as scratch:
            root = Path(scratch)
            _unpack(directory, commit, beside, root)
            try:
                trace = thread_trace.read(root / path)
            except KprofError as error:
                print(f"left out: {repository} {path}: {error.message}", file=sys.stderr)
                continue
            name = trace.kernel or ""
            kernel = name.rpartition("/")[2]
            found = Join(repository, commit, folder, kernel, trace.hits)
            listings = [one for one in files if one.endswith(".amdgcn") and is_called(kernel, PurePosixPath(one).stem)]
            stems = tuple(str(PurePosixPath(listing).with_suffix("")) for listing in listings)
            near = [one for one in files if stems and one.startswith(stems) and one.endswith(_METADATA)]
            if listings:
                _unpack(directory, commit, near, root)
                _nearest(found, trace, root, listings)
            yield found


def _nearest(found: Join, trace: DecodedThreadTrace, root: Path, listings: list[str]) -> None:
    for listing in listings:
        if not (root / listing).is_file():
            continue
        for program in amdgcn.parse((root / listing).read_text()).kernels:
            alignment = align(program, trace)
            if not found.assembly or len(alignment.traced) > found.agreed:
                found.assembly, found.agreed, found.differs = listing, len(alignment.traced), alignment.differs
    if found.differs is None and found.hits:
        try:
            checked = kprof.validate(str(root / found.assembly), thread_trace=str(root / found.trace))
        except KprofError as error:
            found.failed = error.message
        else:
            found.measured = checked.kernels[0][2]


def _rows(joins: list[Join]) -> Iterator[str]:
    for one in joins:
        if one.measured is None:
            continue
        first = f"{one.commit[:8]} `{one.trace}` | `{one.assembly}` | {one.agreed:,}"
        for loop in one.measured.loops:
            lines = sorted(loop.by_line, key=lambda line: -abs(line.measured - (line.modelled or 0)))[:1]
            worst = "; ".join(f"{line.place} {line.measured:,.0f} → {line.modelled or 0:,.0f}" for line in lines)
            modelled = "-" if loop.modelled is None else f"{loop.modelled:,.0f}"
            ratio = "-" if loop.ratio is None else f"{loop.ratio:.2f}"
            numbers = f"{loop.iterations:,} | {loop.measured:,.0f} | {modelled} | {ratio}"
            yield f"| {first} | {loop.header} | {numbers} | {worst} |"


def _standings(joins: list[Join]) -> Iterator[str]:
    judged = [each for one in joins if one.measured is not None for each in one.measured.judgements]
    counts = Counter((each.rule, each.name, _STANDINGS[each.standing], each.words) for each in judged)
    for (rule, name, standing, words), count in sorted(counts.items()):
        yield f"| {rule} {name} | {count} | {standing} | {words} |"


def _alone(joins: list[Join]) -> Iterator[str]:
    counts = Counter((one.repository, one.kernel) for one in joins if not one.assembly)
    for (repository, kernel), count in sorted(counts.items()):
        yield f"| {repository} | `{kernel}` | {count} |"


def _others(joins: list[Join]) -> Iterator[str]:
    for one in joins:
        if one.assembly and one.differs is not None:
            mine, theirs = one.differs
            words = f"`{theirs}` traced, `{mine}` compiled"
            yield f"| {one.commit[:8]} `{one.trace}` | `{one.assembly}` | {one.agreed:,} | {words} |"


def _page(joins: list[Join], repositories: list[str]) -> Iterator[str]:
    matched = [one.measured for one in joins if one.measured is not None]
    ratios = [loop.ratio for one in matched for loop in one.loops if loop.ratio]
    judged = [each.standing for one in matched for each in one.judgements]
    alone = [one for one in joins if not one.assembly]
    yield from _HEAD.splitlines()
    yield ""
    yield f"Searched: the whole history of {', '.join(repositories)}."
    yield ""
    yield (
        f"Of {len(joins)} decoded traces {len(joins) - len(alone)} have assembly of their kernel in the same commit; "
        f"{len(matched)} are *same binary*: every instruction is the same."
    )
    if ratios:
        within = sum(0.8 <= ratio <= 1.25 for ratio in ratios)
        yield (
            f"Of their {len(ratios)} traced loops the model's iteration is within 25 % of the traced one in {within}, "
            f"and modelled over traced {min(ratios):.2f} to {max(ratios):.2f}, median {statistics.median(ratios):.2f}."
        )
    yield (
        f"Of {len(judged)} findings {judged.count('confirmed')} are confirmed, {judged.count('refuted')} refuted, "
        f"{judged.count('not measured')} open."
    )
    yield from ("", "## Same binary", "")
    yield "| trace | assembly | instructions | loop | iterations | traced | modelled | ratio | worst line |"
    yield "|---|---|---|---|---|---|---|---|---|"
    yield from _rows(joins)
    yield from ("", "## Findings of these kernels", "", "| finding | kernels | standing | why |", "|---|---|---|---|")
    yield from _standings(joins)
    yield from ("", "## Same kernel, other build", "", "| trace | nearest assembly | agree | first difference |")
    yield "|---|---|---|---|"
    yield from _others(joins)
    yield from ("", "## Without assembly", "", "| repository | kernel | traces |", "|---|---|---|")
    yield from _alone(joins)


_HEAD = """# Measurements joined with the kernels that they are of

Decoded thread traces in the histories of public repositories, each compared with every assembly of its kernel in the
same commit: `kprof validate KERNEL.amdgcn --thread-trace FOLDER`. Where each instruction is the same it is the *same
binary*, and cycles of an iteration are compared; where one differs it is *another build*, and nothing is confirmed or
refuted. The assembly tells neither grid nor arguments, so that the model knows of no data that workgroups share. The
worst line is the one whose cycles are farthest off, traced → modelled.

Written by `validation/check_joins.py`. Repositories were found by searching public code for `ui_output_agent_`,
`att_output.csv`, `stats_ui_output_agent_`, `code_object_id_1.out`, `CodeObj,Vaddr,Instruction`, the fields of
`filenames.json`, and "rocprofv3 att code.json triton amdgcn". Counters with the binary that they are of were not found.
"""


def main() -> None:
    """Write the page."""
    named = [one.partition("=") for one in sys.argv[1:]]
    joins = [join for repository, _, directory in named for join in _joins(repository, directory)]
    _PAGE.write_text("\n".join(_page(joins, [repository for repository, _, _ in named])) + "\n")


if __name__ == "__main__":
    main()
