"""Compile the kernel of each bucket of configuration files. A bucket that fails does not affect the others."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from kprof.document import KernelReport
from kprof.errors import KprofError
from kprof_servers.configs.checks.check import Tried
from kprof_servers.configs.devices import machine_of
from kprof_servers.configs.kernels import Stand, sizes_of, stand_for

if TYPE_CHECKING:
    from kprof.compiler.request import CompileOutcome
    from kprof.hardware.machine import Architecture
    from kprof.targets.jobs import TargetJob
    from kprof_servers.configs.json_text import JsonPlace
    from kprof_servers.configs.model import Bucket, ConfigFile


@dataclass(frozen=True)
class Choice:
    """The user's choice of the kernel to compile for each bucket, and its arguments.

    Attributes:
        kernel: target in the syntax of ``kprof analyze kernel``; ``None`` for the bundled kernel from
            :func:`.stand_for`.
        rename: map from the configuration's knob to the kernel's knob, or to ``None`` to leave the knob out.
        case: name of one of the kernel's predefined cases.
        shape: problem parameters, which override those of the case, the file and the bucket.
        signature: argument types of a kernel without cases.
        constexprs: compile-time arguments of a kernel without cases.
    """

    kernel: str | None = None
    rename: Mapping[str, str | None] = field(default_factory=dict)
    case: str | None = None
    shape: Mapping[str, Any] = field(default_factory=dict)
    signature: str | None = None
    constexprs: Mapping[str, Any] = field(default_factory=dict)

    def stand(self, file: "ConfigFile") -> Stand | None:
        """Return the kernel to compile for a file, or ``None`` if there is none."""
        if self.kernel is not None:
            return Stand(self.kernel, self.rename)
        declared = stand_for(file)
        return None if declared is None else _renamed(declared, self.rename)


def _renamed(stand: Stand, rename: Mapping[str, str | None]) -> Stand:
    """Return a kernel declaration with the user's knob names added, which override its own knob names."""
    return Stand(stand.kernel, {**stand.rename, **rename}, stand.shape, stand.stand_in)


@dataclass
class CompiledConfigs:
    """The results of compiling the buckets.

    Attributes:
        buckets: for each file's path, a map from the line and column of a bucket to its result.
        notes: for each file's path, the reasons why some of its buckets were not compiled.
        done: number of compiled buckets.
        asked: number of all buckets, compiled or not.
    """

    buckets: dict[str, dict["JsonPlace", Tried]] = field(default_factory=dict)
    notes: dict[str, list[str]] = field(default_factory=dict)
    done: int = 0
    asked: int = 0

    def summary(self) -> list[str]:
        """Return one sentence that says how many buckets were compiled."""
        left = self.asked - self.done
        rest = f", {left:,} not: -v says why" if left else ""
        return [f"{self.done:,} of {self.asked:,} buckets were compiled{rest}"]


def compiled(
    files: "Sequence[ConfigFile]", choice: Choice, assumed: "Architecture | None" = None, jobs: int = 0
) -> CompiledConfigs:
    """Compile each bucket whose kernel is known; equal buckets are compiled once.

    Args:
        files: the configuration files.
        choice: the kernel to compile.
        assumed: the GPU of files that do not name one.
        jobs: number of worker processes; 0 for one per core.

    Raises:
        KprofError: the user's kernel cannot be loaded, or Triton is missing.
    """
    result = CompiledConfigs()
    planned: dict[str, tuple[TargetJob, list[tuple[ConfigFile, Bucket, Stand]]]] = {}
    for file in files:
        stand, machine = choice.stand(file), machine_of(file, assumed).arch
        result.asked += len(file.buckets)
        reason = _not(file, stand, machine)
        if reason is not None or stand is None or machine is None:
            result.notes[file.path] = [f"not compiled: {reason}"]
            continue
        for bucket in file.buckets:
            try:
                job = _job(file, bucket, stand, choice, machine)
            except KprofError as error:
                _put(result, file, bucket, stand, error=str(error).replace("\n", " "))
                continue
            planned.setdefault(job.request.key, (job, []))[1].append((file, bucket, stand))
    _run(planned, result, jobs)
    return result


def _not(file: "ConfigFile", stand: Stand | None, machine: "Architecture | None") -> str | None:
    if stand is None:
        return f"no bundled kernel matches {file.family or 'this file'}; name one with --kernel"
    return "the GPU is not known; name it with --arch" if machine is None else None


def _job(file: "ConfigFile", bucket: "Bucket", stand: Stand, choice: Choice, machine: "Architecture") -> "TargetJob":
    from kprof.options.groups import CompileOptions
    from kprof.targets.jobs import plan
    from kprof.targets.library import load

    knobs = stand.knobs(bucket)
    if knobs is None:
        raise KprofError("a knob is not a literal")
    kernel = load(stand.kernel)
    shape: dict[str, Any] = {}
    if kernel.shapes and choice.signature is None:
        shape = {**stand.shape, **sizes_of(file, bucket, kernel.problem(machine.name, choice.case)), **choice.shape}
    options = CompileOptions(
        config=knobs, shape=[shape], case=choice.case, signature=choice.signature, constexpr=choice.constexprs
    )
    return plan(stand.kernel, [machine], options)[0]


def _run(
    planned: "Mapping[str, tuple[TargetJob, list[tuple[ConfigFile, Bucket, Stand]]]]",
    result: CompiledConfigs,
    jobs: int,
) -> None:
    from kprof_analyzers.report_cache import judged

    order = list(planned.values())
    for index, found in judged([job for job, _ in order], jobs or None):
        tried: dict[str, Any] = {"report": found} if isinstance(found, KernelReport) else {"error": _reason(found)}
        for file, bucket, stand in order[index][1]:
            _put(result, file, bucket, stand, **tried)


def _reason(outcome: "CompileOutcome") -> str:
    where = f"{outcome.place}: " if outcome.place else ""
    return " ".join(f"{where}{outcome.error or outcome.status}".split())


def _put(result: CompiledConfigs, file: "ConfigFile", bucket: "Bucket", stand: Stand, **tried: Any) -> None:
    made = Tried(stand.kernel, stand.stand_in, **tried)
    result.buckets.setdefault(file.path, {})[bucket.place] = made
    result.done += made.report is not None
    if made.error is not None and made.stand_in:
        note = f"{bucket.name} was not compiled: {made.error}"
        result.notes.setdefault(file.path, []).append(note)
