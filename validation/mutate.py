"""Change one thing at a time in a module, and check whether its tests fail.

    python validation/mutate.py kprof_analyzers.occupancy.hardware -- tests/analyzers/occupancy/test_hardware.py
    python validation/mutate.py --set core [--write docs/validation/mutation.md] [-j 2] [MODULE...]
    python validation/mutate.py --sample 40 --seed COMMIT --seconds 240 --least 90

A mutant is one change of a comparison, a number, an operator, a condition, a jump, a piece of text or an entry of a
finding's evidence. Each mutant runs in its own process, forked from one that has loaded the tests' libraries but no
module of kprof that depends on the changed module. A mutant is killed if a test fails or takes far longer than
without the change, or if the module cannot be imported. Property tests use the same few examples every time, so that
scores are reproducible. Docstrings, type annotations, assertions and TYPE_CHECKING blocks are not changed.
"""

import argparse
import ast
import functools
import importlib.abc
import importlib.machinery
import importlib.util
import math
import multiprocessing
import os
import random
import signal
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType

import plain_tests
from mutants import KINDS, Mutant, mutants
from mutated_modules import ROOT, SETS, WHOLE, Chosen

sys.path[:0] = [str(ROOT), str(ROOT / "analyzers"), str(ROOT / "servers")]
# Time limit as a multiple of a run without a change; a mutant with an endless loop exceeds it.
_MOST = 10
# Number of mutants of each drawn module, because its tests are loaded once for all of them.
_DRAWN = 5
# A sample fails if fewer than one run in a hundred would kill as few mutants, given that --least of all are killed.
_CHANCE = 0.01


class _Loader(importlib.abc.SourceLoader):
    """Loader that returns the mutant's code for one module."""

    def __init__(self, path: str, code: str) -> None:
        self._path, self._code = path, code

    def get_filename(self, _fullname: str) -> str:
        return self._path

    def get_data(self, path: str) -> bytes:
        return self._code.encode() if path == self._path else Path(path).read_bytes()


class _Finder(importlib.abc.MetaPathFinder):
    """Finder that finds the mutated module before any other finder."""

    def __init__(self, name: str, path: str, code: str) -> None:
        self._name, self._loader, self._path = name, _Loader(path, code), path

    def find_spec(
        self, fullname: str, _path: Sequence[str] | None = None, _target: ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        if fullname != self._name:
            return None
        return importlib.util.spec_from_file_location(fullname, self._path, loader=self._loader)


def _fail(tests: Sequence[str]) -> bool:
    """Return whether tests fail. A test is a file, or ``module:function:argument``."""
    for test in tests:
        name, *call = test.split(":")
        if call:
            getattr(importlib.import_module(name), call[0])(call[1])
        else:
            plain_tests.run(name)
    return False


def _fork(module: str, path: str, code: str, tests: Sequence[str], seconds: int) -> int:
    """Fork a process that runs the tests on a changed module; its exit status is 1 if they fail."""
    child = os.fork()
    if child:
        return child
    failed = True
    try:
        signal.alarm(seconds)
        sys.dont_write_bytecode = True
        sys.meta_path.insert(0, _Finder(module, path, code))
        for stream in (1, 2):
            os.dup2(os.open(os.devnull, os.O_WRONLY), stream)
        failed = _fail(tests)
    finally:
        os._exit(int(failed))


def killed(
    module: str, path: str, codes: Sequence[str], tests: Sequence[str], *, workers: int = 1, seconds: int = 600
) -> list[bool]:
    """Return for each changed module whether the tests fail.

    Args:
        module: the module's dotted name.
        path: the module's file.
        codes: the changed modules.
        tests: tests to run.
        workers: number of parallel processes.
        seconds: time limit, after which the mutant counts as killed.
    """
    running: dict[int, int] = {}
    found = [False] * len(codes)
    waiting = list(enumerate(codes))[::-1]
    while waiting or running:
        while waiting and len(running) < workers:
            index, code = waiting.pop()
            running[_fork(module, path, code, tests, seconds)] = index
        child, status = os.wait()
        found[running.pop(child)] = os.waitstatus_to_exitcode(status) != 0
    return found


@dataclass(frozen=True)
class Score:
    """Mutants of one module.

    Attributes:
        chosen: the module.
        counts: numbers of killed and of all mutants by kind.
        survivors: mutants that no test detected.
    """

    chosen: Chosen
    counts: dict[str, tuple[int, int]]
    survivors: list[Mutant]

    @property
    def total(self) -> tuple[int, int]:
        """Numbers of killed and of all mutants, over all kinds."""
        return sum(dead for dead, _ in self.counts.values()), sum(made for _, made in self.counts.values())


def _load_unchanged(module: str) -> None:
    """Import all of kprof except the modules that import the changed module, directly or indirectly."""
    import grimp

    graph = grimp.build_graph("kprof", "kprof_analyzers", "kprof_servers")
    below = {module, *graph.find_downstream_modules(module)}
    for name in sorted(graph.find_upstream_modules(module)):
        importlib.import_module(name)
    if module.startswith("kprof_analyzers.rules."):
        _load_rules_but(module, below)
    from kprof.hardware.machine import architectures, load

    for arch in architectures():
        load(arch)
    _forget(below)


def _forget(below: set[str]) -> None:
    """Unload modules and the references to them in their packages, which ``from package import module`` would use."""
    for name in [n for n in sys.modules if n in below]:
        package, _, stem = name.rpartition(".")
        vars(sys.modules.get(package, ModuleType(package))).pop(stem, None)
        del sys.modules[name]


def _load_rules_but(module: str, below: set[str]) -> None:
    """Import the other rules, and the modules that their tests use."""
    for chosen in SETS["rules"]():
        if chosen.module not in below:
            importlib.import_module(chosen.module)
    for name in ("kprof_analyzers.occupancy", "kprof.inputs.mlir", "kprof.gate.limits", "kprof_analyzers.rules.page"):
        if name not in below:
            importlib.import_module(name)
    _forget(below)
    assert module not in sys.modules


def score(
    chosen: Chosen, workers: int = 1, kinds: Sequence[str] = KINDS, drawn: int | None = None, seed: str = ""
) -> Score:
    """Run the mutants of a module, or a sample of them.

    Args:
        chosen: the module and its tests.
        workers: maximum number of mutants that run at once.
        kinds: kinds of mutants to make.
        drawn: size of the sample; None runs all mutants.
        seed: chooses the sample, together with the module's name.

    Raises:
        ValueError: the tests fail without any change.
    """
    module, tests = chosen.module, chosen.tests
    spec = importlib.util.find_spec(module)
    assert spec is not None
    assert spec.origin is not None
    source = Path(spec.origin).read_text(encoding="utf-8")
    made = [mutant for mutant in mutants(source) if mutant.kind in kinds]
    if drawn is not None:
        made = random.Random(f"{seed} {module}").sample(made, min(drawn, len(made)))
    if not made:
        return Score(chosen, {}, [])
    _load_unchanged(module)
    begin = time.monotonic()
    if killed(module, spec.origin, [ast.unparse(ast.parse(source))], tests)[0]:
        raise ValueError(f"{module}: the tests fail without a change: {' '.join(tests)}")
    seconds = _MOST + int(_MOST * (time.monotonic() - begin))
    died = killed(module, spec.origin, [mutant.code for mutant in made], tests, workers=workers, seconds=seconds)
    counts: dict[str, tuple[int, int]] = {}
    for mutant, dead in zip(made, died, strict=True):
        before = counts.get(mutant.kind, (0, 0))
        counts[mutant.kind] = (before[0] + dead, before[1] + 1)
    return Score(chosen, counts, [m for m, dead in zip(made, died, strict=True) if not dead])


def _score_until(limit: float, task: tuple[int, Chosen, int, Sequence[str], int | None, str]) -> Score | None:
    """Score a module, or return None after the time limit; the first module is always scored."""
    index, chosen, workers, kinds, drawn, seed = task
    return score(chosen, workers, kinds, drawn, seed) if index == 0 or time.monotonic() <= limit else None


def main() -> None:
    """Print a line for each module, and the surviving mutants."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("module", nargs="*", help="Dotted names; after -- come files of tests.")
    parser.add_argument("--set", choices=sorted(SETS), help="These modules, or those with a given word in their name.")
    parser.add_argument("-j", "--jobs", type=int, default=1)
    parser.add_argument("--kind", action="append", choices=KINDS, help="Only such mutants; may be given several times.")
    parser.add_argument(
        "--write",
        type=Path,
        help="Put the table into a page, between its markers; rows of modules and cells of kinds not asked for stay.",
    )
    parser.add_argument("--each", type=int, help="At most so many mutants of each module, drawn by the seed.")
    parser.add_argument(
        "--sample", type=int, help="So many mutants of modules that are drawn from the sets that are tried as a whole."
    )
    parser.add_argument("--seed", default="0", help="Chooses the modules of a sample and their mutants.")
    parser.add_argument("--seconds", type=float, default=math.inf, help="Start no module of a sample after this time.")
    parser.add_argument(
        "--least",
        type=float,
        default=0.0,
        help="Exit status 1 where a group has less, in percent, or where a sample shows that all mutants have less.",
    )
    own, tests = sys.argv[1:], []
    if "--" in own:
        own, tests = own[: own.index("--")], own[own.index("--") + 1 :]
    given = parser.parse_args(own)
    os.chdir(ROOT)
    import msgspec  # noqa: F401

    plain_tests.warm_up()
    chosen = [Chosen(module, tuple(tests), module) for module in given.module]
    if given.set:
        chosen = [c for c in SETS[given.set]() if not given.module or any(word in c.module for word in given.module)]
    drawn = given.each
    if given.sample:
        every = [one for name in sorted(WHOLE) for one in SETS[name]()]
        chosen = random.Random(given.seed).sample(every, max(1, given.sample // _DRAWN))
        drawn = _DRAWN
    scores: list[Score] = []
    begin = time.monotonic()
    # Each module gets its own process, so that one module's state cannot affect the next. In a sample, modules have few
    # mutants each; several modules run in parallel, each with one mutant at a time.
    at_once, workers = (given.jobs, 1) if given.sample else (1, given.jobs)
    tasks = [(index, one, workers, given.kind or KINDS, drawn, given.seed) for index, one in enumerate(chosen)]
    limit = begin + given.seconds if given.sample else math.inf
    with multiprocessing.get_context("fork").Pool(at_once, maxtasksperchild=1) as pool:
        for found in pool.imap(functools.partial(_score_until, limit), tasks):
            if found is None:
                print(f"{given.seconds:g} s are over: {len(scores)} of {len(chosen)} modules of the sample were run")
                break
            scores.append(found)
            print(_line(found), flush=True)
            for mutant in found.survivors:
                print(f"    line {mutant.line}: {mutant.kind}: {mutant.words}", flush=True)
    if given.write is not None:
        _write(given.write, given.set, _with_rows(given.write, given.set, scores, given.kind or KINDS))
    groups = list(_groups(scores).values())
    if given.sample:
        # A group has too few drawn mutants for its own share.
        dead, made = (sum(each) for each in zip(*groups, strict=True))
        print(f"{dead} of {made} mutants killed", flush=True)
        if chance(dead, made, given.least / 100) < _CHANCE:
            raise SystemExit(f"fewer than {given.least:g} % of all mutants are killed")
    elif any(_percent(dead, made) < given.least for dead, made in groups):
        raise SystemExit(1)


def chance(dead: int, made: int, share: float) -> float:
    """Return the probability that a sample has at most this many killed mutants.

    Args:
        dead: killed mutants of the sample.
        made: all mutants of the sample.
        share: share of killed mutants among those that the sample is drawn from, 0 to 1.
    """
    return sum(math.comb(made, k) * share**k * (1 - share) ** (made - k) for k in range(dead + 1))


def _groups(scores: Sequence[Score]) -> dict[str, tuple[int, int]]:
    """Return the numbers of killed and of all mutants of each group."""
    found: dict[str, tuple[int, int]] = {}
    for one in scores:
        before = found.get(one.chosen.group, (0, 0))
        found[one.chosen.group] = (before[0] + one.total[0], before[1] + one.total[1])
    return found


def _percent(dead: int, made: int) -> float:
    return 100 * dead / made if made else 100.0


def _line(found: Score) -> str:
    kinds = ", ".join(f"{kind} {dead}/{made}" for kind, (dead, made) in sorted(found.counts.items()))
    return f"{found.chosen.module}: {kinds or 'nothing to change'}"


def _table(scores: Sequence[Score]) -> list[str]:
    """Return a table with a row for each module and, if there are several groups, for each group."""
    kinds = [kind for kind in KINDS if any(kind in one.counts for one in scores)]
    rows = ["| module | " + " | ".join(kinds) + " | all |", "|---|" + "---|" * (len(kinds) + 1)]
    groups = _groups(scores)
    for group, (dead, made) in groups.items():
        members = [one for one in scores if one.chosen.group == group]
        for one in members:
            cells = [_cell(one.counts.get(kind, (0, 0))) for kind in kinds]
            name = one.chosen.module.removeprefix("kprof_analyzers.")
            rows.append(f"| {name} | {' | '.join(cells)} | {_cell(one.total)} |")
        sums = [[one.counts.get(kind, (0, 0)) for one in members] for kind in kinds]
        cells = [_cell((sum(d for d, _ in each), sum(m for _, m in each))) for each in sums]
        rows.append(f"| **{group}** | {' | '.join(cells)} | {dead}/{made}, {_percent(dead, made):.1f} % |")
    return rows


def _cell(counts: tuple[int, int]) -> str:
    return f"{counts[0]}/{counts[1]}" if counts[1] else ""


def _with_rows(page: Path, name: str, scores: Sequence[Score], kinds: Sequence[str] = KINDS) -> list[Score]:
    """Return the scores in the order of their set; modules and kinds that did not run now keep the page's values."""
    known = {one.chosen.module: one for one in scores}
    lines = (
        page.read_text(encoding="utf-8").partition(f"<!-- {name} -->\n")[2].partition("<!-- end -->")[0].splitlines()
    )
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]
    for chosen in SETS[name]():
        for row in rows:
            if row[0] == chosen.module.removeprefix("kprof_analyzers."):
                cells = {kind: _counts(cell) for kind, cell in zip(rows[0][1:-1], row[1:-1], strict=True) if cell}
                run = known.get(chosen.module)
                kept = {kind: counts for kind, counts in cells.items() if run is None or kind not in kinds}
                known[chosen.module] = Score(chosen, {**kept, **(run.counts if run is not None else {})}, [])
    return [known[chosen.module] for chosen in SETS[name]() if chosen.module in known]


def _counts(cell: str) -> tuple[int, int]:
    dead, _, made = cell.partition("/")
    return int(dead), int(made)


def _write(page: Path, name: str, scores: Sequence[Score]) -> None:
    text = page.read_text(encoding="utf-8")
    begin, end = f"<!-- {name} -->\n", "<!-- end -->"
    head, found, rest = text.partition(begin)
    if not found:
        raise SystemExit(f"{page} has no {begin.strip()}")
    table = "\n".join(_table(scores))
    page.write_text(f"{head}{begin}{table}\n{end}{rest.partition(end)[2]}", encoding="utf-8")


if __name__ == "__main__":
    main()
