"""Compile the launches of a target in two checkouts of the same repository, each in its own process.

Each process has its own import path, because files of one checkout must not import modules of the other.
"""

import json
import os
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from kprof import children
from kprof.document import KernelReport
from kprof.errors import CompileError, KprofError
from kprof.options.groups import CompileOptions

if TYPE_CHECKING:
    from kprof.compiler.request import Compiled
    from kprof.targets.jobs import TargetJob


@dataclass(frozen=True)
class SinceTarget:
    """A source target that is compiled on both sides, in the revision and in the work tree.

    Attributes:
        file: path relative to the root of the repository.
        function: name of the Triton function; empty for the file's ``KERNEL``.
        options: compile options.
    """

    file: str
    function: str
    options: CompileOptions

    @property
    def text(self) -> str:
        """The target as written on the command line."""
        return f"{self.file}::{self.function}" if self.function else self.file


class CompiledLaunch(msgspec.Struct, frozen=True):
    """A compiled launch of a target on one side, in the revision or in the work tree.

    Attributes:
        file: file of the function, relative to the root.
        function: name of the Triton function in the file.
        name: name of the kernel.
        arch: architecture.
        code: hash of the machine code; empty if the launch does not compile.
        grid: workgroups.
        problem: why the launch does not compile.
    """

    file: str
    function: str
    name: str
    arch: str
    code: str = ""
    grid: list[int] | None = None
    problem: str = ""


class SideLaunches(msgspec.Struct, frozen=True):
    """Launches of a target in the revision or in the work tree, or the reason why there are none."""

    launches: list[CompiledLaunch] = []
    problem: str = ""


class CompiledSide:
    """The process that compiles one side, the revision or the work tree.

    Args:
        folder: the side's root.
        other: the root of the other side. Folders of the import path below it are replaced by folders of this side;
            nothing may be imported from it.
        jobs: number of worker processes of the compiler.
    """

    def __init__(self, folder: Path, other: Path | None) -> None:
        path = children.module_path()
        if other is not None:
            own = Path(__file__).resolve().parents[2]
            path = [each if Path(each).resolve() == own else _moved_path_entry(each, other, folder) for each in path]
        self._worker = children.PythonWorker(__name__, str(folder), str(other or ""), path=path, log=True)

    def end(self) -> None:
        """End the process."""
        self._worker.end()

    def compile(self, target: SinceTarget) -> SideLaunches:
        """Compile every launch of a target."""
        said = self._ask({"target": target.text, "options": vars(target.options)})
        return msgspec.convert(said, SideLaunches)

    def reports(self, target: SinceTarget, launches: Sequence[int]) -> list[KernelReport]:
        """Analyse launches of a target that :meth:`compile` compiled before."""
        return msgspec.convert(self._ask({"target": target.text, "reports": list(launches)}), list[KernelReport])

    def _ask(self, question: Mapping[str, Any]) -> Any:
        try:
            self._worker.stdin.write(msgspec.json.encode(question) + b"\n")
            line = self._worker.line()
        except OSError:
            line = b""
        if not line:
            raise CompileError(f"the process that compiles ended: {self._worker.printed()[-500:]}")
        return json.loads(line)


def _moved_path_entry(entry: str, old: Path, new: Path) -> str:
    """Return a folder of the import path, moved to the new root if it is below the old root."""
    place = Path(entry)
    try:
        inside = place.resolve().relative_to(old.resolve())
    except ValueError:
        return entry
    # A virtual environment inside the repository is shared by both sides.
    if place.resolve().is_relative_to(Path(sys.prefix).resolve()):
        return entry
    return str(new / inside)


def main() -> None:
    """Answer requests from standard input, one per line, until it ends."""
    children.end_with_parent()
    source, answers = children.own_streams(2)
    folder, other = Path(sys.argv[1]), sys.argv[2]
    os.chdir(folder)
    side = _Side(folder, Path(other) if other else None)
    for line in source:
        answers.write(msgspec.json.encode(side.answer(json.loads(line))) + b"\n")


class _Side:
    """Compiled launches of one side, kept until their reports are requested."""

    def __init__(self, folder: Path, other: Path | None) -> None:
        self._folder = folder
        self._other = other
        self._done: dict[str, list[tuple[TargetJob, Compiled | None]]] = {}

    def answer(self, question: Mapping[str, Any]) -> Any:
        if "reports" in question:
            return [self._report(*self._done[question["target"]][at]) for at in question["reports"]]
        try:
            return self._compile(question["target"], CompileOptions(**question["options"]))
        except KprofError as error:
            # Remove the temporary folder of the revision from the text, because it means nothing to the user.
            return SideLaunches(problem=str(error).splitlines()[0].replace(f"{self._folder}/", ""))

    def _compile(self, target: str, options: CompileOptions) -> SideLaunches:
        from kprof.compiler.compile import compile_many
        from kprof.hardware.default import DEFAULT_GPU
        from kprof.hardware.machine import load_gpu
        from kprof.inputs.amdgcn.code_hash import code_hash
        from kprof.targets.jobs import plan

        planned: list[TargetJob] = []
        for machine, product in map(load_gpu, options.arch or (DEFAULT_GPU,)):
            for job in plan(target, [machine], options, product):
                each = [one for _, one in job.listed] or [job]
                planned += (replace(one, product=product) for one in each)
        self._check_imports()
        done: list[Compiled | None] = [None] * len(planned)
        problems = [""] * len(planned)
        requests = [job.request for job in planned]
        for outcome in compile_many(requests, options.jobs or None, cache=options.use_cache):
            done[outcome.index] = outcome.compiled
            problems[outcome.index] = "" if outcome.ok else outcome.error or outcome.status
        self._done[target] = list(zip(planned, done, strict=True))
        return SideLaunches(
            [
                CompiledLaunch(
                    self._relative(job.request.path),
                    job.request.function,
                    job.name,
                    job.machine.name,
                    code_hash(compiled.amdgcn) if compiled is not None else "",
                    list(job.grid) if job.grid is not None else None,
                    problem,
                )
                for job, compiled, problem in zip(planned, done, problems, strict=True)
            ]
        )

    def _check_imports(self) -> None:
        """Check that no module of the other folder was imported.

        Raises:
            KprofError: a module was imported from the other folder, so its definitions belong to the other side.
        """
        own = Path(__file__).resolve().parents[2]
        for name, module in list(sys.modules.items()):
            file = getattr(module, "__file__", None)
            if self._other is None or not file or name.partition(".")[0].startswith("kprof"):
                continue
            place = Path(file)
            if place.is_relative_to(own / "kernels") or place.is_relative_to(sys.prefix):
                continue
            if place.is_relative_to(self._other):
                raise KprofError(f"the module {name} is imported from {self._other} and not from the revision")

    def _relative(self, path: str) -> str:
        try:
            return Path(path).resolve().relative_to(self._folder.resolve()).as_posix()
        except ValueError:
            return path

    def _report(self, job: "TargetJob", compiled: "Compiled | None") -> KernelReport:
        from kprof.diffing.analysis import with_costs
        from kprof.targets.jobs import loaded

        assert compiled is not None
        return with_costs(loaded(job, compiled))
