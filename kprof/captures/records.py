"""Records in a capture's files, as types that validate what they decode: a capture may come from a stranger."""

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
        product: the product that the simulated GPU reported to the program: the first product of an architecture when
            none was named.
        gpu: architecture or product that the user named; empty in captures of older versions.
        command: the program and its arguments; empty for a recording inside a program.
        started: start time: UTC, ISO 8601.
        kprof: version of kprof that recorded.
        root: folder that source paths are relative to, itself relative to the capture's folder.
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
        python, torch, triton: versions; empty if not imported by then.
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
        n: number of this record in the journal.
        id: name of its folder below ``kernels``.
        name: the Triton function's name.
        triton: version of Triton that compiled it.
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
    module: Name = ""
    line: Count | None = None
    specialized: tuple[Name, ...] = ()


class Site(msgspec.Struct, frozen=True, tag_field="t", tag="site"):
    """A place in the program: frames from the launch to its outermost caller, ``[file, line, function]``."""

    n: Count
    frames: Annotated[list[tuple[Name, Count, Name]], Meta(max_length=64)]


class Arguments(msgspec.Struct, frozen=True, tag_field="t", tag="args"):
    """Arguments of a launch by name: a number, a text, or an object ``{dtype, shape, strides}`` for a tensor.

    A tensor also has ``values`` if the kernel's control flow depends on them and they were known.
    """

    n: Count
    args: dict[str, Any]


class Tuning(msgspec.Struct, frozen=True, tag_field="t", tag="tuning"):
    """An autotuner met a new key; its configurations follow as :class:`CandidateRecord`.

    Attributes:
        n: number of this record in the journal.
        name: the kernel's name.
        configs: number of configurations that the autotuner lists.
        site: number of the :class:`Site`.
        again: number of the :class:`Tuning` that made the choice, if the configurations were launched again for other
            sizes.
    """

    n: Count
    name: Name
    configs: Count
    site: Count | None = None
    again: Count | None = None


class CandidateRecord(msgspec.Struct, frozen=True, tag_field="t", tag="candidate"):
    """One configuration of an autotuner, compiled but not launched.

    Attributes:
        tuning: number of the :class:`Tuning`.
        config: the configuration as Triton writes it.
        kernel: number of the :class:`KernelRecord`; ``None`` if the configuration failed before it was compiled.
        error: reason of the failure.
        grid: workgroups in x, y, z with which the program would launch the configuration; ``None`` in captures of older
            versions.
        args: number of the :class:`Arguments` with which the program would launch the configuration.
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
        kernel: number of the :class:`KernelRecord`.
        site: number of the :class:`Site`.
        args: number of the :class:`Arguments`.
        grid: workgroups in x, y, z.
        seq: position among the launches of this process.
        stream: the stream, 0 for the default one.
        tuning: number of the :class:`Tuning` whose unknown choice this launch replaces.
        scope: number of the :class:`ScopeRecord`, if operators were recorded.
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
        module: classes of the ``torch.nn`` modules around the call, outermost first, separated by dots.
        range: names that the program gives this part with ``record_function``, outermost first, separated by `` > ``.
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
        host: True if it copies from host memory.
        to_host: True if it copies to host memory.
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
        shapes: number of the :class:`OperatorShapes`.
        scope: number of the :class:`ScopeRecord`.
        factor: for a matrix product, the number of its left factor's storage.
    """

    shapes: Count
    scope: Count | None = None
    factor: Count | None = None


class GraphRecord(msgspec.Struct, frozen=True, tag_field="t", tag="graph"):
    """An event of a captured graph, if operators were recorded.

    Attributes:
        graph: number of the graph in the process.
        what: ``begin``: the following launches are captured and not run; ``end``; ``replay``: the captured launches
            run.
    """

    graph: Count
    what: Name


class Read(msgspec.Struct, frozen=True, tag_field="t", tag="read"):
    """The program read a value that a recorded kernel would have written; written once per place.

    Attributes:
        what: kind of read: ``item``, ``nonzero``, ``to cpu``, ...
        site: number of the :class:`Site`.
    """

    what: Name
    site: Count | None = None


class Unrun(msgspec.Struct, frozen=True, tag_field="t", tag="unrun"):
    """An operator on GPU tensors whose result was provided without running the GPU's implementation; written once.

    Attributes:
        n: number of this record in the journal.
        name: ``library::operator.overload``.
        how: how the result was made: ``zeros``, ``cpu kernel``, ``recursion`` or ``shape``.
        site: number of the :class:`Site` of the first call.
    """

    n: Count
    name: Name
    how: Name
    site: Count | None = None


class OperatorsRecord(msgspec.Struct, frozen=True, tag_field="t", tag="operators"):
    """Operator counts at the end of a journal.

    Attributes:
        ran: number of kernel calls by operator that the program registered for the GPU.
        silent: number of these calls in which nothing was launched, by operator.
        torch: number of calls of torch operators on GPU tensors, which no Triton kernel computes, by operator.
        unrun: numbers of the :class:`Unrun` records, each with its number of calls.
        memory: for each device index, the peak number of bytes in use according to torch's allocator, and the number at
            the end.
    """

    ran: dict[Name, Count] = {}
    silent: dict[Name, Count] = {}
    torch: dict[Name, Count] = {}
    unrun: list[tuple[Count, Count]] = []
    memory: dict[Count, tuple[Count, Count]] = {}


class Sources(msgspec.Struct, frozen=True, tag_field="t", tag="sources"):
    """The program's own files that the process had loaded or read by its end, with their SHA-256.

    Attributes:
        files: SHA-256 of files below the head's root, by path relative to it.
        outside: the same for files that are not below the root.
        packages: the same for files of installed packages, by path below the folder they are installed in: of packages
            with kernels the modules and the data that was read; of other packages only the data.
        packages_absent: paths that the process looked for in packages and did not find.
        distributions: distribution of packages without kernels, by package: ``triton-kernels==1.2``.
        imported: versions of the distributions of imported modules without kernels, by distribution.
        absent: other paths that the process looked for and did not find, below the root or not.
        folders: SHA-256 of the names in folders that the process listed, by folder.
        written: files that it wrote below the root; another process may have looked for them before.
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
    | Note
    | End
)


class CompileRecord(msgspec.Struct, frozen=True, kw_only=True):
    """Content of ``result.json``: the result of a compile.

    Attributes:
        status: ``ok``, ``failed``, ``crashed`` or ``timeout``.
        error: why the compile failed, one sentence.
        place: line in the kernel's file that the error is about.
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
