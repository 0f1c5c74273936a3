"""Kernel descriptions: element types, 8-bit formats, configurations, and launches on real tensors."""

from typing import Any

import pytest

from kprof.errors import KprofError
from kprof.kernel_spec import (
    BACKEND_OPTIONS,
    ELEMENT_TYPES,
    Kernel,
    Launch,
    Part,
    Tensor,
    execute,
    has_fp8,
    no_fp8,
    on_amd,
    resolve_fp8,
    rounding,
    split_config,
    torch_dtype,
)


class Entry:
    """Stands for a Triton function: remembers what it was launched with."""

    def __init__(self) -> None:
        self.grid: Any = None
        self.args: dict[str, Any] = {}

    def __getitem__(self, grid: Any) -> Any:
        self.grid = grid
        return lambda **args: self.args.update(args)


@pytest.mark.parametrize("name", ELEMENT_TYPES)
def test_element_types_agree_with_torch(name: str) -> None:
    """Size as torch has it; roundoff and smallest value read off the bits next to 1 and to 0."""
    torch = pytest.importorskip("torch")
    kind, dtype = ELEMENT_TYPES[name], torch_dtype(name)

    assert kind.size == dtype.itemsize
    if not dtype.is_floating_point:
        assert (kind.roundoff, kind.tiny) == (0, 0)
        return
    # Not torch.finfo, whose eps for float8_e5m2fnuz is half of what the format has.
    bits = {1: torch.uint8, 2: torch.int16, 4: torch.int32, 8: torch.int64}[kind.size]
    one, zero = torch.tensor([1.0, 0.0], dtype=torch.float64).to(dtype).view(bits)
    above_one, above_zero = torch.stack([one + 1, zero + 1]).to(bits).view(dtype).double().tolist()
    assert kind.roundoff == (above_one - 1) / 2
    assert kind.tiny == above_zero
    assert rounding(name) == (kind.roundoff, kind.tiny / 2)


@pytest.mark.parametrize(
    ("arch", "e4m3", "e5m2"),
    [
        ("gfx942", "fp8e4b8", "fp8e5b16"),
        ("gfx942:sramecc+:xnack-", "fp8e4b8", "fp8e5b16"),
        ("gfx950", "fp8e4nv", "fp8e5"),
        ("gfx1201", "fp8e4nv", "fp8e5"),
        ("sm_90", "fp8e4nv", "fp8e5"),
    ],
)
def test_generic_fp8_becomes_the_architectures_own(arch: str, e4m3: str, e5m2: str) -> None:
    """FNUZ on gfx942, OCP elsewhere; what names a format already stays, and such a type is supported."""
    shape = {"a": "fp8_e4m3", "b": "fp8_e5m2", "c": "fp8e4nv", "d": 3, "e": "bf16"}

    assert resolve_fp8(shape, arch) == {"a": e4m3, "b": e5m2, "c": "fp8e4nv", "d": 3, "e": "bf16"}
    assert no_fp8(arch, e4m3) is None
    assert no_fp8(arch, "bf16") is None


def test_fp8_that_an_architecture_lacks_has_a_reason() -> None:
    """CDNA2 and RDNA3 have no 8-bit floats, CDNA3 only FNUZ, later ones only OCP."""
    assert [arch for arch in ("gfx90a", "gfx942", "gfx950", "gfx1100", "gfx1201") if has_fp8(arch)] == [
        "gfx942",
        "gfx950",
        "gfx1201",
    ]
    assert no_fp8("gfx90a", "fp8e4nv") == "gfx90a has no 8-bit float instructions"
    assert no_fp8("gfx942", "fp8e4nv") == "gfx942 has the FNUZ 8-bit formats, not fp8e4nv"
    assert no_fp8("gfx950", "fp8e5b16") == "gfx950 has the OCP 8-bit formats, not fp8e5b16"


def test_config_is_split_into_constexprs_and_options() -> None:
    """Names of compiler options go one way, all others are constexprs."""
    assert split_config({"BLOCK": 64, "num_warps": 4, "kpack": 2, "FLAG": True}) == (
        {"BLOCK": 64, "FLAG": True},
        {"num_warps": 4, "kpack": 2},
    )
    assert {"num_warps", "num_stages", "waves_per_eu", "matrix_instr_nonkdim"} <= BACKEND_OPTIONS


def test_execute_puts_tensors_in_place_and_drops_options_of_amd() -> None:
    """Descriptors become tensors, numbers stay; in a process without ROCm only the common options are passed on."""
    torch = pytest.importorskip("torch")
    if on_amd():
        pytest.skip("this torch is for ROCm: nothing is dropped")
    entry, x = Entry(), torch.zeros(4, 8, dtype=torch.float16)
    launch = Launch({"x_ptr": Tensor("fp16", (4, 8)), "bias_ptr": None, "n": 8, "BLOCK": 16}, (4, 1))

    execute(entry, launch, {"x_ptr": x, "bias_ptr": None}, {"BLOCK": 16, "num_warps": 2, "waves_per_eu": 2})

    assert entry.grid == (4, 1)
    assert entry.args.pop("x_ptr") is x
    assert entry.args == {"bias_ptr": None, "n": 8, "BLOCK": 16, "num_warps": 2}


def test_execute_on_rocm_keeps_every_option(monkeypatch: pytest.MonkeyPatch) -> None:
    """With torch for ROCm the options that only AMD knows are passed on, except in the interpreter."""
    torch = pytest.importorskip("torch")
    monkeypatch.setattr(torch.version, "hip", "7.0")
    monkeypatch.delenv("TRITON_INTERPRET", raising=False)
    config = {"num_warps": 2, "waves_per_eu": 2}
    entry, interpreted = Entry(), Entry()

    execute(entry, Launch({}, (1,)), {}, config)
    monkeypatch.setenv("TRITON_INTERPRET", "1")
    execute(interpreted, Launch({}, (1,)), {}, config)

    assert entry.args == config
    assert interpreted.args == {"num_warps": 2}


@pytest.mark.parametrize(
    ("size", "dtype", "message"),
    [
        ((4, 9), "float16", r"\(4, 9\)"),
        ((4, 8), "float32", "float32"),
        (None, "", "no tensor for the argument 'x_ptr'"),
    ],
)
def test_execute_refuses_what_the_launch_does_not_describe(
    size: tuple[int, int] | None, dtype: str, message: str
) -> None:
    """A tensor that is missing or of another shape or type means that analysis and launch are not the same."""
    torch = pytest.importorskip("torch")
    tensors = {} if size is None else {"x_ptr": torch.zeros(size, dtype=getattr(torch, dtype))}

    with pytest.raises(ValueError, match=message):
        execute(Entry(), Launch({"x_ptr": Tensor("fp16", (4, 8))}, (1,)), tensors, {})


def test_part_keeps_the_kernels_cases() -> None:
    """A part is the same kernel with another entry and launch, and has no parts itself."""

    def launch(_shape: Any, _config: Any) -> Launch:
        return Launch({}, (1,))

    def launch_part(_shape: Any, _config: Any) -> Launch:
        return Launch({}, (2,))

    kernel = Kernel(
        name="k",
        entry="a",
        summary="",
        launch=launch,
        shapes={"s": {"N": 1}},
        config={"BLOCK": 1},
        parts={"second": Part("b", launch_part)},
    )

    part = kernel.part("second")

    assert (part.name, part.entry, part.launch({}, {}).grid, part.parts) == ("k::second", "b", (2,), {})
    assert part.shapes is kernel.shapes


def described(**rest: Any) -> Kernel:
    """A kernel with two cases of all kinds of parameters."""
    common = {"dtype": "fp16", "causal": True, "scale": 0.5, "gates": "usual"}
    shapes = {"small": {"M": 4, "window": None, **common}, "large": {"M": 8, "window": 16, **common}}
    return Kernel("toy", Entry(), "", lambda _s, _c: Launch((1,), {}), shapes, {}, **rest)


@pytest.mark.parametrize(
    ("name", "value", "taken"),
    [
        ("M", 5, 5),
        ("M", 4e3, 4000),
        ("scale", 1, 1),
        ("scale", 0.25, 0.25),
        ("causal", False, False),
        ("causal", 1, True),
        ("dtype", "bf16", "bf16"),
        ("dtype", "fp8_e4m3", "fp8e4b8"),
        ("gates", "other", "other"),
        ("window", 8, 8),
        ("window", None, None),
    ],
)
def test_shape_parameters_of_their_kind_are_taken(name: str, value: Any, taken: Any) -> None:
    """As the cases have them; whole numbers may be written with an exponent, flags as 0 and 1."""
    found = described().problem("gfx942", None, {name: value})[name]
    assert (found, type(found)) == (taken, type(taken))


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("M", "x", "M cannot be 'x'"),
        ("M", 1.5, "M cannot be 1.5"),
        ("M", True, "M cannot be True"),
        ("M", None, "M cannot be None"),
        ("scale", "half", "scale cannot be 'half'"),
        ("causal", "maybe", "causal cannot be 'maybe'"),
        ("causal", 2, "causal cannot be 2"),
        ("gates", 3, "gates cannot be 3"),
        ("dtype", 3, "dtype cannot be 3"),
        ("dtype", "fp7", "no element type 'fp7'"),
    ],
)
def test_shape_parameters_of_another_kind_are_refused(name: str, value: Any, message: str) -> None:
    """With what the parameter is like, before the kernel's file computes with it."""
    with pytest.raises(KprofError, match=message) as caught:
        described().problem("gfx942", None, {name: value})
    assert caught.value.hint


@pytest.mark.parametrize(
    ("gpu", "units", "xcds"),
    [
        ("gfx942", 304, 8),
        ("MI300X", 304, 8),
        ("MI308X", 80, 4),
        ("mi300a", 228, 6),
        ("gfx90a", 104, 1),
        ("MI250X", 110, 1),
        ("MI210", 104, 1),
        ("RX7900XTX", 96, 1),
        # No file says what it is: as many CUs as the usual GPU.
        ("sm_90", 304, 8),
    ],
)
def test_knobs_follow_from_the_product(gpu: str, units: int, xcds: int) -> None:
    """The number of CUs and dies is that of the product; an architecture is its first product."""
    kernel = described(
        arch_config={"gfx942": {"BLOCK": 8}},
        shape_config=lambda _shape, arch: {"num_warps": 8 if arch == "gfx942" else 4},
        gpu_config=lambda _shape, found: {"BLOCK": found.compute_units, "num_stages": found.xcds},
    )
    shape = kernel.problem("gfx942")
    made = kernel.configure(gpu, None, shape)
    assert (made["BLOCK"], made["num_stages"]) == (units, xcds)
    assert made["num_warps"] == (8 if gpu.upper().startswith(("MI30", "GFX942")) else 4)
    assert kernel.configure(gpu, {"BLOCK": 2}, shape)["BLOCK"] == 2


def test_a_gpu_config_that_fails_is_told() -> None:
    """As of a shape_config."""
    broken = described(gpu_config=lambda _shape, _gpu: {"BLOCK": {}["nothing"]})
    with pytest.raises(KprofError, match="the gpu_config of toy fails: KeyError"):
        broken.configure("gfx942", None, broken.problem("gfx942"))


def test_a_shape_config_that_fails_is_told() -> None:
    """The file's own code may do anything."""
    broken = described(shape_config=lambda _shape, _arch: {"BLOCK": {}["nothing"]})
    with pytest.raises(KprofError, match="the shape_config of toy fails: KeyError"):
        broken.configure("gfx942", None, broken.problem("gfx942"))
