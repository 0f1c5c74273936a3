"""``kprof.diff(since=...)``: compare a work tree with a git revision."""

import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from kprof.diffing.document import Diff
from kprof.diffing.limits import DiffLimits
from kprof.errors import InputError, TargetError
from kprof.options.groups import CompileOptions
from kprof.options.searches import DiffOptions

if TYPE_CHECKING:
    from kprof.diffing.compiled_sides import SinceTarget
    from kprof.diffing.since import Repository


def diff_since(targets: Sequence[str], options: DiffOptions, limits: DiffLimits, tell: Callable[[str], None]) -> Diff:
    """Compare the kernels of a work tree with those of the git revision ``options.since``.

    Args:
        targets: Python files, folders and ``FILE.py::FUNCTION`` to compare; empty compares everything.
        options: how the named functions are compiled.
        limits: tolerances of the comparison.
        tell: called with a description of each step.

    Raises:
        TargetError: a target is not a Python file or folder of the work tree.
        InputError: git is missing, this is not a work tree, or the revision does not exist.
    """
    from kprof.diffing.revision import work_tree
    from kprof.diffing.since import compare_since, read_repository

    tree = work_tree(options.since, Path.cwd())
    named = [_named(target, tree.root) for target in targets]
    repository = read_repository(tree)
    launched = dict.fromkeys((each.file, each.function) for each in _configured(tree.root, options))
    chosen = [*_configured(tree.root, options)]
    chosen += (each for each in _written(repository, options) if (each.file, each.function) not in launched)
    chosen += _targets_with_signature(named, options)

    def is_wanted(file: str, name: str) -> bool:
        return not named or any(
            (file == place and function in {"", name}) or (not function and _is_below(file, place))
            for place, function in named
        )

    return compare_since(repository, options.since, chosen, limits, is_wanted=is_wanted, tell=tell)


def _named(target: str, root: Path) -> tuple[str, str]:
    """Return a target's path relative to the root of the work tree, and its function's name, or ``""`` without one."""
    file, _, function = target.partition("::")
    path = Path(file).resolve()
    if not path.is_relative_to(root.resolve()) or (path.suffix != ".py" and not path.is_dir()):
        raise TargetError("--since compares Python files and folders of the work tree", path=file)
    if not path.exists():
        raise TargetError("no such file or directory", path=file)
    return path.relative_to(root.resolve()).as_posix(), function


def _is_below(file: str, folder: str) -> bool:
    return folder == "." or file.startswith(f"{folder}/")


def _targets_with_signature(named: Sequence[tuple[str, str]], options: DiffOptions) -> "Iterator[SinceTarget]":
    """Yield the functions that the targets name, if ``--signature`` describes their launch."""
    from kprof.diffing.compiled_sides import SinceTarget

    for file, function in named:
        if function and options.signature:
            yield SinceTarget(file, function, options.part(CompileOptions))


def _written(repository: "Repository", options: DiffOptions) -> "Iterator[SinceTarget]":
    """Yield one target for each case of each file that defines a ``KERNEL``."""
    from kprof.diffing.compiled_sides import SinceTarget
    from kprof.diffing.since import KERNEL
    from kprof.targets.library import read_entry

    plain = replace(options.part(CompileOptions), signature=None, constexpr={}, grid=(), value={})
    for file in repository.new.files_with(KERNEL):
        known: Sequence[str | None] = read_entry(file, repository.tree.root / file).cases
        for case in known if known and options.case is None else [options.case]:
            yield SinceTarget(file, "", replace(plain, case=case))


def _configured(root: Path, options: DiffOptions) -> "Iterator[SinceTarget]":
    """Yield the source targets that the configuration of ``kprof check`` names."""
    from kprof.diffing.compiled_sides import SinceTarget
    from kprof.gate.config import find, load
    from kprof.gate.subjects import entry_options

    try:
        path = find(Path.cwd())
    except InputError:
        return
    if not path.resolve().is_relative_to(root.resolve()):
        return
    config = load(path)
    for entry in config.kernel:
        file, _, function = entry.target.partition("::")
        place = (path.parent / file).resolve()
        if place.suffix != ".py" or not place.is_file() or not place.is_relative_to(root.resolve()):
            continue
        arch = tuple(options.arch or entry.arch or config.arch)
        cases: Sequence[str | None] = entry.case or [None]
        for case in cases:
            compiles = replace(entry_options(entry, case), arch=arch, jobs=options.jobs)
            yield SinceTarget(os.path.relpath(place, root.resolve()), function, compiles)
