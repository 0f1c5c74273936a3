"""What stands in a capture's files, as types that check what they decode: a capture may come from a stranger."""

from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta

Count = Annotated[int, Meta(ge=0, le=2**63 - 1)]
"""A number of something, or an index."""

Extent = Annotated[int, Meta(ge=0, le=2**32 - 1)]
"""Workgroups along one axis of a grid."""

Text = Annotated[str, Meta(max_length=1 << 16)]
Name = Annotated[str, Meta(max_length=4096)]
Digest = Annotated[str, Meta(pattern=r"^[0-9a-f]{64}\Z")]
Identifier = Annotated[str, Meta(pattern=r"^[0-9a-f]{32}\Z")]


class Head(msgspec.Struct, frozen=True, kw_only=True):
    """``capture.json``.

    Attributes:
        schema: version of the format.
        arch: architecture that was compiled for.
        product: the product whose figures the program was told: the first one of an architecture when none was named.
        gpu: the architecture or product that was named; empty in captures of older versions.
        command: the program and its arguments; empty for a recording inside a program.
        started: UTC, ISO 8601.
        kprof: version that recorded.
        root: the folder that names of sources start in, from the capture's.
        sources: files that the command line names to their SHA-256.
    """

    schema: Literal["kprof.capture/1"]
    arch: Annotated[str, Meta(pattern=r"^gfx[0-9a-f]{3,5}\Z")]
    product: Name | None = None
    gpu: Name = ""
    command: list[Text] = []
    started: Name = ""
    kprof: Name = ""
    root: Name = "."
    sources: dict[Name, Digest] = {}


class ProcessRecord(msgspec.Struct, frozen=True, tag_field="t", tag="process"):
    """The first line of a journal.

    Attributes:
        pid: of the recorded process.
        argv: its arguments.
        python, torch, triton: versions, empty when not imported by then.
        executes: whether its kernels ran, on a real device, or were only recorded.
    """

    pid: Count
    argv: list[Text] = []
    python: Name = ""
    torch: Name = ""
    triton: Name = ""
    executes: bool = False


class KernelRecord(msgspec.Struct, frozen=True, tag_field="t", tag="kernel"):
    """A specialisation, before the first line that refers to it by its number.

    Attributes:
        n: its number in this journal.
        id: its folder below ``kernels``.
        name: the Triton function's name.
        triton: version of the compiling Triton.
        module: the Python module that defines it.
        line: line of the function.
        request: as :meth:`kprof.compiler.request.CompileRequest.to_json`.
        specialized: compile-time values of ``request`` that the function does not declare so: arguments that were 1.
    """

    n: Count
    id: Identifier
    name: Name
    triton: Name
    request: dict[str, Any]
    module: Name = ""
    line: Count | None = None
    specialized: tuple[Name, ...] = ()


class Site(msgspec.Struct, frozen=True, tag_field="t", tag="site"):
    """A place in the program: frames from the launch outwards, ``[file, line, function]``."""

    n: Count
    frames: Annotated[list[tuple[Name, Count, Name]], Meta(max_length=64)]


class Arguments(msgspec.Struct, frozen=True, tag_field="t", tag="args"):
    """Arguments of a launch by name: a number, a text, or an object ``{dtype, shape, strides}`` for a tensor.

    A tensor has ``values``, too, where the course of the kernel depends on them and they were known.
    """

    n: Count
    args: dict[str, Any]


class Tuning(msgspec.Struct, frozen=True, tag_field="t", tag="tuning"):
    """An autotuner met a new key: its configurations follow as :class:`CandidateRecord`.

    Attributes:
        n: its number in this journal.
        name: the kernel's name.
        configs: configurations that the autotuner lists.
        site: number of the place.
        again: number of the :class:`Tuning` that made the choice, where its configurations were launched again for a
            launch of another size.
    """

    n: Count
    name: Name
    configs: Count
    site: Count | None = None
    again: Count | None = None


class CandidateRecord(msgspec.Struct, frozen=True, tag_field="t", tag="candidate"):
    """One configuration of an autotuner, compiled and not launched.

    Attributes:
        tuning: number of the :class:`Tuning`.
        config: the configuration as Triton writes it.
        kernel: number of the kernel, ``None`` when the launch failed before the compiler was asked.
        error: why, then.
        grid: workgroups in x, y, z that the program would launch it with; ``None`` in captures of older versions.
        args: number of the arguments of that launch.
    """

    tuning: Count
    config: Text
    kernel: Count | None = None
    error: Text | None = None
    grid: Annotated[list[Extent], Meta(min_length=3, max_length=3)] | None = None
    args: Count | None = None


class LaunchRecord(msgspec.Struct, frozen=True, tag_field="t", tag="launch"):
    """One launch.

    Attributes:
        kernel: number of the kernel.
        site: number of the place.
        args: number of the arguments.
        grid: workgroups in x, y, z.
        seq: position among the launches of this process.
        stream: the stream, 0 for the default one.
        tuning: number of the :class:`Tuning` whose choice this stands for: which configuration would have been
            launched is not known.
        scope: number of the :class:`ScopeRecord`, where operators were asked for.
    """

    kernel: Count
    seq: Count
    grid: Annotated[list[Extent], Meta(min_length=1, max_length=3)]
    site: Count | None = None
    args: Count | None = None
    stream: int = 0
    tuning: Count | None = None
    scope: Count | None = None


class ScopeRecord(msgspec.Struct, frozen=True, tag_field="t", tag="scope"):
    """A part of the model and of the training step.

    Attributes:
        phase: ``forward``, ``backward``, ``optimizer``, or ``outside modules``.
        module: classes of the ``torch.nn`` modules around the call, outermost first, with dots between.
        range: what the program calls the part itself (``record_function``), outermost first, with `` > `` between.
        place: file and line of the program; ``None`` where its code is not on the stack.
        compiled: code that ``torch.compile`` generated makes the call.
    """

    n: Count
    phase: Name = ""
    module: Name = ""
    range: Name = ""
    place: tuple[Name, Count] | None = None
    compiled: bool = False


class OperatorShapes(msgspec.Struct, frozen=True, tag_field="t", tag="shapes"):
    """An operator with its arguments, before the first call that refers to it.

    Attributes:
        name: ``library::operator``, without its overload.
        inputs: its arguments in the schema's order, as :class:`Arguments` has them; a list of tensors is an object
            ``{dtype, tensors, elements}``.
        outputs: its results, likewise.
        host: it copies from the host's memory.
        to_host: it copies to the host's memory.
    """

    n: Count
    name: Name
    inputs: Annotated[list[Any], Meta(max_length=256)] = []
    outputs: Annotated[list[Any], Meta(max_length=4096)] = []
    host: bool = False
    to_host: bool = False


class OperatorCallRecord(msgspec.Struct, frozen=True, tag_field="t", tag="call"):
    """One call of an operator of torch's own, in its place among the launches.

    Attributes:
        shapes: number of its name and arguments.
        scope: number of the place in the model.
        factor: of a product the number of the storage of its left factor.
    """

    shapes: Count
    scope: Count | None = None
    factor: Count | None = None


class GraphRecord(msgspec.Struct, frozen=True, tag_field="t", tag="graph"):
    """A captured graph, where operators were recorded.

    Attributes:
        graph: number in the process.
        what: ``begin``: what follows is captured, not run; ``end``; ``replay``: what was captured runs.
    """

    graph: Count
    what: Name


class Read(msgspec.Struct, frozen=True, tag_field="t", tag="read"):
    """The program looked at a value that a recorded kernel would have written; written once for each place.

    Attributes:
        what: ``item``, ``nonzero``, ``to cpu``, ...
        site: where.
    """

    what: Name
    site: Count | None = None


class Unrun(msgspec.Struct, frozen=True, tag_field="t", tag="unrun"):
    """An operator on tensors of the GPU was answered without running what the GPU would run; written once.

    Attributes:
        n: its number in this journal.
        name: ``library::operator.overload``.
        how: what answered: ``zeros``, ``cpu kernel``, ``recursion`` or ``shape``.
        site: where it was called first.
    """

    n: Count
    name: Name
    how: Name
    site: Count | None = None


class OperatorsRecord(msgspec.Struct, frozen=True, tag_field="t", tag="operators"):
    """Counts at the end of a journal.

    Attributes:
        ran: operators that the program registered for the GPU to the calls of their kernels.
        silent: of these calls, those in which nothing was launched.
        torch: torch's own operators on tensors of the GPU, which no kernel of Triton's computes, to their calls.
        unrun: numbers of :class:`Unrun` with the calls of each.
        memory: index of a device to the most bytes that torch's allocator would have had in use, and those at the end.
    """

    ran: dict[Name, Count] = {}
    silent: dict[Name, Count] = {}
    torch: dict[Name, Count] = {}
    unrun: list[tuple[Count, Count]] = []
    memory: dict[Count, tuple[Count, Count]] = {}


class Sources(msgspec.Struct, frozen=True, tag_field="t", tag="sources"):
    """The program's own files that the process had loaded or read when it ended, to their SHA-256.

    Attributes:
        files: from the head's root.
        outside: the same for files that are not below it.
        packages: the same for files of installed packages, from the folder they are installed in: of packages that have
            kernels the modules and the data that was read, of others the data.
        packages_absent: what was looked for in packages and was not there.
        distributions: packages without kernels to the distribution that they are of, ``triton-kernels==1.2``.
        imported: distributions that modules without kernels were imported from, to their versions.
        absent: what the process looked for and was not there, below the root or not.
        folders: folders that it listed, to the SHA-256 of the names in them.
        written: what it wrote below the root, so that another process' looking for it says nothing.
        overflowed: there were more names than are kept.
    """

    files: dict[Name, Digest] = {}
    outside: dict[Name, Digest] = {}
    packages: dict[Name, Digest] = {}
    packages_absent: list[Name] = []
    distributions: dict[Name, Name] = {}
    imported: dict[Name, Name] = {}
    absent: list[Name] = []
    folders: dict[Name, Digest] = {}
    written: list[Name] = []
    overflowed: bool = False


class Note(msgspec.Struct, frozen=True, tag_field="t", tag="note"):
    """Something that the reader of the capture should know."""

    text: Text


class End(msgspec.Struct, frozen=True, tag_field="t", tag="end"):
    """The last line of a journal that was closed.

    Attributes:
        how: ``exit``, or ``interrupted``.
        reads: how often the program looked at values that were not computed.
    """

    how: Name = "exit"
    reads: Count = 0


Record = (
    ProcessRecord
    | KernelRecord
    | Site
    | Arguments
    | Tuning
    | CandidateRecord
    | LaunchRecord
    | ScopeRecord
    | OperatorShapes
    | OperatorCallRecord
    | GraphRecord
    | Read
    | Unrun
    | OperatorsRecord
    | Sources
    | Note
    | End
)


class CompileRecord(msgspec.Struct, frozen=True, kw_only=True):
    """``result.json``: how the compile went.

    Attributes:
        status: ``ok``, ``failed``, ``crashed`` or ``timeout``.
        error: why not, one sentence.
        place: line in the kernel's file that the error is about.
        hint: what to do about it.
        stage: what was being made when it went wrong.
        seconds: wall time of the compile.
        cached: whether it came from kprof's cache.
        triton: version of the compiling Triton.
        diagnostics: what the compiler printed.
        stage_seconds: stage to its share of ``seconds``.
        missing: stage to the reason why it was not made.
    """

    status: Literal["ok", "failed", "crashed", "timeout"]
    error: Text | None = None
    place: Name | None = None
    hint: Text | None = None
    stage: Name | None = None
    seconds: float | None = None
    cached: bool = False
    triton: Name = ""
    diagnostics: Annotated[str, Meta(max_length=1 << 21)] = ""
    stage_seconds: dict[str, float] = {}
    missing: dict[str, Text] = {}
