"""The specialisation of a launch is the one that Triton's own launcher makes."""

import sys
from types import ModuleType
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kprof.compiler.request import DtypeRef, FunctionRef
from kprof.errors import KprofError
from kprof.importing.functions import load_function
from kprof.kernel_spec import ELEMENT_TYPES, Launch, Tensor
from kprof.targets.specialize import from_launch
from tests.compiler.conftest import SAMPLES

pytestmark = pytest.mark.triton

INTEGERS = st.one_of(
    st.integers(-(2**63), 2**64 - 1),
    st.integers(-70, 70),
    st.sampled_from([1, 16, 2**31 - 1, 2**31, -(2**31), -(2**31) - 1, 2**63 - 1, 2**63, 2**32, True, False]),
)
TENSORS = st.builds(
    Tensor,
    st.sampled_from(sorted(ELEMENT_TYPES)),
    st.sampled_from([(4,), (128, 64), (2**29,), (2**31 - 1,), (2**31,), (2**20, 2**12)]),
    st.booleans(),
)
SCALARS = st.one_of(INTEGERS, st.floats(), st.none())
ARGUMENTS = st.fixed_dictionaries(
    {
        "p": TENSORS,
        "const_p": TENSORS,
        "number": st.one_of(SCALARS, TENSORS),
        "skipped": SCALARS,
        "unaligned": st.one_of(INTEGERS, TENSORS),
        "wide": INTEGERS,
        "real": st.one_of(st.floats(), INTEGERS),
        "flag": st.booleans(),
        "default": INTEGERS,
        "key": st.one_of(st.integers(), st.text(alphabet="abc"), st.none()),
    }
)


class Stand:
    """What Triton's launcher looks at in a tensor."""

    def __init__(self, tensor: Tensor) -> None:
        size = ELEMENT_TYPES[tensor.dtype].size
        for side in tensor.shape:
            size *= side
        self.dtype = f"torch.{ELEMENT_TYPES[tensor.dtype].torch}"
        self._size = size
        self._address = 4096 if tensor.aligned else 4104

    def data_ptr(self) -> int:
        return self._address

    def ptr_range(self) -> int:
        return self._size


def by_triton(jit: Any, args: dict[str, Any], arch: str = "gfx942") -> tuple[Any, Any, Any]:
    """Signature, constexprs and attributes from the installed Triton's own launcher."""
    from triton.backends.compiler import GPUTarget
    from triton.compiler.compiler import make_backend
    from triton.runtime.jit import create_function_from_signature

    backend = make_backend(GPUTarget("hip", arch, 64))
    real = {name: Stand(value) if isinstance(value, Tensor) else value for name, value in args.items()}
    real = {
        n: tuple(Stand(v) if isinstance(v, Tensor) else v for v in x) if isinstance(x, tuple) else x
        for n, x in real.items()
    }
    bound, specialization, options = create_function_from_signature(jit.signature, jit.params, backend)(**real)
    if hasattr(jit, "_pack_args"):
        _, signature, constexprs, attributes = jit._pack_args(
            backend, {"enable_fp_fusion": True}, bound, specialization, options
        )
        return signature, constexprs, attributes
    # Triton 3.4 has this in the middle of run().
    from triton._utils import find_paths_if, get_iterable_path

    names, kinds = [p.name for p in jit.params], [item[0] for item in specialization]
    paths = find_paths_if(kinds, lambda _, kind: kind == "constexpr")
    values = [item[1] for item in specialization]
    found = find_paths_if(values, lambda _, value: isinstance(value, str))
    constexprs = {path: get_iterable_path(list(bound.values()), path) for path in paths}
    attributes = {path: backend.parse_attr(get_iterable_path(values, path)) for path in found}
    return dict(zip(names, kinds, strict=True)), constexprs, attributes


@pytest.fixture(autouse=True)
def _torch_stub(monkeypatch: pytest.MonkeyPatch) -> None:
    """Older launchers import torch to look at a storage's size; a stand-in answers by itself."""
    if "torch" not in sys.modules:
        stub = ModuleType("torch")
        stub.Tensor = type("Tensor", (), {})  # type: ignore[attr-defined]
        monkeypatch.setitem(sys.modules, "torch", stub)


def compare(name: str, args: dict[str, Any]) -> None:
    """Ours against Triton's, under Triton's paths."""
    function = load_function(SAMPLES, name)
    ours = from_launch(function.jit, Launch(args, (1,)), "gfx942")
    signature, constexprs, attributes = by_triton(function.jit, args)
    position = {argument: index for index, argument in enumerate(function.arguments)}

    def path(text: str) -> tuple[int, ...]:
        argument, *inner = text.split(".")
        return (position[argument], *map(int, inner))

    assert dict(ours.signature) == signature
    assert {path(k): v for k, v in ours.constexprs.items()} == constexprs
    # For a text as constexpr older launchers make attributes that nothing reads.
    expected = {k: {n.removeprefix("tt."): v for n, v in a} for k, a in attributes.items() if k not in constexprs}
    assert {path(k): dict(v) for k, v in ours.attributes.items()} == expected


@settings(deadline=None, max_examples=150)
@given(ARGUMENTS)
def test_as_the_launcher(args):
    """Types, compile-time values and hints of any mixture of arguments."""
    compare("odd", args)


@settings(deadline=None, max_examples=60)
@given(st.tuples(st.one_of(INTEGERS, TENSORS), st.one_of(INTEGERS, st.floats(), st.none())))
def test_tuple_as_the_launcher(both):
    """Elements of a tuple are specialised one by one."""
    compare("pair", {"p": Tensor("fp32", (4,)), "both": both})


def test_hints_need_buffer_operations(monkeypatch):
    """Without buffer operations Triton does not look at the pointers' range."""
    function = load_function(SAMPLES, "add")
    vector = Tensor("fp16", (4096,))
    launch = Launch({"x": vector, "y": vector, "out": vector, "n": 4096, "BLOCK": 1024}, (4,))
    on, off = ({"AMDGCN_USE_BUFFER_OPS": value} for value in "10")
    with_range, without = ({"divisibility": 16, "pointer_range": 32}, {"divisibility": 16})
    assert from_launch(function.jit, launch, "gfx942", environment=on).attributes["x"] == with_range
    assert from_launch(function.jit, launch, "gfx942", environment=off).attributes["x"] == without
    monkeypatch.setenv("AMDGCN_USE_BUFFER_OPS", "0")
    assert from_launch(function.jit, launch, "gfx942").attributes["x"] == without


def test_functions_and_dtypes_travel_by_name():
    """Both become references that another process can resolve."""
    import triton.language as tl

    function, double = load_function(SAMPLES, "apply"), load_function(SAMPLES, "double")
    launch = Launch({"x": Tensor("fp16", (64,)), "function": double.jit, "dtype": tl.float32}, (1,))
    constexprs = from_launch(function.jit, launch, "gfx942").constexprs
    assert constexprs == {"function": FunctionRef(str(SAMPLES), "double"), "dtype": DtypeRef("fp32")}


@pytest.mark.parametrize(
    ("args", "message"),
    [
        ({"xx": 1}, "has no argument 'xx'"),
        ({"x": Tensor("fp16", (4,)), "n": 4}, "launched without y, out, BLOCK"),
        ({"x": object(), "y": 1, "out": 1, "n": 1, "BLOCK": 1}, "is a object"),
        ({"x": Tensor("fp61", (4,)), "y": 1, "out": 1, "n": 1, "BLOCK": 1}, "'fp61' is not an element type"),
        ({"x": 2**64, "y": 1, "out": 1, "n": 1, "BLOCK": 1}, "does not fit into 64 bits"),
    ],
)
def test_wrong_launch(args, message):
    """An unknown, missing or impossible argument is named."""
    with pytest.raises(KprofError, match=message):
        from_launch(load_function(SAMPLES, "add").jit, Launch(args, (1,)), "gfx942")


def test_what_is_no_kernel():
    """A plain function, and a kernel that no other process could find."""
    with pytest.raises(KprofError, match="not a Triton function"):
        from_launch(test_what_is_no_kernel, Launch({}, (1,)), "gfx942")
    import triton

    @triton.jit
    def inner(x):
        pass

    with pytest.raises(KprofError, match="inside another function"):
        from_launch(inner, Launch({"x": 1}, (1,)), "gfx942")


def test_debug_variable_becomes_an_option():
    """As in a launch, where assertions are compiled in."""
    launch = Launch({"p": Tensor("fp32", (4,)), "both": (1, 2)}, (1,))
    jit = load_function(SAMPLES, "pair").jit
    assert from_launch(jit, launch, "gfx942", environment={"TRITON_DEBUG": "1"}).options == {"debug": True}
    assert from_launch(jit, launch, "gfx942").options == {}
