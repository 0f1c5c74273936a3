"""Compile requests and their results."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kprof.cache.keys import key
from kprof.compiler.limits import LaunchProblem, launch_problems
from kprof.errors import CompileError
from kprof.importing.uses import InMemory

if TYPE_CHECKING:
    from kprof.compiler.passes import PassHistory

STAGES = ("ttir", "ttgir", "llir", "amdgcn", "hsaco")
"""The compiler's products in the order in which they are made."""

Signature = Mapping[str, Any]
"""Triton type by argument name: ``*fp16``, ``i32``, ``constexpr``; a tuple of types for a tuple argument."""


@dataclass(frozen=True)
class DtypeRef:
    """A ``tl.dtype`` as a compile-time value, by name: ``fp16``, ``fp32``, ``fp8e4b8``."""

    name: str


@dataclass(frozen=True)
class FunctionRef:
    """A ``@triton.jit`` function as a compile-time value: its file and qualified name."""

    path: str
    name: str


@dataclass(frozen=True)
class CompileRequest:
    """One specialisation of one kernel for one architecture. It holds plain data and does not need Triton.

    Attributes:
        path: the Python file that defines the function.
        function: name of the function in the file.
        arch: architecture, such as ``gfx942``.
        signature: types of all arguments in order; compile-time arguments are ``constexpr``.
        constexprs: values of the compile-time arguments: numbers, strings, ``None``, tuples of them, :class:`DtypeRef`,
            :class:`FunctionRef`. Elements of tuple arguments are named ``argument.0``.
        attributes: hints by argument, which a launch determines: ``divisibility`` (16) and ``pointer_range`` (32). As
            in Triton, an argument that was examined but has no hints has an empty mapping.
        options: backend options: ``num_warps``, ``num_stages``, ``waves_per_eu``, ...
        environment: environment variables for this compile only; ``None`` unsets a variable.
        passes: whether to keep the MLIR after every pass.
        memory: the function in memory, if it was passed as an object; None: compile the function of the file.
    """

    path: str
    function: str
    arch: str
    signature: Signature
    constexprs: Mapping[str, Any] = field(default_factory=dict)
    attributes: Mapping[str, Mapping[str, int]] = field(default_factory=dict)
    options: Mapping[str, Any] = field(default_factory=dict)
    environment: Mapping[str, str | None] = field(default_factory=dict)
    passes: bool = False
    memory: InMemory | None = None

    def __hash__(self) -> int:
        return hash(self.key)

    @cached_property
    def key(self) -> str:
        """SHA-256 of everything in the request; the file's content is not part of it."""
        return key(self.to_json())

    @property
    def run_time_arguments(self) -> list[str]:
        """Names of the arguments that the compiled kernel takes, in order."""
        return [name for name, kind in self.signature.items() if kind != "constexpr"]

    @property
    def label(self) -> str:
        """One-line description: function, architecture and knobs."""
        knobs = {k: v for k, v in self.constexprs.items() if isinstance(v, int | float | str)} | dict(self.options)
        return " ".join((self.function, self.arch, *(f"{k}={v}" for k, v in knobs.items())))

    def to_json(self) -> dict[str, Any]:
        """Convert the request to JSON values; :func:`from_json` is the inverse."""
        return {
            "path": str(Path(self.path).absolute()),
            "function": self.function,
            "arch": self.arch,
            "signature": [[name, encode(kind)] for name, kind in self.signature.items()],
            "constexprs": {name: encode(value) for name, value in self.constexprs.items()},
            "attributes": {name: dict(hints) for name, hints in self.attributes.items()},
            "options": {name: encode(value) for name, value in self.options.items()},
            "environment": dict(self.environment),
            "passes": self.passes,
            **({} if self.memory is None else {"memory": asdict(self.memory)}),
        }


def from_json(data: Mapping[str, Any]) -> CompileRequest:
    """Return the request that :meth:`CompileRequest.to_json` encoded."""
    return CompileRequest(
        path=data["path"],
        function=data["function"],
        arch=data["arch"],
        signature={name: decode(kind) for name, kind in data["signature"]},
        constexprs={name: decode(value) for name, value in data["constexprs"].items()},
        attributes=data["attributes"],
        options={name: decode(value) for name, value in data["options"].items()},
        environment=data["environment"],
        passes=data["passes"],
        memory=InMemory(**data["memory"]) if "memory" in data else None,
    )


def encode(value: Any) -> Any:
    """Encode a compile-time value as JSON.

    Tuples, dtypes and functions become objects with one key that names the type.

    Raises:
        TypeError: if the value's type cannot be encoded.
    """
    if value is None or isinstance(value, bool | int | str):
        return value
    if isinstance(value, float):
        # JSON has no infinities and no exact floats, and the cache key must distinguish 0.0 from -0.0.
        return {"float": value.hex()}
    if isinstance(value, tuple | list):
        return {"tuple": [encode(item) for item in value]}
    if isinstance(value, DtypeRef):
        return {"dtype": value.name}
    if isinstance(value, FunctionRef):
        return {"function": [value.path, value.name]}
    raise TypeError(f"{type(value).__name__} is not a compile-time value that kprof can carry")


def decode(data: Any) -> Any:
    """Return the value that :func:`encode` encoded."""
    if not isinstance(data, Mapping):
        return data
    kind, value = next(iter(data.items()))
    if kind == "float":
        return float.fromhex(value)
    if kind == "tuple":
        return tuple(decode(item) for item in value)
    return DtypeRef(value) if kind == "dtype" else FunctionRef(*value)


@dataclass(frozen=True)
class Compiled:
    """A compiled kernel with all its stages.

    Attributes:
        request: the compile request.
        stages: ``ttir``, ``ttgir``, ``llir``, ``amdgcn`` as text, ``hsaco`` as bytes. A stage that could not be made is
            absent, and ``missing`` has the reason.
        metadata: Triton's metadata of the kernel (``shared`` is its LDS in bytes, ``num_warps``, ...), as JSON values.
        triton_version: version of the Triton that compiled it.
        seconds: wall time of the original compile.
        cached: True if the result came from kprof's cache.
        hash: SHA-256 of all inputs: source with its helpers, request, Triton, environment.
        source_line: line of the function in its file.
        source_path: the compiled file, if it differs from the request's because the function was compiled from memory.
        in_memory: names whose value in memory differs from that in the request's file.
        stage_seconds: share of ``seconds`` by stage.
        diagnostics: output of compiler and backend to standard output and error, usually empty.
        missing: reason by stage that was not made.
        passes: MLIR after every pass, if the request asks for it.
    """

    request: CompileRequest
    stages: Mapping[str, str | bytes]
    metadata: Mapping[str, Any]
    triton_version: str
    seconds: float
    cached: bool
    hash: str
    source_line: int | None = None
    source_path: str = ""
    in_memory: Sequence[str] = ()
    stage_seconds: Mapping[str, float] = field(default_factory=dict)
    diagnostics: str = ""
    missing: Mapping[str, str] = field(default_factory=dict)
    passes: "PassHistory | None" = None

    def text(self, stage: str) -> str:
        """Return the text of a stage.

        Raises:
            KeyError: if the stage was not made, or is not text.
        """
        value = self.stages[stage]
        if isinstance(value, bytes):
            raise KeyError(stage)
        return value

    @property
    def name(self) -> str:
        """Symbol of the kernel."""
        return str(self.metadata.get("name", self.request.function))

    @property
    def ttgir(self) -> str:
        """Text of the TTGIR."""
        return self.text("ttgir")

    @property
    def amdgcn(self) -> str:
        """Text of the assembly."""
        return self.text("amdgcn")

    @cached_property
    def launch_problems(self) -> Sequence[LaunchProblem]:
        """Hardware limits that the kernel exceeds: it compiles, but cannot be launched."""
        return launch_problems(self.request.arch, self.metadata)

    @property
    def lds_bytes(self) -> int | None:
        """LDS per workgroup in bytes: Triton's ``shared``, because the assembly does not contain it."""
        shared = self.metadata.get("shared")
        return shared if isinstance(shared, int) else None


@dataclass(frozen=True)
class CompileOutcome:
    """The result of one of many compiles, or the reason of its failure.

    Attributes:
        request: the compile request.
        index: position of the request among all requests.
        compiled: the result, or ``None``.
        status: ``ok``, ``failed`` (rejected by the compiler or kprof), ``crashed`` (its process died) or ``timeout``.
        error: reason of a failure, one sentence: ``crashed: signal 6 (SIGABRT) while making llir``; ``None`` on
            success.
        path: the file of a failure.
        place: position in that file: ``line 12``.
        hint: suggested remedy.
        stage: the stage that failed.
        diagnostics: output of the compiler.
        stages: stages made before the failure.
        seconds: wall time since a worker took the request.
        answer: result of the :class:`~kprof.compiler.pool.Finish` function in the worker; ``compiled`` is then ``None``
            although the status is ``ok``.
    """

    request: CompileRequest
    index: int = 0
    compiled: Compiled | None = None
    status: str = "ok"
    error: str | None = None
    path: str | None = None
    place: str | None = None
    hint: str | None = None
    stage: str | None = None
    diagnostics: str = ""
    stages: Mapping[str, str | bytes] = field(default_factory=dict)
    seconds: float = 0.0
    answer: Any = None

    @property
    def ok(self) -> bool:
        """Whether there is a compiled kernel."""
        return self.compiled is not None

    def result(self) -> Compiled:
        """Return the compiled kernel.

        Raises:
            KprofError: if there is none; the message gives the reason.
        """
        if self.compiled is None:
            raise CompileError(self.error or self.status, path=self.path, place=self.place, hint=self.hint)
        return self.compiled
