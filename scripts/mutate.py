"""Change one thing at a time in a module, and see whether its tests notice.

    python scripts/mutate.py kprof_analyzers.occupancy.hardware -- tests/analyzers/occupancy/test_hardware.py
    python scripts/mutate.py --rules [--write docs/validation/mutation.md] [-j 2]

A mutant is one change of a comparison, a number, an operator, a condition, a piece of text or an entry of a finding's
evidence. Each is run in a process of its own, forked from one that has loaded the tests' libraries but nothing of kprof
that depends on the module. Killed: a test fails, or the module cannot be imported. What stands in docstrings, type
annotations, assertions and TYPE_CHECKING blocks is left alone.
"""

import argparse
import ast
import importlib.abc
import importlib.machinery
import importlib.util
import multiprocessing
import os
import signal
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType

from mutants import KINDS, Mutant, mutants

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / "analyzers")]
_SECONDS = 60
_QUIETLY = ("-q", "-x", "--assert=plain", "-p", "no:cacheprovider", "--no-header", "--tb=no")


class _Loader(importlib.abc.SourceLoader):
    """Gives the mutant's code for one module."""

    def __init__(self, path: str, code: str) -> None:
        self._path, self._code = path, code

    def get_filename(self, _fullname: str) -> str:
        return self._path

    def get_data(self, path: str) -> bytes:
        return self._code.encode() if path == self._path else Path(path).read_bytes()


class _Finder(importlib.abc.MetaPathFinder):
    """Finds the mutated module before anything else does."""

    def __init__(self, name: str, path: str, code: str) -> None:
        self._name, self._loader, self._path = name, _Loader(path, code), path

    def find_spec(
        self, fullname: str, _path: Sequence[str] | None = None, _target: ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        if fullname != self._name:
            return None
        return importlib.util.spec_from_file_location(fullname, self._path, loader=self._loader)


def _fail(tests: Sequence[str]) -> bool:
    """Whether tests fail: arguments of pytest, or one ``module:function:argument`` that raises then."""
    if len(tests) == 1 and ":" in tests[0] and "::" not in tests[0]:
        name, function, argument = tests[0].split(":")
        getattr(importlib.import_module(name), function)(argument)
        return False
    import pytest

    return pytest.main([*_QUIETLY, *tests]) != 0


def _fork(module: str, path: str, code: str, tests: Sequence[str]) -> int:
    """A process that runs the tests on a changed module; its exit status is 1 when they notice."""
    child = os.fork()
    if child:
        return child
    failed = True
    try:
        signal.alarm(_SECONDS)
        sys.dont_write_bytecode = True
        sys.meta_path.insert(0, _Finder(module, path, code))
        for stream in (1, 2):
            os.dup2(os.open(os.devnull, os.O_WRONLY), stream)
        failed = _fail(tests)
    finally:
        os._exit(int(failed))


def killed(module: str, path: str, codes: Sequence[str], tests: Sequence[str], workers: int) -> list[bool]:
    """Whether the tests notice each changed module."""
    running: dict[int, int] = {}
    found = [False] * len(codes)
    waiting = list(enumerate(codes))[::-1]
    while waiting or running:
        while waiting and len(running) < workers:
            index, code = waiting.pop()
            running[_fork(module, path, code, tests)] = index
        child, status = os.wait()
        found[running.pop(child)] = os.waitstatus_to_exitcode(status) != 0
    return found


@dataclass(frozen=True)
class Score:
    """Mutants of one module.

    Attributes:
        module: its dotted name.
        counts: kind to the numbers of mutants killed and made.
        survivors: those that no test noticed.
    """

    module: str
    counts: dict[str, tuple[int, int]]
    survivors: list[Mutant]


def _load_unchanged(module: str) -> None:
    """Load what the module does not change: all of kprof but the modules that import it, directly or not."""
    import grimp

    graph = grimp.build_graph("kprof", "kprof_analyzers")
    below = {module, *graph.find_downstream_modules(module)}
    for name in sorted(graph.find_upstream_modules(module)):
        importlib.import_module(name)
    if module.startswith("kprof_analyzers.rules."):
        _load_rules_but(module, below)
    from kprof.hardware.machine import architectures, load

    for arch in architectures():
        load(arch)
    for name in [n for n in sys.modules if n in below]:
        del sys.modules[name]


def _load_rules_but(module: str, below: set[str]) -> None:
    """The other rules, and what their cases take."""
    for other, _ in rule_modules():
        if other not in below:
            importlib.import_module(other)
    for name in ("kprof_analyzers.occupancy", "kprof.inputs.mlir", "kprof.gate.limits", "kprof_analyzers.rules.page"):
        if name not in below:
            importlib.import_module(name)
    for name in [n for n in sys.modules if n in below]:
        del sys.modules[name]
    assert module not in sys.modules


def score(module: str, tests: Sequence[str], workers: int = 1, kinds: Sequence[str] = KINDS) -> Score:
    """Run the mutants of a module.

    Raises:
        SystemExit: the tests fail without any change.
    """
    spec = importlib.util.find_spec(module)
    assert spec is not None
    assert spec.origin is not None
    source = Path(spec.origin).read_text(encoding="utf-8")
    _load_unchanged(module)
    if killed(module, spec.origin, [ast.unparse(ast.parse(source))], tests, 1)[0]:
        raise SystemExit(f"{module}: the tests fail without a change: {' '.join(tests)}")
    made = [mutant for mutant in mutants(source) if mutant.kind in kinds]
    died = killed(module, spec.origin, [mutant.code for mutant in made], tests, workers)
    counts: dict[str, tuple[int, int]] = {}
    for mutant, dead in zip(made, died, strict=True):
        before = counts.get(mutant.kind, (0, 0))
        counts[mutant.kind] = (before[0] + dead, before[1] + 1)
    return Score(module, counts, [m for m, dead in zip(made, died, strict=True) if not dead])


def rule_modules() -> list[tuple[str, list[str]]]:
    """Each rule's module, and the tests that are about the rule and need no compiler."""
    found = []
    for file in sorted((ROOT / "analyzers/kprof_analyzers/rules").glob("*/*.py")):
        if file.stem == "__init__":
            continue
        tests = [f"tests.rules.mutants:check:{file.parent.name}.{file.stem}"]
        found.append((f"kprof_analyzers.rules.{file.parent.name}.{file.stem}", tests))
    return found


def main() -> None:
    """Print a line for each module, and what survived."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("module", nargs="*", help="Dotted names; what comes after -- is for pytest.")
    parser.add_argument("--rules", action="store_true", help="All rules, or those whose module has a given word.")
    parser.add_argument("-j", "--jobs", type=int, default=1)
    parser.add_argument("--kind", action="append", choices=KINDS, help="Only such mutants; may be given several times.")
    parser.add_argument("--write", type=Path, help="Put the table into a page, between its markers.")
    own, tests = sys.argv[1:], []
    if "--" in own:
        own, tests = own[: own.index("--")], own[own.index("--") + 1 :]
    given = parser.parse_args(own)
    os.chdir(ROOT)
    import hypothesis  # noqa: F401
    import msgspec  # noqa: F401
    import pytest  # noqa: F401

    chosen = [(module, tests) for module in given.module]
    if given.rules:
        chosen = [(m, t) for m, t in rule_modules() if not given.module or any(word in m for word in given.module)]
    scores = []
    # A process for each module: what one leaves in memory must not be there for the next.
    context = multiprocessing.get_context("fork")
    for module, selection in chosen:
        with context.Pool(1) as alone:
            found = alone.apply(score, (module, selection, given.jobs, given.kind or KINDS))
        scores.append(found)
        print(_line(found), flush=True)
        for mutant in found.survivors:
            print(f"    line {mutant.line}: {mutant.kind}: {mutant.words}", flush=True)
    if given.write is not None:
        _write(given.write, scores)


def _line(found: Score) -> str:
    kinds = ", ".join(f"{kind} {dead}/{made}" for kind, (dead, made) in sorted(found.counts.items()))
    return f"{found.module}: {kinds}"


def _write(page: Path, scores: Sequence[Score]) -> None:
    kinds = [kind for kind in KINDS if any(kind in found.counts for found in scores)]
    rows = ["| module | " + " | ".join(kinds) + " |", "|---|" + "---|" * len(kinds)]
    total = dict.fromkeys(kinds, (0, 0))
    for found in scores:
        cells = []
        for kind in kinds:
            dead, made = found.counts.get(kind, (0, 0))
            total[kind] = (total[kind][0] + dead, total[kind][1] + made)
            cells.append(f"{dead}/{made}" if made else "")
        rows.append(f"| {found.module.removeprefix('kprof_analyzers.')} | {' | '.join(cells)} |")
    rows.append("| all | " + " | ".join(f"{dead}/{made}" for dead, made in total.values()) + " |")
    text = page.read_text(encoding="utf-8")
    begin, end = "<!-- table -->\n", "<!-- end -->"
    head, _, rest = text.partition(begin)
    page.write_text(f"{head}{begin}" + "\n".join(rows) + f"\n{end}{rest.partition(end)[2]}", encoding="utf-8")


if __name__ == "__main__":
    main()
