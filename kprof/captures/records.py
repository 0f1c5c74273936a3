"""Types of the records in a capture's files. Decoding validates all fields, because captures are untrusted."""

from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta

Count = Annotated[int, Meta(ge=0, le=2**63 - 1)]
"""A non-negative integer: a count or an index."""

Extent = Annotated[int, Meta(ge=0, le=2**32 - 1)]
"""Number of workgroups along one axis of a grid."""

Text = Annotated[str, Meta(max_length=1 << 16)]
Name = Annotated[str, Meta(max_length=4096)]
Digest = Annotated[str, Meta(pattern=r"^[0-9a-f]{64}\Z")]
Identifier = Annotated[str, Meta(pattern=r"^[0-9a-f]{32}\Z")]


class Head(msgspec.Struct, frozen=True, kw_only=True):
    """Content of ``capture.json``.

    Attributes:
        schema: version of the format.
        arch: architecture that the kernels were compiled for.
        product: the product that the simulated GPU reported to the program. If the user named only an architecture,
            this is the architecture's first product.
        gpu: architecture or product that the user named; empty in captures of older versions.
        command: the program and its arguments; empty for a recording inside a program.
        started: start time: UTC, ISO 8601.
        kprof: version of kprof that recorded.
        root: folder that source paths are relative to, written relative to the capture's folder.
        sources: SHA-256 of files named on the command line, by path.
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
        pid: process ID of the recorded process.
        argv: its command line.
        python, torch, triton: versions; "" for a package that was not imported before this record was written.
        executes: True if its kernels ran on a real device; False if they were only recorded.
    """

    pid: Count
    argv: list[Text] = []
    python: Name = ""
    torch: Name = ""
    triton: Name = ""
    executes: bool = False


class KernelRecord(msgspec.Struct, frozen=True, tag_field="t", tag="kernel"):
    """A kernel specialisation, written before the first record that refers to it.

    Attributes:
        n: number by which later records of the journal refer to this record.
        id: name of its folder below ``kernels``.
        name: the Triton function's name.
        triton: version of Triton that compiled it; "" for a kernel of another language.
        compiler: the other language with its version, for example ``FlyDSL 0.5.0``; "" for Triton.
        module: Python module that defines it.
        line: line of the function.
        request: compile request as returned by :meth:`kprof.compiler.request.CompileRequest.to_json`.
        specialized: arguments that became compile-time constants although the function does not declare them as
            constexpr, because their value was 1.
    """

    n: Count
    id: Identifier
    name: Name
    triton: Name
    request: dict[str, Any]
    compiler: Name = ""
    module: Name = ""
    line: Count | None = None
    specialized: tuple[Name, ...] = ()


class Site(msgspec.Struct, frozen=True, tag_field="t", tag="site"):
    """A call stack of the program: frames ``[file, line, function]`` from the launch to its outermost caller."""

    n: Count
    frames: Annotated[list[tuple[Name, Count, Name]], Meta(max_length=64)]


class Arguments(msgspec.Struct, frozen=True, tag_field="t", tag="args"):
    """Arguments of a launch by name: numbers, texts, and an object ``{dtype, shape, strides}`` for each tensor.

    A tensor's object also contains ``values`` if the kernel's control flow depends on them and they were known.
    """

    n: Count
    args: dict[str, Any]


class Tuning(msgspec.Struct, frozen=True, tag_field="t", tag="tuning"):
    """An autotuner's tuning for one key; each of its configurations follows as a :class:`CandidateRecord`.

    Attributes:
        n: number by which later records of the journal refer to this record.
        name: the kernel's name.
        configs: number of configurations that the autotuner lists.
        site: ``n`` of the :class:`Site`.
        again: ``n`` of the :class:`Tuning` that made the choice, if the configurations were launched again for other
            sizes; else ``None``.
    """

    n: Count
    name: Name
    configs: Count
    site: Count | None = None
    again: Count | None = None


class CandidateRecord(msgspec.Struct, frozen=True, tag_field="t", tag="candidate"):
    """One configuration of an autotuner, compiled but not launched.

    Attributes:
        tuning: ``n`` of the :class:`Tuning`.
        config: the configuration as Triton writes it.
        kernel: ``n`` of the :class:`KernelRecord`; ``None`` if the configuration failed before it was compiled.
        error: reason of the failure.
        grid: workgroups in x, y, z with which the program would launch the configuration; ``None`` in captures of older
            versions.
        args: ``n`` of the :class:`Arguments` with which the program would launch the configuration.
    """

    tuning: Count
    config: Text
    kernel: Count | None = None
    error: Text | None = None
    grid: Annotated[list[Extent], Meta(min_length=3, max_length=3)] | None = None
    args: Count | None = None


class LaunchRecord(msgspec.Struct, frozen=True, tag_field="t", tag="launch"):
    """One recorded kernel launch.

    Attributes:
        kernel: ``n`` of the :class:`KernelRecord`.
        site: ``n`` of the :class:`Site`.
        args: ``n`` of the :class:`Arguments`.
        grid: workgroups in x, y, z.
        seq: position among the launches of this process.
        stream: number of the GPU stream; 0 is the default stream.
        tuning: ``n`` of the :class:`Tuning` whose choice is unknown; the launch uses one configuration as a substitute.
        scope: ``n`` of the :class:`ScopeRecord`, if operators were recorded.
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
    """The module and the phase of the training step in which calls are made.

    Attributes:
        phase: ``forward``, ``backward``, ``optimizer``, or ``outside modules``.
        module: classes of the ``torch.nn`` modules around the call, outermost first, separated by dots.
        range: names of the ``record_function`` ranges around the call, outermost first, separated by `` > ``.
        place: file and line of the program; ``None`` if the program's code is not on the stack.
        compiled: True if the call was made by code that ``torch.compile`` generated.
    """

    n: Count
    phase: Name = ""
    module: Name = ""
    range: Name = ""
    place: tuple[Name, Count] | None = None
    compiled: bool = False


class OperatorShapes(msgspec.Struct, frozen=True, tag_field="t", tag="shapes"):
    """An operator with its arguments, written before the first call that refers to it.

    Attributes:
        name: ``library::operator``, without its overload.
        inputs: arguments in the schema's order, in the form of :class:`Arguments`; a list of tensors is an object
            ``{dtype, tensors, elements}``.
        outputs: results, in the same form.
        host: True if the operator copies from host memory.
        to_host: True if the operator copies to host memory.
    """

    n: Count
    name: Name
    inputs: Annotated[list[Any], Meta(max_length=256)] = []
    outputs: Annotated[list[Any], Meta(max_length=4096)] = []
    host: bool = False
    to_host: bool = False


class OperatorCallRecord(msgspec.Struct, frozen=True, tag_field="t", tag="call"):
    """One call of a torch operator, at its position among the launches.

    Attributes:
        shapes: ``n`` of the :class:`OperatorShapes`.
        scope: ``n`` of the :class:`ScopeRecord`.
        factor: for a matrix product, the index of its left factor's storage within the process.
    """

    shapes: Count
    scope: Count | None = None
    factor: Count | None = None


class GraphRecord(msgspec.Struct, frozen=True, tag_field="t", tag="graph"):
    """An event of a captured GPU graph; written only if operators are recorded.

    Attributes:
        graph: index of the graph within the process.
        what: ``begin``: the following launches are captured and not run; ``end``: the capture ends; ``replay``: the
            captured launches run.
    """

    graph: Count
    what: Name


class Read(msgspec.Struct, frozen=True, tag_field="t", tag="read"):
    """A read of a value that a recorded kernel would have written. One record is written per place in the program.

    Attributes:
        what: kind of read: ``item``, ``nonzero``, ``to cpu``, ...
        site: ``n`` of the :class:`Site`.
    """

    what: Name
    site: Count | None = None


class Unrun(msgspec.Struct, frozen=True, tag_field="t", tag="unrun"):
    """An operator on GPU tensors whose result was provided without running its GPU implementation.

    One record is written for all calls of an operator; the number of calls is in :class:`OperatorsRecord`.

    Attributes:
        n: number by which later records of the journal refer to this record.
        name: ``library::operator.overload``.
        how: how the result was made, as in :attr:`kprof.captures.model.UnrunOperator.how`.
        site: ``n`` of the :class:`Site` of the first call.
    """

    n: Count
    name: Name
    how: Name
    site: Count | None = None


class OperatorsRecord(msgspec.Struct, frozen=True, tag_field="t", tag="operators"):
    """Operator counts at the end of a journal.

    Attributes:
        ran: number of calls of GPU implementations that the program itself registered, by operator.
        silent: number of these calls that launched no kernel, by operator.
        torch: number of calls of torch operators on GPU tensors, which no Triton kernel computes, by operator.
        unrun: ``n`` of each :class:`Unrun` record, and the number of the operator's calls.
        memory: for each device index, the bytes in use according to torch's allocator: at the peak, and at the end.
    """

    ran: dict[Name, Count] = {}
    silent: dict[Name, Count] = {}
    torch: dict[Name, Count] = {}
    unrun: list[tuple[Count, Count]] = []
    memory: dict[Count, tuple[Count, Count]] = {}


class Sources(msgspec.Struct, frozen=True, tag_field="t", tag="sources"):
    """Files that a process had loaded, read or looked for by its end, with the SHA-256 of those it found.

    Attributes:
        files: SHA-256 of files below :attr:`Head.root`, by path relative to it.
        outside: SHA-256 of the program's files that are not below the root.
        packages: SHA-256 of files of installed packages, by path below the folder that they are installed in. Packages
            with kernels are listed with the modules and data files that were read, other packages only with the data.
        packages_absent: paths that the process looked for in packages and did not find.
        distributions: distribution of each package without kernels, for example ``triton-kernels==1.2``.
        imported: versions of the distributions of imported modules without kernels, by distribution.
        absent: other paths that the process looked for and did not find, inside or outside the root.
        folders: for each folder that the process listed, the SHA-256 of the names in it.
        written: files that the process wrote below the root; another process may have looked for them before.
        overflowed: True if there were more files than a capture keeps.
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


class LeftOutRecord(msgspec.Struct, frozen=True, tag_field="t", tag="left out"):
    """Launches of another language than Triton that a process made and that are not in the journal.

    Attributes:
        language: name of the language.
        reason: why they could not be recorded.
        launches: number of launches; 0 if they could not be counted.
    """

    language: Name
    reason: Text
    launches: Count = 0


class Note(msgspec.Struct, frozen=True, tag_field="t", tag="note"):
    """A remark for the reader of the capture."""

    text: Text


class End(msgspec.Struct, frozen=True, tag_field="t", tag="end"):
    """The last record of a journal that was closed properly.

    Attributes:
        how: ``exit``, or ``interrupted``.
        reads: number of times that the program read values that were not computed.
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
    | LeftOutRecord
    | Note
    | End
)


class CompileRecord(msgspec.Struct, frozen=True, kw_only=True):
    """Content of ``result.json``: the result of a compile.

    Attributes:
        status: ``ok``, ``failed``, ``crashed`` or ``timeout``.
        error: why the compile failed, one sentence.
        place: line in the kernel's file to which the error refers.
        hint: how to fix the error.
        stage: stage in which the compile failed.
        seconds: wall time of the compile.
        cached: True if the result came from kprof's cache.
        triton: version of Triton that compiled.
        diagnostics: output of the compiler.
        stage_seconds: seconds spent in each stage, by stage; they are part of ``seconds``.
        missing: reason why a stage's output was not made, by stage.
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
