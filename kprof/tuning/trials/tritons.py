"""Compile one target with several versions of Triton, one process each, and explain what got worse."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import msgspec
from msgspec import UNSET

from kprof.deadline import Deadline
from kprof.document import KernelReport
from kprof.errors import KprofError
from kprof.options.groups import CompileOptions

if TYPE_CHECKING:
    from typing_extensions import Self

    from kprof.compiler.child import Child
    from kprof.compiler.installations import Environment
    from kprof.diffing.comparing import Input
    from kprof.diffing.document import Explanation
    from kprof.diffing.limits import DiffLimits
    from kprof.diffing.programs import RecordedSide

_MODULE = "kprof.tuning.trials.serve"
_EXPLAINED = 4


@dataclass
class Tritons:
    """A target under several versions of Triton.

    Args:
        target: the target to compile; for a recorded program, the program.
        options: options of the compiles.
        versions: releases in the order of the comparison, ``installed`` for the running one.
        tell: called with status messages.
        wait: called with a description of each download or wait.
    """

    target: str
    options: CompileOptions
    versions: Sequence[str]
    tell: Callable[[str], None]
    wait: Callable[[str], None]

    def __post_init__(self) -> None:
        self._stack = ExitStack()
        self._children: list[Child] = []
        self._recorded: Sequence[RecordedSide] = ()
        self._launches: dict[int, Mapping[str, Any]] = {}
        self._configs: dict[int, Mapping[str, Any]] = {}
        self._targets: dict[int, str] = {}
        self._started: dict[int, Child] = {}

    def __enter__(self) -> "Self":
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    def sides(self) -> "list[Input]":
        """Compile and analyse the target with each version, in parallel; return one side of the comparison for each.

        Raises:
            KprofError: if an environment cannot be created, or no version can compile the target.
        """
        from kprof.compiler.child import Child
        from kprof.compiler.defaults import default_jobs
        from kprof.compiler.installations import CURRENT
        from kprof.compiler.versions import installed

        if CURRENT[0] in self.versions:
            # A missing Triton is reported before other releases are downloaded.
            installed()
        with ThreadPoolExecutor(max_workers=len(self.versions)) as threads:
            made = list(threads.map(self._environment, self.versions))
            self._children = [self._stack.enter_context(Child(each, _MODULE)) for each in made]
            jobs = max(1, (self.options.jobs or default_jobs()) // len(made))
            try:
                found = list(threads.map(lambda child: self._side_or_error(child, jobs), self._children))
            except BaseException:
                # The other threads wait for their child processes, so Ctrl-C would have to wait for all of them.
                for child in self._children:
                    child.kill()
                raise
        return self._with_failed(found)

    def _environment(self, name: str) -> "Environment":
        from kprof.compiler import installations
        from kprof.compiler.locations import is_path, locate

        if not is_path(name):
            return installations.provide(name, tell=self.wait)
        folder = self._stack.enter_context(TemporaryDirectory(prefix="kprof-triton-"))
        found = locate(name, Path(folder, "triton"), self.wait).environment
        if found is None:
            raise KprofError("its Triton is for another version of Python", path=name)
        return found

    def recorded(self, sides: "Sequence[RecordedSide]") -> "list[Input]":
        """Use sides that were recorded with each version; their kernels are compiled again only for explanations."""
        self._recorded = sides
        for found in sides:
            for kernel in found.side.kernels:
                place = found.entries[id(kernel)]
                self._targets[id(kernel)] = place.target
                self._launches[id(kernel)] = {"grid": place.grid, "listed": place.listed}
        return [found.side for found in sides]

    def _child(self, index: int) -> "Child":
        """Return the process of a side; processes of recorded sides start on demand.

        Raises:
            KprofError: if this Python cannot import the side's Triton.
        """
        from kprof.compiler.child import Child

        if not self._recorded:
            return self._children[index]
        known = self._started.get(index)
        if known is None:
            environment = self._recorded[index].environment
            if environment is None:
                raise KprofError(f"{self._recorded[index].side.label} has a Triton for another version of Python")
            known = self._started[index] = self._stack.enter_context(Child(environment, _MODULE))
        return known

    def _side_or_error(self, child: "Child", jobs: int) -> "Input | KprofError":
        try:
            return self._compiled_side(child, jobs)
        except KprofError as error:
            return error

    def _with_failed(self, found: "Sequence[Input | KprofError]") -> "list[Input]":
        """Return all sides. If a release fails for the whole target, all kernels count as lost on its side.

        Raises:
            KprofError: if all releases fail.
        """
        from kprof.diffing.comparing import Input

        errors = [side for side in found if isinstance(side, KprofError)]
        if len(errors) == len(found):
            raise errors[0]
        known = {(k.name, k.arch) for side in found if isinstance(side, Input) for k in side.kernels}
        sides = []
        for version, side in zip(self.versions, found, strict=True):
            if isinstance(side, KprofError):
                side = Input(version, [], [str(side)], dict.fromkeys(known, side.message))  # noqa: PLW2901
            sides.append(side)
        return sides

    def _compiled_side(self, child: "Child", jobs: int) -> "Input":
        from kprof.diffing.comparing import Input

        question = {"ask": "kernels", "target": self.target, "options": self._child_options(jobs=jobs)}
        kernels: dict[int, KernelReport] = {}
        problems: list[str] = []
        lost: dict[tuple[str, str], str] = {}
        for answer in child.ask(question):
            if answer["kind"] == "unread":
                problems.append(f"{answer['name']} cannot be compiled again: {answer['error']}")
                continue
            if answer["kind"] == "lost":
                problems.append(f"{answer['name']} on {answer['arch']} does not compile: {answer['error']}")
                lost[answer["name"], answer["arch"]] = answer["error"]
                continue
            kernel = msgspec.convert(answer["report"], KernelReport)
            kernels[answer["index"]] = kernel
            self._configs[id(kernel)] = answer["config"]
            self._targets[id(kernel)] = answer.get("target", self.target)
        ordered = [kernels[index] for index in sorted(kernels)]
        return Input(self._label(child, ordered), ordered, problems, lost)

    def _label(self, child: "Child", kernels: Sequence[KernelReport]) -> str:
        if child.environment.version != "installed":
            return child.environment.version
        known = [kernel.triton for kernel in kernels if isinstance(kernel.triton, str)]
        return f"{known[0]} (installed)" if known else "installed"

    def _child_options(self, **changes: Any) -> dict[str, Any]:
        """Return the compile options in the form that the child process reads."""
        return asdict(replace(self.options.part(CompileOptions), **changes))

    def explanations(self, sides: "Sequence[Input]", limits: "DiffLimits", seconds: float) -> "dict[int, Explanation]":
        """Explain why kernels got worse, the worst ones first, as far as the time allows.

        Return explanations by index into the chains of the sides. A chain is one kernel on all sides.
        """
        from kprof.diffing.comparing import chains, harm_key, kernel_diff, steepest_step

        deadline = Deadline(seconds)
        known = chains(sides)
        judged = [(index, kernel_diff(chain, sides, limits)) for index, chain in enumerate(known)]
        harmed = sorted((pair for pair in judged if steepest_step(pair[1]) is not None), key=lambda p: harm_key(p[1]))
        chosen = [(i, kernel) for i, kernel in harmed if kernel.status in {"worse", "mixed"}][:_EXPLAINED]
        found: dict[int, Explanation] = {}
        for place, (index, kernel) in enumerate(chosen):
            step = steepest_step(kernel)
            if step is None or deadline.over():
                continue
            entries = known[index].entries
            pair = entries[step.old], entries[step.new]
            found[index] = self._explain(pair, (step.old, step.new), sides, limits, deadline.share(len(chosen) - place))
        return found

    def _explain(
        self,
        pair: tuple[KernelReport, KernelReport],
        indices: tuple[int, int],
        sides: "Sequence[Input]",
        limits: "DiffLimits",
        seconds: float,
    ) -> "Explanation":
        from kprof.diffing.document import Explanation
        from kprof.tuning.trials.explain import Case, explain

        labels = (sides[indices[0]].label, sides[indices[1]].label)
        try:
            compilers = [
                _OneKernel(
                    self._child(index),
                    self,
                    self._targets[id(kernel)],
                    kernel.arch if kernel.product is UNSET else kernel.product,
                    self._config_of(kernel),
                    {"launch": launch} if (launch := self._launches.get(id(kernel))) else {},
                )
                for index, kernel in zip(indices, pair, strict=True)
            ]
            case = Case(*pair, labels, indices, compilers[1].config, limits)
            return explain(case, compilers[0], compilers[1], seconds=seconds, tell=self.tell)
        except KprofError as error:
            return Explanation(old=indices[0], new=indices[1], summary=f"not explained: {error.message}")

    def _config_of(self, kernel: KernelReport) -> dict[str, Any]:
        """Return the knobs and switches of a kernel.

        Raises:
            KprofError: if a recorded kernel cannot be compiled again.
        """
        from kprof.targets.recompile import recorded

        spec = kernel.specialization
        known = {} if spec is UNSET else dict(spec.environment)
        if id(kernel) not in self._configs:
            found, lost = recorded(self._targets[id(kernel)], all_configs=True, **self._launches[id(kernel)])
            if not found:
                raise KprofError(next(iter(lost.values())))
            # A compile-time value that is a type cannot be sent to another process, and is not a knob.
            plain = (bool, int, float, str)
            self._configs[id(kernel)] = {n: v for n, v in found[0].knobs.items() if isinstance(v, plain)}
        return {**known, **self._configs[id(kernel)]}


@dataclass(frozen=True)
class _OneKernel:
    """One kernel in one side's process, as a :class:`kprof.tuning.trials.explain.KernelCompiler`."""

    child: "Child"
    owner: Tritons
    target: str
    arch: str
    config: Mapping[str, Any]
    launch: Mapping[str, Any]

    def _question(self, ask: str, **more: Any) -> dict[str, Any]:
        options = self.owner._child_options(arch=(), all_configs=False)  # noqa: SLF001  # part of the Tritons class
        return {
            "ask": ask,
            "target": self.target,
            "options": options,
            "arch": self.arch,
            "config": dict(self.config),
            **self.launch,
            **more,
        }

    def switches(self) -> dict[str, bool | None]:
        found: dict[str, bool | None] = {}
        for answer in self.child.ask({"ask": "switches", "arch": self.arch}):
            found = answer["switches"]
        return found

    def changes(self, rules: Iterable[str]) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = []
        for answer in self.child.ask(self._question("changes", rules=sorted(rules))):
            found = answer["changes"]
        return found

    def trials(
        self, changes: Sequence[Mapping[str, Any]], seconds: float
    ) -> Iterator[tuple[Mapping[str, Any], KernelReport | None, str | None]]:
        listed = [dict(change) for change in changes]
        for answer in self.child.ask(self._question("trials", changes=listed, seconds=seconds)):
            entry = answer["report"]
            yield answer["change"], None if entry is None else msgspec.convert(entry, KernelReport), answer["error"]

    def stages(self) -> Mapping[str, Any]:
        (found,) = self.child.ask(self._question("stages"))
        return found["stages"]  # type: ignore[no-any-return]

    def through_llvm(self, stages: Mapping[str, Any]) -> KernelReport:
        (found,) = self.child.ask(self._question("through_llvm", stages=stages))
        return msgspec.convert(found["report"], KernelReport)
