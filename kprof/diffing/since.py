"""Find the kernels that changed in a work tree since a git revision.

Source code is compared first. If all code that defines and launches a kernel is unchanged, so is its machine code.
Other kernels are compiled on both sides if a target describes their launches; if none does, they may have changed.
"""

import re
import tempfile
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path, PurePosixPath

import msgspec

from kprof.diffing.comparing import Input
from kprof.diffing.comparing import diff as compared
from kprof.diffing.compiled_sides import CompiledLaunch, CompiledSide, SideLaunches, SinceTarget
from kprof.diffing.document import CodeStatus, Diff, KernelSince, Since
from kprof.diffing.limits import DiffLimits
from kprof.diffing.revision import WorkTree
from kprof.document import KernelReport, Verdict
from kprof.errors import KprofError
from kprof.importing.code_graph import CodeGraph, Key
from kprof.importing.definitions import FileDefinitions, read_definitions
from kprof.inputs import boundary
from kprof.output.quantities import plural

KERNEL = "KERNEL"
_DATA = frozenset({".json", ".csv", ".yaml", ".yml", ".toml", ".txt", ".tsv"})
_NO_DATA = frozenset({"kprof.toml", "pyproject.toml", "kprof-baseline.json"})
_GPU = re.compile(r"(?i)(?:gfx\w{3,4}|mi\d{3}\w?)$")
_SHORTEST = 4
_ORDER: tuple[CodeStatus, ...] = ("changed", "source", "launch", "new", "gone", "unchanged")
_UNSURE = frozenset({"source", "launch"})
_MAX_SHOWN = 3


@dataclass
class Repository:
    """A repository's Python code on both sides: in the revision and in the work tree.

    Attributes:
        tree: the work tree and the revision.
        old: definitions in the revision.
        new: definitions in the work tree.
        changed: paths of files that differ between the sides.
        unread: Python files that cannot be read, with the reason.
    """

    tree: WorkTree
    old: CodeGraph
    new: CodeGraph
    changed: set[str]
    unread: dict[str, str] = field(default_factory=dict)


def read_repository(tree: WorkTree) -> Repository:
    """Read the definitions in all Python files on both sides; nothing is imported."""
    changed, unread = tree.changed, dict[str, str]()
    files: dict[str, FileDefinitions] = {}
    for path in tree.files:
        if path.endswith(".py"):
            _add(files, path, unread, partial(boundary.read_text, tree.root / path))
    blobs = tree.blobs
    old = {path: file for path, file in files.items() if path not in changed}
    before = sorted(path for path in changed if path.endswith(".py") and path in blobs)
    for path, content in zip(before, tree.contents([blobs[path].name for path in before]), strict=True):
        _add(old, path, unread, partial(content.decode, "utf-8-sig", errors="replace"))
    return Repository(tree, CodeGraph(old), CodeGraph(files), changed, unread)


def _add(files: dict[str, FileDefinitions], path: str, unread: dict[str, str], text: Callable[[], str]) -> None:
    try:
        files[path] = read_definitions(path, text())
    except (KprofError, SyntaxError, ValueError, RecursionError, MemoryError) as error:
        unread[path] = str(error)


def kernel_changes(repository: Repository) -> list[tuple[Key, KernelSince]]:
    """Compare the source code of all kernels, and of the code that launches them. Nothing is compiled."""
    old, new = repository.old, repository.new
    here, there = dict.fromkeys(new.kernels), dict.fromkeys(old.kernels)
    sources = {key: old.source(key) for key in there}
    gone = [key for key in there if key not in here]
    launched = {key: new.launch_parts(key) for key in here}
    by_file = _by_data_file(repository, launched)
    found: list[tuple[Key, KernelSince]] = []
    for key in here:
        source = new.source(key)
        before = key if key in there else next((each for each in gone if sources[each] == source), None)
        if before is None:
            found.append((key, _change(new, key, "new")))
            continue
        if before != key:
            gone.remove(before)
        files = by_file.get(key, [])
        if sources[before] != source:
            parts = _differing(old.source_parts(before), new.source_parts(key))
            change = _change(new, key, "source", parts or [key[1]])
        elif (parts := _differing(old.launch_parts(before), launched[key])) or files:
            change = _change(new, key, "launch", [*parts, *files])
        else:
            change = msgspec.structs.replace(_change(new, key, "unchanged"), by="source")
        moved = "" if before == key else "::".join(before)
        found.append((key, msgspec.structs.replace(change, moved_from=moved)))
    found += [(key, _change(old, key, "gone")) for key in gone]
    return found


def _change(graph: CodeGraph, key: Key, status: CodeStatus, reasons: Sequence[str] = ()) -> KernelSince:
    users = graph.users(key)
    return KernelSince(
        name=key[1],
        file=key[0],
        line=graph.definition(key).line,
        status=status,
        reasons=list(reasons),
        functions=["::".join(each) for each in graph.public(users)],
        tests=graph.tests(users) if status != "gone" else [],
    )


def _differing(old: Mapping[Key, str], new: Mapping[Key, str]) -> list[str]:
    """Return the names of definitions that differ; a definition that was only moved to another file does not differ."""
    before = Counter((name, digest) for (_, name), digest in old.items())
    after = Counter((name, digest) for (_, name), digest in new.items())
    return sorted({name for name, _ in (*(before - after), *(after - before))})


def _by_data_file(repository: Repository, launched: Mapping[Key, Mapping[Key, str]]) -> dict[Key, list[str]]:
    """Return, for each kernel, the changed data files whose names occur in the code that launches the kernel.

    If texts from the code of several kernels match a file's name, the longest text decides: ``GEMM-A8W8`` also occurs
    in file names of other kernels.
    """
    graph = repository.new
    words: dict[str, set[Key]] = defaultdict(set)
    for key in {part for parts in launched.values() for part in parts}:
        for word in graph.words([key]):
            plain = PurePosixPath(word).name.strip("-_.= ")
            plain = plain.removesuffix(PurePosixPath(plain).suffix) if PurePosixPath(plain).suffix in _DATA else plain
            if len(plain) >= _SHORTEST and not _GPU.match(plain):
                words[plain].add(key)
    found: dict[Key, list[str]] = defaultdict(list)
    for path in data_files(repository):
        stem = PurePosixPath(path).stem
        fitting = [word for word in words if word in stem and _is_part(word, stem)]
        if fitting:
            readers = words[max(fitting, key=len)]
            for kernel, parts in launched.items():
                if not readers.isdisjoint(parts):
                    found[kernel].append(path)
    return found


def data_files(repository: Repository) -> list[str]:
    """Return the changed data files in the top-level folders that contain kernels."""
    graphs = (repository.old, repository.new)
    tops = {path.partition("/")[0] for graph in graphs for path, _ in graph.kernels if "/" in path}
    flat = any("/" not in path for graph in graphs for path, _ in graph.kernels)
    return sorted(
        path
        for path in repository.changed
        if PurePosixPath(path).suffix in _DATA
        and PurePosixPath(path).name not in _NO_DATA
        and (path.partition("/")[0] in tops if "/" in path else flat)
    )


def _is_part(word: str, stem: str) -> bool:
    return re.search(rf"(?:^|[^A-Za-z0-9]){re.escape(word)}(?:$|[^A-Za-z0-9])", stem) is not None


def kernels_of(graph: CodeGraph, target: SinceTarget) -> list[Key]:
    """Return the kernels that a target launches."""
    if target.function:
        key = (target.file, target.function)
        return [key] if key in graph.kernels else []
    own = (target.file, KERNEL)
    return [key for key in graph.kernels if own in graph.users(key)]


def compare_since(
    repository: Repository,
    revision: str,
    targets: Sequence[SinceTarget],
    limits: DiffLimits,
    *,
    is_wanted: Callable[[str, str], bool],
    tell: Callable[[str], None],
) -> Diff:
    """Compare a work tree with a revision.

    Args:
        repository: both sides.
        revision: the revision as the user named it.
        targets: targets that describe how kernels are launched. A target is compiled if the source of one of its
            kernels, or of the code that launches it, differs.
        limits: thresholds from which changes are significant.
        is_wanted: function that takes a kernel's file and name and returns whether to compare the kernel.
        tell: called with a description of each step.
    """
    tell("comparing source code")
    changes = {key: each for key, each in kernel_changes(repository) if is_wanted(*key)}
    label = f"{revision} ({repository.tree.commit[:10]})"
    compiled = _Compiled(changes, repository, tell)
    unsure = {key for key, each in changes.items() if each.status in _UNSURE}
    chosen = [target for target in targets if not unsure.isdisjoint(kernels_of(repository.new, target))]
    if chosen:
        compiled.compile(chosen)
    sides = [
        Input(label, compiled.old, compiled.problems_of_old),
        Input("work tree", compiled.new, compiled.problems_of_new, compiled.lost),
    ]
    found = compared(sides, limits)
    since = _document(repository, revision, compiled.changes.values())
    return msgspec.structs.replace(found, since=since, verdict=_verdict(found, since))


class _Compiled:
    """Kernels whose source differs, with the results of compiling both sides.

    Attributes:
        changes: all kernels, with their current status.
        old, new: reports of launches whose code differs.
        problems_of_old, problems_of_new: errors of the compiles on each side.
        lost: errors of kernels that compile only on the old side, by name and architecture.
    """

    def __init__(self, changes: dict[Key, KernelSince], repository: Repository, tell: Callable[[str], None]) -> None:
        self.changes = changes
        self.old: list[KernelReport] = []
        self.new: list[KernelReport] = []
        self.problems_of_old: list[str] = []
        self.problems_of_new: list[str] = []
        self.lost: dict[tuple[str, str], str] = {}
        self._by_source = dict(changes)
        self._repository = repository
        self._tell = tell

    def compile(self, targets: Sequence[SinceTarget]) -> None:
        """Compile targets in the revision and in the work tree."""
        tree = self._repository.tree
        with tempfile.TemporaryDirectory(prefix="kprof-since-") as name:
            folder = Path(name).resolve()
            tree.write(folder, tree.blobs)
            with ExitStack() as stack:
                old = CompiledSide(folder, tree.root)
                stack.callback(old.end)
                new = CompiledSide(tree.root, None)
                stack.callback(new.end)
                for target in targets:
                    self._tell(f"compiling {target.text}")
                    self._compare(target, old, new)

    def _compare(self, target: SinceTarget, old: CompiledSide, new: CompiledSide) -> None:
        before, after = old.compile(target), new.compile(target)
        for key in kernels_of(self._repository.new, target):
            if key not in self.changes:
                continue
            mine = [at for at, each in enumerate(after.launches) if (each.file, each.function) == key]
            was = self.changes[key].moved_from.rpartition("::")
            first = (was[0], was[2]) if was[0] else key
            theirs = [at for at, each in enumerate(before.launches) if (each.file, each.function) == first]
            self._judge(
                target,
                key,
                [before.launches[at] for at in theirs],
                [after.launches[at] for at in mine],
                (before, after),
            )
            if self.changes[key].status == "changed":
                self.old += old.reports(target, [at for at in theirs if before.launches[at].code])
                self.new += new.reports(target, [at for at in mine if after.launches[at].code])

    def _judge(
        self,
        target: SinceTarget,
        key: Key,
        old: Sequence[CompiledLaunch],
        new: Sequence[CompiledLaunch],
        sides: tuple[SideLaunches, SideLaunches],
    ) -> None:
        change = self.changes[key]
        problem = self._problem(target, old, new, sides)
        if problem:
            # Not all launches of the kernel could be compared, even if those of another target were.
            status = "changed" if change.status == "changed" else self._by_source[key].status
            reasons = list(dict.fromkeys([*change.reasons, problem]))
            self.changes[key] = msgspec.structs.replace(change, status=status, by="", reasons=reasons)
            return
        total = change.compiled + len(new)
        change = msgspec.structs.replace(change, compiled=total)
        first = self._by_source[key].status
        if _codes(old) != _codes(new):
            change = msgspec.structs.replace(change, status="changed", by="")
        elif _launches(old) != _launches(new):
            reasons = [*change.reasons, "the machine code is the same, bit for bit, but the grids differ"]
            change = msgspec.structs.replace(change, status="changed", by="", reasons=reasons)
        elif change.status == first and not change.compiled - len(new):
            change = msgspec.structs.replace(change, status="unchanged", by="code")
        self.changes[key] = change

    def _problem(
        self,
        target: SinceTarget,
        old: Sequence[CompiledLaunch],
        new: Sequence[CompiledLaunch],
        sides: tuple[SideLaunches, SideLaunches],
    ) -> str:
        """Return why a target's code cannot be compared, and add the reason to the problems of the affected side."""
        tells = (self.problems_of_old, self.problems_of_new)
        for side, (whole, launches, problems) in enumerate(zip(sides, (old, new), tells, strict=True)):
            words = whole.problem or next((each.problem for each in launches if each.problem), "")
            if not words and not launches:
                return f"{target.text} does not launch it {'now' if side else 'in the revision'}"
            if not words:
                continue
            told = f"{target.text}: {words}"
            if told not in problems:
                problems.append(told)
            if side and all(each.code for each in old):
                self.lost.update(((each.name, each.arch), words) for each in old if each.code)
            return f"does not compile {'now' if side else 'in the revision'}: {words}"
        return ""


def _codes(launches: Iterable[CompiledLaunch]) -> Counter[tuple[str, str]]:
    return Counter((each.arch, each.code) for each in launches)


def _launches(launches: Iterable[CompiledLaunch]) -> Counter[tuple[str, str, str]]:
    return Counter((each.arch, each.code, str(each.grid)) for each in launches)


def _document(repository: Repository, revision: str, changes: Iterable[KernelSince]) -> Since:
    found = sorted(changes, key=lambda each: (_ORDER.index(each.status), each.file, each.line))
    counts = Counter(each.status for each in found)
    claimed = {reason for each in found for reason in each.reasons}
    return Since(
        revision=revision,
        commit=repository.tree.commit,
        folder=repository.tree.folder,
        kernels=found,
        counts={status: counts[status] for status in _ORDER if counts[status]},
        tests=sorted({test for each in found if each.status not in {"unchanged", "gone"} for test in each.tests}),
        unread=[f"{path}: {why}" for path, why in sorted(repository.unread.items())],
        unclaimed=[path for path in data_files(repository) if path not in claimed],
    )


def _verdict(diff: Diff, since: Since) -> Verdict:
    """Return the verdict; a regression has precedence over kernels that cannot be compared."""
    counts = since.counts
    total = plural(len(since.kernels), "kernel")
    same = f"{counts.get('unchanged', 0)} of {total} unchanged since {since.revision}, bit for bit"
    words = [f"{counts[status]} {status}" for status in ("changed", "new", "gone") if counts.get(status)]
    told = ", ".join([same, *words])
    unsure = []
    if counts.get("source"):
        unsure.append(f"the source of {plural(counts['source'], 'kernel')} changed and was not compiled")
    if counts.get("launch"):
        unsure.append(f"code that launches {plural(counts['launch'], 'kernel')} changed and was not compiled")
    if since.unread:
        unsure.append(f"{plural(len(since.unread), 'file')} cannot be read ({since.unread[0]})")
    if since.unclaimed:
        unsure.append(f"it is not known which kernels read {_shortened_list(since.unclaimed)}")
    if diff.verdict.status == "regression":
        return Verdict(status="regression", summary=f"{diff.verdict.summary}; {'; '.join([told, *unsure])}")
    if unsure:
        return Verdict(status="cannot_tell", summary=f"cannot tell: {'; '.join([*unsure, told])}")
    if not since.kernels:
        return Verdict(status="cannot_tell", summary="cannot tell: there is no Triton function")
    if diff.verdict.status == "cannot_tell" and diff.kernels:
        return Verdict(status="cannot_tell", summary=f"{diff.verdict.summary}; {told}")
    return Verdict(status="ok", summary=f"ok: {told}")


def _shortened_list(names: Sequence[str]) -> str:
    more = f" and {len(names) - _MAX_SHOWN} more" if len(names) > _MAX_SHOWN else ""
    return f"{', '.join(names[:_MAX_SHOWN])}{more}"
