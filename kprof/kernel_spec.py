"""How a kernel file describes its kernel: launch arguments, cases, configurations, reference.

A kernel file holds a ``@triton.jit`` function and a module-level ``KERNEL = Kernel(...)``. It must import without
torch and without a GPU: ``import torch`` belongs inside the functions that run on a device. ``kernels/softmax.py``
is the model to copy.

The rule that keeps analysis honest: ``launch`` is the only place that says how the kernel is launched. The harness
compiles from it without a GPU, and ``run`` launches with it too (:func:`execute`), so both see the same program.
"""

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from kprof.errors import KprofError, near, near_hint

Shape = Mapping[str, Any]
"""Problem parameters by name: sizes, flags and ``dtype``, for example ``{"M": 4096, "dtype": "fp16"}``.

The dtypes ``fp8_e4m3`` and ``fp8_e5m2`` mean "the form that the architecture has" and are resolved by
:meth:`Kernel.problem` (FNUZ on gfx942, OCP elsewhere): ``launch`` never sees them.
"""

Config = Mapping[str, Any]
"""Knobs by name: constexprs such as ``BLOCK_M`` and backend options such as ``num_warps``."""


@dataclass(frozen=True)
class ElementType:
    """A Triton element type.

    Attributes:
        size: bytes.
        torch: name of the torch dtype.
        roundoff: largest relative error of rounding to it, 2**-p for a significand of p bits; 0 for integers.
        tiny: smallest positive (subnormal) value; 0 for integers.
    """

    size: int
    torch: str
    roundoff: float = 0.0
    tiny: float = 0.0


ELEMENT_TYPES: Mapping[str, ElementType] = {
    "fp64": ElementType(8, "float64", 2.0**-53, 2.0**-1074),
    "fp32": ElementType(4, "float32", 2.0**-24, 2.0**-149),
    "fp16": ElementType(2, "float16", 2.0**-11, 2.0**-24),
    "bf16": ElementType(2, "bfloat16", 2.0**-8, 2.0**-133),
    "fp8e4nv": ElementType(1, "float8_e4m3fn", 2.0**-4, 2.0**-9),
    "fp8e4b8": ElementType(1, "float8_e4m3fnuz", 2.0**-4, 2.0**-10),
    "fp8e5": ElementType(1, "float8_e5m2", 2.0**-3, 2.0**-16),
    "fp8e5b16": ElementType(1, "float8_e5m2fnuz", 2.0**-3, 2.0**-17),
    "i1": ElementType(1, "bool"),
    "i8": ElementType(1, "int8"),
    "u8": ElementType(1, "uint8"),
    "i16": ElementType(2, "int16"),
    "i32": ElementType(4, "int32"),
    "i64": ElementType(8, "int64"),
}

# Options of Triton's backends, not constexprs. The second set exists on AMD only.
_COMMON_OPTIONS = frozenset({"num_warps", "num_stages", "num_ctas", "enable_fp_fusion"})
_AMD_OPTIONS = frozenset(
    {
        "waves_per_eu",
        "matrix_instr_nonkdim",
        "kpack",
        "schedule_hint",
        "instruction_sched_variant",
        "llvm_fn_attrs",
        "wgp_cu_mode",
        "allow_flush_denorm",
        "launch_cooperative_grid",
    }
)
BACKEND_OPTIONS = _COMMON_OPTIONS | _AMD_OPTIONS
"""Names in a config that are options of the compiler, not arguments of the kernel."""

_GENERIC_FP8 = {"fp8_e4m3": ("fp8e4b8", "fp8e4nv"), "fp8_e5m2": ("fp8e5b16", "fp8e5")}


@dataclass(frozen=True)
class Tensor:
    """A tensor argument of a launch, without storage.

    Attributes:
        dtype: Triton element type, a key of :data:`ELEMENT_TYPES`: ``fp16``, ``bf16``, ``i8``, ``fp8e4b8``, ...
        shape: elements in each dimension. With the dtype it decides whether ``tt.pointer_range = 32`` holds,
            as it does for a launch through torch (storage of at most 2**31 - 1 bytes).
        aligned: whether the pointer is a multiple of 16 bytes, as torch's allocations are.
        values: the integers in it, where the kernel's course depends on them: lengths of sequences, say. They decide
            nothing of the compile, but the predicted time.
    """

    dtype: str
    shape: tuple[int, ...]
    aligned: bool = True
    values: tuple[int, ...] | None = None


@dataclass(frozen=True)
class Launch:
    """One launch, as the host wrapper would make it.

    Attributes:
        args: argument name to its value: a :class:`Tensor`, a number, a bool, ``None``, or any
            value for a ``tl.constexpr`` argument. The specialisation (value 1, divisibility by 16, ``i32`` or
            ``i64``, pointer range) is derived from the values just as Triton does at a launch.
        grid: workgroups in x, y, z.
    """

    args: Mapping[str, Any]
    grid: tuple[int, ...]


@dataclass(frozen=True)
class LaunchGpu:
    """The GPU that knobs are chosen for.

    Attributes:
        arch: its architecture, ``gfx942``.
        compute_units: its number of CUs.
        xcds: its number of accelerator dies; 1 where the GPU is one piece.
    """

    arch: str
    compute_units: int
    xcds: int


@dataclass(frozen=True)
class Part:
    """A further Triton function that ``run`` launches: a reduction after split-K, the second half of a backward.

    It is compiled and analysed under the name ``kernel::part``.

    Attributes:
        entry: the ``@triton.jit`` function.
        launch: as the kernel's.
        when: whether ``run`` launches it for a problem and a configuration; ``None``: always.
        options: the compiler's options that ``run`` gives it; ``None``: those of the configuration.
    """

    entry: Any
    launch: Callable[[Shape, Config], Launch]
    when: Callable[[Shape, Config], bool] | None = None
    options: Config | None = None


@dataclass(frozen=True)
class Check:
    """A small problem on which ``run`` is compared with ``reference``, in the interpreter or on a device.

    Attributes:
        shape: problem parameters, complete. Small: the interpreter does some hundred blocks a second.
        config: knobs on top of the kernel's ``config``: small blocks, the feature's flag.
    """

    shape: Shape
    config: Config = field(default_factory=dict)


@dataclass(frozen=True)
class Kernel:
    """A kernel that kprof can compile, analyse, check and time.

    Attributes:
        name: the name on the command line; the file's name.
        entry: the ``@triton.jit`` function that is launched (autotuners and heuristics unwrapped).
        summary: one line for ``kprof list kernels``, a plain string literal.
        launch: ``launch(shape, config) -> Launch``.
        shapes: case name to problem parameters; the first one is the default.
        config: default knobs, for every architecture, backend options included.
        arch_config: architecture to the knobs that differ there.
        configs: further configurations worth looking at: the tuning space in short.
        space: knob name to its values, for a search; ``legal(shape, config, arch)`` says which combinations make sense.
        legal: reason why a combination is pointless, or ``None``.
        run: ``run(inputs, shape, config) -> outputs``: host wrapper on real tensors, outputs by name.
        inputs: ``inputs(shape, device, seed) -> dict`` of torch tensors.
        reference: ``reference(inputs, shape) -> outputs`` by name, in torch, computed in float64 or float32.
        tolerance: ``tolerance(shape) -> (rtol, atol)``, derived from the dtype.
        flops: floating-point operations of a shape.
        bytes: bytes that must cross HBM at least for a shape.
        unsupported: ``unsupported(arch, shape) -> reason or None``: what an architecture cannot do, such as FP8 dots.
        notes: architecture to why its default is the best although a rule objects.
        checks: name to a small problem for every feature flag; see :class:`Check`.
        parts: name to a further function that ``run`` launches; see :class:`Part`.
        shape_config: ``shape_config(shape, arch) -> knobs`` that this shape wants on top of the defaults, for
            example smaller blocks for larger heads.
        gpu_config: ``gpu_config(shape, gpu) -> knobs`` that follow from the GPU's number of CUs, on top of those of the
            shape: the workgroups of a persistent kernel, the splits of a reduction. ``gpu`` is a :class:`LaunchGpu`.
        providers: who else computes this problem, for ``kprof bench --provider``: name to
            ``provider(inputs, shape) -> outputs``, by the names that ``reference`` uses; fewer are fine.
        alternatives: names of other bundled kernels that solve the same problem with the same shape parameters and
            inputs. ``kprof select`` compares those that support a shape.
        options: compiler options that ``run`` gives the entry; ``None``: those of the configuration.
    """

    name: str
    entry: Any
    summary: str
    launch: Callable[[Shape, Config], Launch]
    shapes: Mapping[str, Shape]
    config: Config
    arch_config: Mapping[str, Config] = field(default_factory=dict)
    configs: Sequence[Config] = ()
    space: Mapping[str, Sequence[Any]] = field(default_factory=dict)
    legal: Callable[[Shape, Config, str], str | None] | None = None
    run: Callable[[Mapping[str, Any], Shape, Config], Any] | None = None
    inputs: Callable[[Shape, str, int], dict[str, Any]] | None = None
    reference: Callable[[Mapping[str, Any], Shape], Any] | None = None
    tolerance: Callable[[Shape], tuple[float, float]] | None = None
    flops: Callable[[Shape], int] | None = None
    bytes: Callable[[Shape], int] | None = None
    unsupported: Callable[[str, Shape], str | None] | None = None
    notes: Mapping[str, str] = field(default_factory=dict)
    checks: Mapping[str, Check] = field(default_factory=dict)
    parts: Mapping[str, Part] = field(default_factory=dict)
    shape_config: Callable[[Shape, str], Config] | None = None
    gpu_config: Callable[[Shape, LaunchGpu], Config] | None = None
    providers: Mapping[str, Callable[[Mapping[str, Any], Shape], Mapping[str, Any]]] = field(default_factory=dict)
    alternatives: Sequence[str] = ()
    options: Config | None = None

    def configure(self, gpu: str, overrides: Config | None = None, shape: Shape | None = None) -> dict[str, Any]:
        """Default knobs of a GPU and shape, with a user's overrides on top.

        Args:
            gpu: product (``MI308X``) or architecture (``gfx942``), see :func:`launch_gpu`.
            overrides: knobs that take the place of defaults.
            shape: problem parameters; without them neither the shape nor the number of CUs chooses knobs.

        Raises:
            KprofError: an override names a knob that the kernel does not have, or its ``shape_config`` or
                ``gpu_config`` fails.
        """
        known = self.knobs()
        for name in overrides or {}:
            if known and name not in known:
                hint = f"its knobs are {', '.join(sorted(known - BACKEND_OPTIONS))} and the compiler's options"
                raise KprofError(f"{self.name} has no knob {name!r}{near(name, known)}", hint=hint)
        found = launch_gpu(gpu)
        chosen = {**self.config, **self.arch_config.get(found.arch, {})}
        if self.shape_config and shape is not None:
            chosen |= self._asked("shape_config", self.shape_config, shape, found.arch)
        if self.gpu_config and shape is not None:
            chosen |= self._asked("gpu_config", self.gpu_config, shape, found)
        return {**chosen, **(overrides or {})}

    def _asked(self, what: str, choose: Callable[[Shape, Any], Config], shape: Shape, gpu: str | LaunchGpu) -> Config:
        """Call a function of the kernel's file that chooses knobs."""
        try:
            return choose(shape, gpu)
        except KprofError:
            raise
        except Exception as error:
            raise KprofError(f"the {what} of {self.name} fails: {type(error).__name__}: {error}") from error

    def knobs(self) -> set[str]:
        """Names that a config may hold; empty when the kernel does not say (a user's bare function)."""
        if not self.config and not self.space:
            return set()
        return {*self.config, *self.space, *(k for c in self.arch_config.values() for k in c), *BACKEND_OPTIONS}

    def problem(self, arch: str, case: str | None = None, overrides: Shape | None = None) -> dict[str, Any]:
        """Parameters of a case (the first by default) with overrides, and generic fp8 types made the arch's own.

        Raises:
            KprofError: no such case, no such parameter, or a value of another kind than the kernel's cases have.
        """
        if case is None and self.shapes:
            case = next(iter(self.shapes))
        if case is not None and case not in self.shapes:
            raise KprofError(f"{self.name} has no case {case!r}", hint=near_hint(case, self.shapes, "its cases are"))
        shape = dict(self.shapes[case]) if case is not None else {}
        given = dict(overrides or {})
        for name, value in given.items():
            if shape and name not in shape:
                raise KprofError(
                    f"{self.name} has no shape parameter {name!r}", hint=near_hint(name, shape, "its parameters are")
                )
            given[name] = self._of_kind(name, value)
        return resolve_fp8({**shape, **given}, arch)

    def _of_kind(self, name: str, value: Any) -> Any:
        """A value of the kind that the parameter has in the cases: 4e3 is 4000 where that is a whole number.

        Raises:
            KprofError: it is of another kind; what the kernel's file computes with it would fail somewhere.
        """
        known = [shape[name] for shape in self.shapes.values() if name in shape]
        kinds = {type(one) for one in known}
        if not known or type(None) in kinds:
            return value
        if kinds == {int} and isinstance(value, float) and value.is_integer():
            return int(value)
        if type(value) not in kinds and not (float in kinds and type(value) is int):
            if bool in kinds and value in (0, 1):
                return bool(value)
            example = "true or false" if bool in kinds else f"for example {known[0]}"
            raise KprofError(f"{self.name}: the shape parameter {name} cannot be {value!r}", hint=f"It is {example}.")
        types = {*ELEMENT_TYPES, *_GENERIC_FP8}
        if value not in types and types.issuperset(known):
            raise KprofError(f"no element type {value!r} for {name}", hint=near_hint(value, types, "there are"))
        return value

    def part(self, name: str) -> "Kernel":
        """This kernel with another of its functions as the entry.

        Raises:
            KprofError: the kernel has no such part.
        """
        if name not in self.parts:
            has = f"; it has {', '.join(self.parts)}" if self.parts else ""
            raise KprofError(f"{self.name} has no part {name!r}{near(name, self.parts) or has}")
        part = self.parts[name]
        full = f"{self.name}::{name}"
        return replace(self, name=full, entry=part.entry, launch=part.launch, options=part.options, parts={})


def resolve_fp8(shape: Shape, arch: str) -> dict[str, Any]:
    """A shape with the generic ``fp8_e4m3`` and ``fp8_e5m2`` replaced by the architecture's format.

    The architecture's file says which it has. Architectures without either get OCP, which the kernel then declares as
    unsupported.
    """
    fnuz = "fnuz" in _fp8_formats(arch)

    def resolved(value: Any) -> Any:
        forms = _GENERIC_FP8.get(value) if isinstance(value, str) else None
        return value if forms is None else forms[0 if fnuz else 1]

    return {name: resolved(value) for name, value in shape.items()}


def launch_gpu(name: str) -> LaunchGpu:
    """Return the GPU that a product or an architecture names.

    An architecture, or a product whose number of CUs is not known, counts as the architecture's first product that has
    one: ``gfx942`` is an MI300X. A name that kprof has no file of (``sm_90``) has as many CUs as an MI300X.
    """
    from kprof.hardware.default import DEFAULT_GPU
    from kprof.hardware.machine import architectures, find_product, load

    product = find_product(name)
    arch = name if product is None else product.arch
    own = load(arch).products.values() if arch in architectures() else ()
    for one in (product, *own, find_product(DEFAULT_GPU)):
        if one is not None and one.compute_units:
            return LaunchGpu(arch, one.compute_units, one.xcds or 1)
    raise AssertionError(f"the number of CUs of {DEFAULT_GPU} is known")


def has_fp8(arch: str) -> bool:
    """Whether the architecture converts and multiplies 8-bit floats in hardware; not where that is not known."""
    return bool(_fp8_formats(arch))


def _fp8_formats(arch: str) -> set[str]:
    """``fnuz`` or ``ocp``; nothing for architectures that kprof has no file of."""
    from kprof.hardware.machine import architectures, load

    name = arch.partition(":")[0]
    if name not in architectures():
        return set()
    return {form for form in ("fnuz", "ocp") if load(name).types.get(f"fp8_{form}")}


def no_fp8(arch: str, dtype: str) -> str | None:
    """Why an architecture cannot multiply this type, for ``Kernel.unsupported``; ``None`` when it can.

    Only AMD's architectures are judged: for others (``sm_90``) the compiler has the last word.
    """
    if not dtype.startswith("fp8") or not arch.startswith("gfx"):
        return None
    if not has_fp8(arch):
        return f"{arch} has no 8-bit float instructions"
    fnuz = dtype in {"fp8e4b8", "fp8e5b16"}
    if ("fnuz" if fnuz else "ocp") not in _fp8_formats(arch):
        return f"{arch} has the {'OCP' if fnuz else 'FNUZ'} 8-bit formats, not {dtype}"
    return None


def size_of(dtype: str) -> int:
    """Bytes of one element."""
    return ELEMENT_TYPES[dtype].size


def rounding(dtype: str) -> tuple[float, float]:
    """Error of rounding once to this type, as ``(relative, absolute)``: the start of a tolerance."""
    kind = ELEMENT_TYPES[dtype]
    return kind.roundoff, kind.tiny / 2


def torch_dtype(dtype: str) -> Any:
    """The ``torch.dtype`` of a Triton element type."""
    import torch

    return getattr(torch, ELEMENT_TYPES[dtype].torch)


def on_amd() -> bool:
    """Whether launches of this process go to an AMD GPU (torch for ROCm, interpreter off)."""
    if os.environ.get("TRITON_INTERPRET", "0") not in {"", "0"}:
        return False
    import torch

    return torch.version.hip is not None


def split_config(config: Config) -> tuple[dict[str, Any], dict[str, Any]]:
    """A config's constexprs and its compiler options."""
    options = {k: v for k, v in config.items() if k in BACKEND_OPTIONS}
    return {k: v for k, v in config.items() if k not in BACKEND_OPTIONS}, options


def execute(entry: Any, launch: Launch, tensors: Mapping[str, Any], config: Config) -> None:
    """Launch a kernel on real tensors, which take the places of the descriptors in ``launch.args``.

    Options that only AMD's backend knows are left out elsewhere, so that kernels can be checked on any GPU and in
    Triton's interpreter.

    Raises:
        ValueError: a tensor is missing, or its dtype or shape is not what the launch describes.
    """
    args = dict(launch.args)
    for name, value in launch.args.items():
        if not isinstance(value, Tensor):
            continue
        real = tensors.get(name)
        if real is None:
            raise ValueError(f"no tensor for the argument {name!r}")
        if real.dtype != torch_dtype(value.dtype) or tuple(real.shape) != value.shape:
            raise ValueError(
                f"{name!r} is {real.dtype} {tuple(real.shape)}, the launch describes {value.dtype} {value.shape}"
            )
        args[name] = real
    dropped = frozenset() if on_amd() else _AMD_OPTIONS
    options = {k: v for k, v in split_config(config)[1].items() if k not in dropped}
    entry[launch.grid](**args, **options)
