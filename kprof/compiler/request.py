"""What is asked of the compiler, and what comes back."""

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
"""Argument name to Triton type: ``*fp16``, ``i32``, ``constexpr``; a tuple of types for a tuple argument."""


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
    """One specialisation of one kernel for one architecture. Holds plain data only and needs no Triton.

    Attributes:
        path: the Python file that defines the function.
        function: its name there.
        arch: ``gfx942`` and the like.
        signature: every argument in order, compile-time ones as ``constexpr``.
        constexprs: compile-time arguments to their values: numbers, strings, ``None``, tuples of them,
            :class:`DtypeRef`, :class:`FunctionRef`. Elements of tuple arguments are named ``argument.0``.
        attributes: argument to the hints that a launch gives: ``divisibility`` (16) and ``pointer_range`` (32).
            An argument that was looked at and got none has an empty mapping, as in Triton.
        options: backend options: ``num_warps``, ``num_stages``, ``waves_per_eu``, ...
        environment: environment variables set for this compile only, ``None`` to unset one.
        passes: whether the MLIR after every pass is kept.
        memory: the function as it is in memory, where it was given as an object; None compiles what the file gives.
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
        """One line for people: function, architecture and the knobs."""
        knobs = {k: v for k, v in self.constexprs.items() if isinstance(v, int | float | str)} | dict(self.options)
        return " ".join((self.function, self.arch, *(f"{k}={v}" for k, v in knobs.items())))

    def to_json(self) -> dict[str, Any]:
        """As values that JSON can hold; :func:`from_json` is the way back."""
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
    """The request that :meth:`CompileRequest.to_json` wrote."""
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
    """A compile-time value as JSON. Tuples, dtypes and functions become objects with one telling key.

    Raises:
        TypeError: the value is of a kind that cannot be written down.
    """
    if value is None or isinstance(value, bool | int | str):
        return value
    if isinstance(value, float):
        # JSON has no infinities and no exact floats; the key must tell 0.0 from -0.0.
        return {"float": value.hex()}
    if isinstance(value, tuple | list):
        return {"tuple": [encode(item) for item in value]}
    if isinstance(value, DtypeRef):
        return {"dtype": value.name}
    if isinstance(value, FunctionRef):
        return {"function": [value.path, value.name]}
    raise TypeError(f"{type(value).__name__} is not a compile-time value that kprof can carry")


def decode(data: Any) -> Any:
    """The value that :func:`encode` wrote."""
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
        request: what was asked.
        stages: ``ttir``, ``ttgir``, ``llir``, ``amdgcn`` as text, ``hsaco`` as bytes. A stage that could not be
            made is absent and has its reason in ``missing``.
        metadata: what Triton knows of the kernel (``shared`` is its LDS in bytes, ``num_warps``, ...), as JSON.
        triton_version: the Triton that compiled it.
        seconds: wall time of the compile itself, as it was when it was compiled.
        cached: whether it came from kprof's cache.
        hash: SHA-256 of what decides the result: source with its helpers, request, Triton, environment.
        source_line: line of the function in its file.
        source_path: that file, where it is not the request's: the function was compiled as it is in memory.
        in_memory: names that stand for something else in memory than in the request's file.
        stage_seconds: stage to its share of ``seconds``.
        diagnostics: what compiler and backend wrote to standard error and output, in general empty.
        missing: stage to the reason why it was not made.
        passes: MLIR after every pass, when the request asked for it.
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
        """A textual stage.

        Raises:
            KeyError: the stage was not made.
        """
        value = self.stages[stage]
        if isinstance(value, bytes):
            raise KeyError(stage)
        return value

    @property
    def name(self) -> str:
        """The kernel's symbol."""
        return str(self.metadata.get("name", self.request.function))

    @property
    def ttgir(self) -> str:
        """TTGIR, text."""
        return self.text("ttgir")

    @property
    def amdgcn(self) -> str:
        """Assembly, text."""
        return self.text("amdgcn")

    @cached_property
    def launch_problems(self) -> Sequence[LaunchProblem]:
        """Limits of the hardware that the kernel breaks: it compiles but cannot be launched."""
        return launch_problems(self.request.arch, self.metadata)

    @property
    def lds_bytes(self) -> int | None:
        """LDS of a workgroup in bytes: Triton's ``shared``; the assembly does not show it."""
        shared = self.metadata.get("shared")
        return shared if isinstance(shared, int) else None


@dataclass(frozen=True)
class CompileOutcome:
    """How one of many compiles went: compiled, or why not.

    Attributes:
        request: what was asked.
        index: position of the request among those given.
        compiled: the result, ``None`` when there is none.
        status: ``ok``, ``failed`` (the compiler or kprof said no), ``crashed`` (its process died) or ``timeout``.
        error: why not, one sentence: ``crashed: signal 6 (SIGABRT) while making llir``; ``None`` when compiled.
        path: the file concerned, when it failed.
        place: where in that file: ``line 12``.
        hint: what to do about it.
        stage: what was being made when it went wrong.
        diagnostics: what the compiler printed.
        stages: what was made before it went wrong.
        seconds: wall time, from the worker taking the request.
        answer: what a :class:`~kprof.compiler.pool.Finish` made of the compiled kernel in the worker; ``compiled`` is
            then ``None`` although the status is ``ok``.
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
        """The compiled kernel.

        Raises:
            KprofError: there is none, and why.
        """
        if self.compiled is None:
            raise CompileError(self.error or self.status, path=self.path, place=self.place, hint=self.hint)
        return self.compiled
