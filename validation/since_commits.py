"""Compare ``kprof diff --since`` with Triton's own keys over commits of AITER: docs/validation/since.md.

    python validation/since_commits.py CLONE [--commits 30] [--newest COMMIT] [--write docs/validation/since.md]

``CLONE`` is a clone of https://github.com/ROCm/aiter. Two other methods determine what each commit changed:

- *Triton's key.* Both trees are written without comments and docstrings, all modules of ``aiter/ops/triton`` are
  imported, and each Triton function is asked for its ``cache_key``: a hash of its source, of the functions that it
  calls and of the constants that it uses, by which Triton decides whether to compile again. Other modules of AITER are
  stand-ins. kprof reads names in text and imports nothing.
- *Plain text.* Functions, classes and constants whose text differs and has the name of a kernel in it: they launch it,
  and kprof has to name the kernel. And each definition that kprof gives as a reason has to differ.
"""

import argparse
import ast
import io
import json
import os
import re
import subprocess
import sys
import tarfile
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

FOLDER = "aiter/ops/triton"
ROOT = Path(__file__).resolve().parents[1]


@dataclass
class Row:
    """One commit: the answers of kprof and those of the comparison with Triton's keys."""

    commit: str
    title: str
    kernels: int = 0
    keyed: int = 0
    unchanged: int = 0
    named: dict[str, list[str]] = field(default_factory=dict)
    by_key: list[str] = field(default_factory=list)
    missed: list[str] = field(default_factory=list)
    unfounded: list[str] = field(default_factory=list)
    tests: int = 0
    all_tests: int = 0
    seconds: float = 0.0


def git(clone: Path, *words: str) -> str:
    """Return what git says."""
    done = subprocess.run(["git", "-C", str(clone), *words], check=True, capture_output=True)
    return done.stdout.decode(errors="replace")


# Triton's keys.


class Standin:
    """Replacement for any object of an AITER module that is not imported."""

    def __init__(self, name: str = "stand-in") -> None:
        self.__name__ = name

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return Standin(name)

    def __call__(self, *given: Any, **_: Any) -> Any:
        return given[0] if len(given) == 1 and callable(given[0]) else Standin()

    def __iter__(self) -> Iterator[Any]:
        return iter(())

    def __repr__(self) -> str:
        return "stand-in"

    def __lt__(self, _other: object) -> bool:
        return False

    __le__ = __gt__ = __ge__ = __lt__

    def __getitem__(self, _key: object) -> "Standin":
        return Standin()

    __or__ = __ror__ = __getitem__

    def __deepcopy__(self, _memo: Any) -> "Standin":
        return self


class Standins:
    """Import finder that creates replacement modules for AITER's other modules and for missing packages."""

    def __init__(self, root: Path) -> None:
        self._root = root

    def find_spec(self, name: str, _path: Any = None, _target: Any = None) -> Any:
        """Return the spec of a replacement for a missing module."""
        import importlib.machinery

        top = name.partition(".")[0]
        place = self._root.joinpath(*name.split("."))
        if top == "aiter" and (place.with_suffix(".py").exists() or place.is_dir()):
            return None
        if top in {
            "aiter",
            "iris",
            "jax",
            "_utils",
            "op_tests",
            "flydsl",
            "einops",
            "pandas",
            "packaging",
            "vllm",
            "triton_dist",
            "mori",
        }:
            return importlib.machinery.ModuleSpec(name, self, is_package=True)
        return None

    def create_module(self, spec: Any) -> Any:
        """Create an empty module in which every name is a replacement object."""
        from types import ModuleType

        class Module(ModuleType):
            def __getattr__(self, name: str) -> Any:
                if name.startswith("__"):
                    raise AttributeError(name)
                return Standin(name)

            def __deepcopy__(self, _memo: Any) -> ModuleType:
                return self

        return Module(spec.name)

    def exec_module(self, module: Any) -> None:
        """Execute nothing."""


def keys(root: Path) -> dict[str, str]:
    """Return Triton's key of each function below a folder, with lines and its own name left out."""
    import importlib

    import triton
    from triton.runtime.jit import JITCallable

    # An autotuner's configurations do not belong to the code of a function.
    triton.autotune = triton.heuristics = lambda *_, **__: lambda function: function
    sys.argv = [sys.argv[0]]
    sys.meta_path.insert(0, Standins(root))  # type: ignore[arg-type]  # it has what Python asks for
    sys.path.insert(0, str(root))
    modules = []
    for path in sorted((root / FOLDER).rglob("*.py")):
        name = ".".join(path.relative_to(root).with_suffix("").parts).removesuffix(".__init__")
        try:
            modules.append((path.relative_to(root).as_posix(), name, importlib.import_module(name)))
        except BaseException as error:  # noqa: BLE001 - whatever a file raises without a GPU
            print(f"{path}: {type(error).__name__}: {str(error)[:90]}", file=sys.stderr)
    functions: dict[str, Any] = {}
    for path, module_name, module in modules:
        for name, value in vars(module).items():
            found = value
            while not isinstance(found, JITCallable) and hasattr(found, "fn") and not isinstance(found, Standin):
                found = found.fn
            if isinstance(found, JITCallable) and found.__module__ == module_name:
                found.starting_line_number = 0
                functions[f"{path}::{name}"] = found
    told = {}
    for name, function in functions.items():
        try:
            values = (
                {key[0]: repr(value[0]) for key, value in function.used_global_vals.items()} if function.hash else {}
            )
            told[name] = function.cache_key + str(getattr(function, "noinline", False)) + json.dumps(values)
        except Exception as error:  # noqa: BLE001 - what Triton refuses has no key
            print(f"{name}: {type(error).__name__}: {str(error)[:90]}", file=sys.stderr)
    return told


class _Bare(ast.NodeTransformer):
    """Transformer that removes docstrings."""

    def visit(self, node: ast.AST) -> Any:
        self.generic_visit(node)
        body = getattr(node, "body", None)
        if isinstance(body, list):
            kept = [
                one
                for one in body
                if not (
                    isinstance(one, ast.Expr)
                    and isinstance(one.value, ast.Constant)
                    and isinstance(one.value.value, str)
                )
            ]
            vars(node)["body"] = kept or [ast.Pass()]
        return node


def bare(text: str) -> ast.Module:
    """Return a file without comments and docstrings."""
    return ast.fix_missing_locations(_Bare().visit(ast.parse(text)))


def write_bare(clone: Path, commit: str, folder: Path) -> None:
    """Write the Triton folder of a commit without comments and docstrings."""
    packed = subprocess.run(
        ["git", "-C", str(clone), "archive", commit, FOLDER], check=True, capture_output=True
    ).stdout
    with tarfile.open(fileobj=io.BytesIO(packed)) as files:
        files.extractall(folder, filter="data")
    for place in (folder / FOLDER).rglob("*.py"):
        text = place.read_text()
        if text not in _BARE:
            _BARE[text] = ast.unparse(bare(text))
        place.write_text(_BARE[text])
    for package in ("aiter", "aiter/ops"):
        (folder / package / "__init__.py").write_text("from aiter.standin import dtypes\n" * (package == "aiter"))


_BARE: dict[str, str] = {}
_KEYS: dict[str, dict[str, str]] = {}


def keys_of(clone: Path, commit: str) -> dict[str, str]:
    """Return Triton's keys at a commit; keys of an equal folder are cached."""
    tree = git(clone, "rev-parse", f"{commit}:{FOLDER}").strip()
    if tree not in _KEYS:
        with tempfile.TemporaryDirectory() as name:
            write_bare(clone, commit, Path(name))
            answer = Path(name, "keys.json")
            child = os.fork()
            if child == 0:
                # Unload the modules of the previous tree. torch and Triton are already imported and stay.
                try:
                    answer.write_text(json.dumps(keys(Path(name))))
                finally:
                    os._exit(0)
            os.waitpid(child, 0)
            _KEYS[tree] = json.loads(answer.read_text())
            print(f"  {len(_KEYS[tree])} keys", file=sys.stderr, flush=True)
    return _KEYS[tree]


# Plain text.


def pieces(text: str) -> dict[str, str]:
    """Return the text of each top-level definition in a file."""
    found: dict[str, str] = {}
    waiting = list(bare(text).body)
    while waiting:
        node = waiting.pop(0)
        if isinstance(node, ast.If | ast.Try | ast.With):
            waiting += [each for part in ("body", "orelse", "finalbody") for each in getattr(node, part, ())]
            waiting += [each for handler in getattr(node, "handlers", ()) for each in handler.body]
        elif isinstance(node, ast.FunctionDef | ast.ClassDef | ast.AsyncFunctionDef):
            found[node.name] = found.get(node.name, "") + ast.unparse(node)
        elif isinstance(node, ast.Assign | ast.AnnAssign | ast.AugAssign):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            for each in targets:
                for name in (part.id for part in ast.walk(each) if isinstance(part, ast.Name)):
                    found[name] = found.get(name, "") + ast.unparse(node)
    return found


def differing(clone: Path, commit: str) -> dict[str, dict[str, str]]:
    """Return the definitions that a commit changed, by file, with the text of both sides."""
    found: dict[str, dict[str, str]] = {}
    for path in git(clone, "diff", "--name-only", "--no-renames", f"{commit}^", commit).splitlines():
        if path.endswith(".py"):
            sides = []
            for side in (f"{commit}^", commit):
                done = subprocess.run(
                    ["git", "-C", str(clone), "show", f"{side}:{path}"], check=False, capture_output=True
                )
                sides.append(pieces(done.stdout.decode(errors="replace")) if done.returncode == 0 else {})
            old, new = sides
            names = {name for name in {*old, *new} if old.get(name) != new.get(name)}
            found[path] = {name: old.get(name, "") + new.get(name, "") for name in names}
    return found


def is_no_launch(path: str) -> bool:
    """Return whether a file is a test or a benchmark."""
    return Path(path).name.startswith(("test_", "bench", "conftest")) or path.endswith("_test.py")


# Both.

_READ: dict[tuple[str, str], Any] = {}


def remember_files() -> None:
    """Cache the contents of files, so that equal files are read once for all commits."""
    from kprof.diffing import since
    from kprof.importing.definitions import read_definitions

    def read(path: str, text: str) -> Any:
        if (path, text) not in _READ:
            _READ[path, text] = read_definitions(path, text)
        return _READ[path, text]

    since.read_definitions = read  # type: ignore[attr-defined]  # only for speed


def row_of(clone: Path, commit: str) -> Row:
    """Compare kprof's answer for a commit with both other methods."""
    import kprof

    title = git(clone, "log", "-1", "--format=%s", commit).strip()
    row = Row(commit[:10], title)
    git(clone, "checkout", "--quiet", "--detach", "--force", commit)
    begun = time.perf_counter()
    found = kprof.diff(targets=[str(clone / FOLDER)], since=f"{commit}^")
    row.seconds = time.perf_counter() - begun
    since: Any = found.document.since
    statuses = {f"{each.file}::{each.name}": each for each in since.kernels}
    row.kernels = len(since.kernels)
    row.unchanged = since.counts.get("unchanged", 0)
    row.tests = len(since.tests)
    row.all_tests = len({test for each in since.kernels for test in each.tests})
    for each in since.kernels:
        if each.status != "unchanged":
            row.named.setdefault(each.status, []).append(each.name)
    old, new = keys_of(clone, f"{commit}^"), keys_of(clone, commit)
    for name in sorted({*old, *new} & {*statuses}):
        row.keyed += 1
        status = statuses[name].status
        if name in old and name in new:
            if old[name] != new[name]:
                row.by_key.append(name)
            if (old[name] != new[name]) != (status == "source"):
                (row.missed if old[name] != new[name] else row.unfounded).append(f"{name} (Triton's key)")
        elif name in new and status != "new" and not statuses[name].moved_from:
            row.missed.append(f"{name} (new)")
        elif name in old and name not in new and status != "gone":
            row.missed.append(f"{name} (gone)")
    changed = differing(clone, commit)
    defined = Counter(git(clone, "grep", "-hoE", r"\bdef \w+", "--", "*.py").splitlines())
    check_text(row, changed, statuses, defined)
    return row


def check_text(
    row: Row, changed: Mapping[str, Mapping[str, str]], statuses: Mapping[str, Any], defined: Mapping[str, int]
) -> None:
    """Check that kernels with changed launching text are named, and that everything that kprof names did change.

    If several functions have the same name, text alone does not identify the function.
    """
    for each in statuses.values():
        if each.status == "unchanged" and defined[f"def {each.name}"] == 1:
            word = re.compile(rf"\b{re.escape(each.name)}\b")
            for path, texts in changed.items():
                users = [name for name, text in texts.items() if word.search(text)]
                if users and not is_no_launch(path):
                    row.missed.append(f"{each.file}::{each.name} ({path}: {', '.join(users)})")
    every = {name for texts in changed.values() for name in texts} | {*changed}
    for each in statuses.values():
        if each.status in {"source", "launch"}:
            reasons = [one for one in each.reasons if one not in every and "/" not in one]
            if len(reasons) == len(each.reasons):
                row.unfounded.append(f"{each.file}::{each.name} ({', '.join(reasons[:3])})")


def page(rows: list[Row], triton: str) -> str:
    """Return the page."""
    kernels = sum(row.kernels for row in rows)
    unchanged = sum(row.unchanged for row in rows)
    missed, unfounded = (sum(len(getattr(row, name)) for row in rows) for name in ("missed", "unfounded"))
    quiet = sum(row.unchanged == row.kernels for row in rows)
    tests, all_tests = sum(row.tests for row in rows), sum(row.all_tests for row in rows)
    about = [
        f"`kprof diff --since COMMIT^` at {len(rows)} consecutive commits of [ROCm/aiter]",
        f"(https://github.com/ROCm/aiter) that change `{FOLDER}`, {rows[-1].commit} to {rows[0].commit}. ",
        "Written by `validation/since_commits.py`, which says what kprof's answers are compared with: the ",
        "keys by which ",
        f"Triton {triton} decides whether to compile again, for {sum(row.keyed for row in rows):,} of the {kernels:,} ",
        "answers, and the text of the definitions that a commit changed. AITER's kernels do not say how they are ",
        "launched, so nothing is compiled: kprof says *source* and *launch* for what may have changed. A kernel that ",
        "is named for a changed data file was not compared with what reads the file: *no change* does not count it.",
    ]
    same = f"{unchanged:,} of {kernels:,} ({unchanged / kernels:.1%}) kernels are unchanged, bit for bit"
    lines = [
        "# What changed since a revision: AITER's commits",
        "",
        "".join(about),
        "",
        f"- missed: {missed}; named without a change: {unfounded}",
        f"- {same}, and need no timing; in {quiet} commits all are",
        f"- tests to run: {tests:,} of {all_tests:,} that launch a kernel ({tests / max(all_tests, 1):.1%})",
        "",
        "| commit | kernels | unchanged | source | launch | new | gone | keys | missed | no change | tests | of |",
        "|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|",
    ]
    for row in rows:
        counts = [len(row.named.get(status, ())) for status in ("source", "launch", "new", "gone")]
        cells = [
            row.kernels,
            row.unchanged,
            *counts,
            len(row.by_key),
            len(row.missed),
            len(row.unfounded),
            row.tests,
            row.all_tests,
        ]
        lines.append(f"| {row.commit} | {' | '.join(map(str, cells))} |")
    notes = [f"- {row.commit}: {one}" for row in rows for one in (*row.missed, *row.unfounded)]
    if notes:
        lines += ["", "Where they differ:", "", *notes]
    return "\n".join(lines) + "\n"


def main() -> None:
    """Compare all commits."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("clone", type=Path)
    parser.add_argument("--commits", type=int, default=30)
    parser.add_argument("--newest", default="origin/HEAD", help="Commit to begin with.")
    parser.add_argument("--write", type=Path)
    parser.add_argument("--keys", type=Path, help="Folder in which Triton's keys are kept for the next run.")
    options = parser.parse_args()
    import torch  # noqa: F401 - for the processes that are forked
    import triton

    clone = options.clone.resolve()
    written = options.write and options.write.resolve()
    os.chdir(clone)
    remember_files()
    for place in options.keys.glob("*.json") if options.keys else ():
        _KEYS[place.stem] = json.loads(place.read_text())
    newest = git(clone, "rev-parse", options.newest).strip()
    commits = git(clone, "log", f"-{options.commits}", "--no-merges", "--format=%H", newest, "--", FOLDER).split()
    rows = []
    for commit in commits:
        rows.append(row_of(clone, commit))
        print(rows[-1], file=sys.stderr, flush=True)
        if options.keys is not None:
            options.keys.mkdir(parents=True, exist_ok=True)
            for tree, told in _KEYS.items():
                (options.keys / f"{tree}.json").write_text(json.dumps(told))
        if written is not None:
            written.write_text(page(rows, triton.__version__))
    if written is None:
        print(page(rows, triton.__version__))


if __name__ == "__main__":
    main()
