"""Kernel files: launch arguments, cases, configurations and reference of a kernel.

A kernel file contains a ``@triton.jit`` function and a module-level ``KERNEL = Kernel(...)``. It must import without
torch and without a GPU: ``import torch`` belongs inside the functions that run on a device. ``kernels/softmax.py`` is
the model to copy.

Only the function ``launch`` defines how the kernel is launched, so that analysis and execution agree: kprof compiles
the launch that it returns without a GPU, and ``run`` executes it on a GPU (:func:`execute`).
"""

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from kprof.errors import KprofError, near, near_hint

Shape = Mapping[str, Any]
"""Problem parameters by name: sizes, flags and ``dtype``, for example ``{"M": 4096, "dtype": "fp16"}``.

The dtypes ``fp8_e4m3`` and ``fp8_e5m2`` mean "the format that the architecture has". :meth:`Kernel.problem` replaces
them (by FNUZ on gfx942, by OCP elsewhere), so ``launch`` never sees them.
"""

Config = Mapping[str, Any]
"""Knobs by name: constexprs such as ``BLOCK_M`` and backend options such as ``num_warps``."""


@dataclass(frozen=True)
class ElementType:
    """A Triton element type.

    Attributes:
        size: size in bytes.
        torch: name of the torch dtype.
        roundoff: largest relative error of rounding to it, 2**-p for a significand of p bits; 0 for integers.
        tiny: smallest positive value, which is subnormal; 0 for integers.
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

# Options of Triton's backends, not constexprs. The options in the second set exist only in AMD's backend.
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
"""Names in a configuration that are compiler options, not arguments of the kernel."""

_GENERIC_FP8 = {"fp8_e4m3": ("fp8e4b8", "fp8e4nv"), "fp8_e5m2": ("fp8e5b16", "fp8e5")}


@dataclass(frozen=True)
class Tensor:
    """A tensor argument of a launch, without storage.

    Attributes:
        dtype: Triton element type, a key of :data:`ELEMENT_TYPES`: ``fp16``, ``bf16``, ``i8``, ``fp8e4b8``, ...
        shape: elements in each dimension. Shape and dtype decide whether ``tt.pointer_range = 32`` holds, as for a
            launch through torch (storage of at most 2**31 - 1 bytes).
        aligned: whether the pointer is a multiple of 16 bytes, as torch's allocations are.
        values: the integers in the tensor, if the kernel's control flow depends on them: lengths of sequences, for
            example. They do not affect the compile, only the predicted time.
    """

    dtype: str
    shape: tuple[int, ...]
    aligned: bool = True
    values: tuple[int, ...] | None = None


@dataclass(frozen=True)
class Launch:
    """A launch with the arguments that the host wrapper would pass.

    Attributes:
        args: values by argument name: a :class:`Tensor`, a number, a bool, ``None``, or any value for a
            ``tl.constexpr`` argument. The specialisation (value 1, divisibility by 16, ``i32`` or ``i64``, pointer
            range) is derived from the values exactly as Triton does at a launch.
        grid: workgroups in x, y, z.
    """

    args: Mapping[str, Any]
    grid: tuple[int, ...]


@dataclass(frozen=True)
class LaunchGpu:
    """Properties of the GPU that ``gpu_config`` chooses knobs for.

    Attributes:
        arch: architecture, for example ``gfx942``.
        compute_units: number of CUs.
        xcds: number of accelerator dies (XCDs); 1 if the GPU is a single die.
    """

    arch: str
    compute_units: int
    xcds: int


@dataclass(frozen=True)
class Part:
    """Triton function that a kernel's ``run`` launches in addition to ``entry``, such as the reduction after split-K.

    It is compiled and analysed under the name ``kernel::part``.

    Attributes:
        entry: the ``@triton.jit`` function.
        launch: function that returns the launch of this function, like the kernel's ``launch``.
        when: function that returns whether ``run`` launches it for a problem and a configuration; ``None``: always.
        options: compiler options that ``run`` passes to the function; ``None``: the options in the configuration.
    """

    entry: Any
    launch: Callable[[Shape, Config], Launch]
    when: Callable[[Shape, Config], bool] | None = None
    options: Config | None = None


@dataclass(frozen=True)
class Check:
    """A small problem on which ``run`` is compared with ``reference``, in the interpreter or on a device.

    Attributes:
        shape: complete problem parameters. Keep them small: the interpreter runs a few hundred blocks per second.
        config: knobs that override the kernel's ``config``: small blocks, and the flag of the tested feature.
    """

    shape: Shape
    config: Config = field(default_factory=dict)


@dataclass(frozen=True)
class Kernel:
    """A kernel that kprof can compile, analyse, check and time.

    Attributes:
        name: the name on the command line; also the file's name.
        entry: the ``@triton.jit`` function that is launched (autotuners and heuristics unwrapped).
        summary: one line for ``kprof list kernels``; must be a plain string literal.
        launch: ``launch(shape, config) -> Launch``.
        shapes: problem parameters by case name; the first case is the default.
        config: default knobs, for every architecture, backend options included.
        arch_config: default knobs that differ on an architecture, by architecture.
        configs: further configurations worth trying: a short version of the tuning space.
        space: values to search by knob name; ``legal(shape, config, arch)`` says which combinations are worth trying.
        legal: returns the reason why a combination is pointless, or ``None``.
        run: ``run(inputs, shape, config) -> outputs``: host wrapper on real tensors, outputs by name.
        inputs: ``inputs(shape, device, seed) -> dict`` of torch tensors.
        reference: ``reference(inputs, shape) -> outputs`` by name, in torch, computed in float64 or float32.
        tolerance: ``tolerance(shape) -> (rtol, atol)``, derived from the dtype.
        flops: returns the floating-point operations of a shape.
        bytes: returns the minimum number of bytes that must cross HBM for a shape.
        unsupported: ``unsupported(arch, shape) -> reason or None``: why the architecture cannot run the shape, for
            example because it has no FP8 dots.
        notes: by architecture, the reason why its default configuration is the best although a rule reports a finding.
        checks: a small problem for every feature flag, by name; see :class:`Check`.
        parts: further functions that ``run`` launches, by name; see :class:`Part`.
        shape_config: ``shape_config(shape, arch) -> knobs`` that override the defaults for this shape, for example
            smaller blocks for larger heads.
        gpu_config: ``gpu_config(shape, gpu) -> knobs`` that depend on the GPU's number of CUs and override those of the
            shape: the workgroups of a persistent kernel, the splits of a reduction. ``gpu`` is a :class:`LaunchGpu`.
        providers: other implementations of this problem, for ``kprof bench --provider``, by name: ``provider(inputs,
            shape) -> outputs``, with the output names of ``reference``; some outputs may be missing.
        alternatives: names of other bundled kernels that solve the same problem with the same shape parameters and
            inputs. ``kprof select`` compares those that support a shape.
        options: compiler options that ``run`` passes to the entry; ``None``: the options in the configuration.
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
        """Return the default knobs of a GPU and shape, with a user's overrides applied.

        Args:
            gpu: product (``MI308X``) or architecture (``gfx942``), see :func:`launch_gpu`.
            overrides: knobs that replace defaults.
            shape: problem parameters; without them, knobs do not depend on the shape or the number of CUs.

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
        """Call a function of the kernel file that chooses knobs; raise KprofError if it fails."""
        try:
            return choose(shape, gpu)
        except KprofError:
            raise
        except Exception as error:
            raise KprofError(f"the {what} of {self.name} fails: {type(error).__name__}: {error}") from error

    def knobs(self) -> set[str]:
        """Return the names that a configuration may contain; empty for a function without declared knobs."""
        if not self.config and not self.space:
            return set()
        return {*self.config, *self.space, *(k for c in self.arch_config.values() for k in c), *BACKEND_OPTIONS}

    def problem(self, arch: str, case: str | None = None, overrides: Shape | None = None) -> dict[str, Any]:
        """Return the parameters of a case (default: the first) with overrides, and resolve generic fp8 types.

        Raises:
            KprofError: unknown case or parameter, or a value of another type than the kernel's cases have.
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
        """Convert a parameter's value to the type that it has in the kernel's cases: 4e3 becomes the integer 4000.

        Raises:
            KprofError: the type is wrong, and computations in the kernel file would fail later.
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
        """Return a copy of this kernel with one of its parts as the entry.

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
    """Return a shape with the generic ``fp8_e4m3`` and ``fp8_e5m2`` replaced by the architecture's format.

    The architecture's hardware file names its format. An architecture without 8-bit floats gets OCP, which the kernel
    then declares as unsupported.
    """
    fnuz = "fnuz" in _fp8_formats(arch)

    def resolved(value: Any) -> Any:
        forms = _GENERIC_FP8.get(value) if isinstance(value, str) else None
        return value if forms is None else forms[0 if fnuz else 1]

    return {name: resolved(value) for name, value in shape.items()}


def launch_gpu(name: str) -> LaunchGpu:
    """Return the GPU for the name of a product or an architecture.

    An architecture, or a product with an unknown number of CUs, is replaced by the architecture's first product with a
    known number: ``gfx942`` becomes an MI300X. A name without a hardware file (``sm_90``) gets as many CUs as an
    MI300X.
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
    """Return whether the architecture converts and multiplies 8-bit floats in hardware; False if not known."""
    return bool(_fp8_formats(arch))


def _fp8_formats(arch: str) -> set[str]:
    """Return the formats ``fnuz`` and ``ocp`` that an architecture has; empty if it has no hardware file."""
    from kprof.hardware.machine import architectures, load

    name = arch.partition(":")[0]
    if name not in architectures():
        return set()
    return {form for form in ("fnuz", "ocp") if load(name).types.get(f"fp8_{form}")}


def no_fp8(arch: str, dtype: str) -> str | None:
    """Return why an architecture cannot multiply this type, for ``Kernel.unsupported``; ``None`` if it can.

    Only AMD architectures are checked: for others (``sm_90``) the compiler decides.
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
    """Return the size of one element in bytes."""
    return ELEMENT_TYPES[dtype].size


def rounding(dtype: str) -> tuple[float, float]:
    """Return the maximum error of rounding to this type, as ``(relative, absolute)``, the basis of a tolerance."""
    kind = ELEMENT_TYPES[dtype]
    return kind.roundoff, kind.tiny / 2


def torch_dtype(dtype: str) -> Any:
    """Return the ``torch.dtype`` of a Triton element type."""
    import torch

    return getattr(torch, ELEMENT_TYPES[dtype].torch)


def on_amd() -> bool:
    """Return whether this process launches kernels on an AMD GPU: torch is for ROCm, and the interpreter is off."""
    if os.environ.get("TRITON_INTERPRET", "0") not in {"", "0"}:
        return False
    import torch

    return torch.version.hip is not None


def split_config(config: Config) -> tuple[dict[str, Any], dict[str, Any]]:
    """Split a configuration into constexprs and compiler options."""
    options = {k: v for k, v in config.items() if k in BACKEND_OPTIONS}
    return {k: v for k, v in config.items() if k not in BACKEND_OPTIONS}, options


def execute(entry: Any, launch: Launch, tensors: Mapping[str, Any], config: Config) -> None:
    """Launch a kernel on real tensors, which replace the :class:`Tensor` descriptors in ``launch.args``.

    Options that only AMD's backend knows are dropped on other GPUs and in Triton's interpreter, so that kernels can be
    checked there.

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
