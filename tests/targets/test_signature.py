"""Written signatures become what a launch through torch would give."""

import pytest

from kprof.compiler import versions as triton_versions
from kprof.errors import KprofError
from kprof.importing.functions import load_function
from kprof.kernel_spec import Launch, Tensor
from kprof.targets.signature import from_signature, load_signature, numbers
from kprof.targets.specialize import from_launch
from tests.compiler.conftest import SAMPLES

pytestmark = pytest.mark.triton


def add(signature, **constexprs):
    """A request for the vector addition."""
    return load_signature(str(SAMPLES), "add", signature, "gfx942", constexprs)


def test_as_a_launch_through_torch():
    """The same request as a launch with such tensors makes."""
    vector = Tensor("fp16", (1000,))
    launch = Launch({"x": vector, "y": vector, "out": vector, "n": 1000, "BLOCK": 256}, (4,))
    assert add("*fp16,*fp16,*fp16,i32", BLOCK=256) == from_launch(load_function(SAMPLES, "add").jit, launch, "gfx942")


@pytest.mark.parametrize(
    "signature",
    [
        "*fp16, *fp16 ,*fp16:16,i32",
        "*fp16,*fp16,*fp16,i32,256",
        "n=i32,x=*fp16,out=*float16,y=*half",
        ["*fp16", "*fp16", "*fp16", "i32"],
        {"x": "*fp16", "y": "*fp16", "out": "*fp16", "n": "i32"},
        "*fp16,*fp16,*fp16,1001",
    ],
)
def test_forms_of_the_same_signature(signature):
    """By position, by name, as text, as a list, as a mapping, with a value."""
    constexprs = {} if "256" in signature else {"BLOCK": 256}
    assert add(signature, **constexprs) == add("*fp16,*fp16,*fp16,i32", BLOCK=256)


@pytest.mark.parametrize(
    ("item", "kind", "hints", "value"),
    [
        ("i32", "i32", {}, None),
        ("i32:16", "i32", {"divisibility": 16}, None),
        ("i64:16", "i64", {"divisibility": 16}, None),
        ("u64", "u64", {}, None),
        ("4096", "i32", {"divisibility": 16}, None),
        ("0x100000000", "i64", {"divisibility": 16}, None),
        ("1", "constexpr", None, 1),
        ("fp32", "fp32", None, None),
        ("0.5", "fp32", None, None),
        ("i1", "u1", None, None),
        ("true", "u1", None, None),
    ],
)
def test_scalars(item, kind, hints, value):
    """Type, hint and the value that is compiled in."""
    request = add(f"*fp16,*fp16,*fp16,{item}", BLOCK=256)
    assert request.signature["n"] == kind
    assert request.attributes.get("n") == hints
    assert request.constexprs.get("n") == value


def test_pointers():
    """Aligned and small by default; both can be taken away."""
    if not triton_versions.buffer_ops_default(triton_versions.installed().numbers):
        pytest.skip("this Triton looks at no range by default")
    hints = add("*fp16,*fp16:1,*fp16:wide,i32", BLOCK=256).attributes
    assert hints["x"] == {"divisibility": 16, "pointer_range": 32}
    assert hints["y"] == {"pointer_range": 32}
    assert hints["out"] == {"divisibility": 16}


def test_declared_arguments_keep_their_declaration():
    """Annotation, do_not_specialize and defaults as in a launch."""
    request = load_signature(
        str(SAMPLES),
        "odd",
        "p=*fp32,const_p=*fp32,number=i32:16,skipped=i32:16,unaligned=i32,wide=i32,real=fp32,flag=i1",
        "gfx942",
    )
    assert request.signature == {
        "p": "*fp32", "const_p": "*kfp32", "number": "i32", "skipped": "i32", "unaligned": "i32", "wide": "i64",
        "real": "fp32", "flag": "u1", "default": "i32", "key": "constexpr",
    }  # fmt: skip
    assert "skipped" not in request.attributes
    assert request.attributes["number"] == {"divisibility": 16}


def test_numbers_that_a_launch_passes():
    """Values, not types; compile-time arguments are no part of the launch."""
    function = load_function(SAMPLES, "add")
    assert numbers(function, "*fp16,*fp16,*fp16,4096", {"BLOCK": 256}) == {"n": 4096}
    assert numbers(function, "*fp16,*fp16,*fp16,i32", {"BLOCK": 256}) == {}
    assert numbers(function, "*fp16,*fp16,*fp16", {"BLOCK": 256, "n": 7}) == {"n": 7}


def test_autotuner_fills_what_is_missing():
    """Its first configuration, options included; what is given wins."""
    function = load_function(SAMPLES, "tuned")
    request = from_signature(function, "*fp32,i32", "gfx942", {"EVEN": False})
    assert (request.constexprs["BLOCK"], request.options["num_warps"]) == (256, 2)
    request = from_signature(function, "*fp32,i32", "gfx942", {"EVEN": False, "BLOCK": 64}, options={"num_warps": 4})
    assert (request.constexprs["BLOCK"], request.options["num_warps"]) == (64, 4)


@pytest.mark.parametrize(
    ("signature", "constexprs", "message", "hint"),
    [
        (
            "*fp16,*fp16",
            {"BLOCK": 1},
            "takes 4 arguments besides its constexprs, the signature has 2",
            "they are x, y, out, n",
        ),
        ("*fp16,*fp16,*fp16,i32", {"BLOK": 1}, "has no argument 'BLOK'", "did you mean 'BLOCK'"),
        ("*fp16,*fp16,*fp16,i32", {}, "no value for the constexpr BLOCK", "--constexpr BLOCK="),
        (None, {"BLOCK": 1}, "no type for x, y, out, n", '--signature "x=...'),
        ("*fp61,*fp16,*fp16,i32", {"BLOCK": 1}, "'*fp61' of argument 'x' is not a type", "did you mean 'fp64'"),
        ("**fp16,*fp16,*fp16,i32", {"BLOCK": 1}, "is not a type", None),
        ("*fp16:8,*fp16,*fp16,i32", {"BLOCK": 1}, "unknown hint '8'", "16 is the default"),
        ("*fp16,*fp16,*fp16,i32:7", {"BLOCK": 1}, "invalid hint", "i32:16"),
        ("x=*fp16,*fp16,*fp16,i32", {"BLOCK": 1}, "names all of its arguments or none", None),
        ("z=*fp16", {"BLOCK": 1}, "has no argument 'z'", None),
        ("x=*fp16,y=*fp16,out=*fp16,n=i32,BLOCK=constexpr", {}, "'BLOCK' is a constexpr and needs a value", None),
        ("x=*fp16,y=*fp16,out=*fp16,n=i32", {"n": 4, "BLOCK": 1}, "given in the signature and as a value", None),
    ],
)
def test_wrong_signature(signature, constexprs, message, hint):
    """What is wrong, and what was probably meant."""
    with pytest.raises(KprofError) as caught:
        add(signature, **constexprs)
    assert message in caught.value.message
    assert hint is None or caught.value.hint.startswith(hint)


def test_heuristics_are_named_when_their_value_is_missing():
    """A launch would fill them in; here the user must."""
    with pytest.raises(KprofError) as caught:
        load_signature(str(SAMPLES), "tuned", "*fp32,i32", "gfx942")
    assert "EVEN would be set by @triton.heuristics" in caught.value.hint
