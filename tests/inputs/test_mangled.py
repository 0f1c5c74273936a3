"""Mangled names of C++ kernels against what LLVM's or the GNU tool makes of them."""

import gzip
import re
import shutil
import subprocess
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kprof.inputs.mangled import demangled
from kprof.inputs.rocprof.names import short

NAMES = {
    "_ZN2at6native13reduce_kernelILi512ELi1ENS0_8ReduceOpIfNS0_6MaxOpsIfEEfLi4EEEEEvT1_":
        "at::native::reduce_kernel<512, 1, at::native::ReduceOp<float, at::native::MaxOps<float>, float, 4>>"
        "(at::native::ReduceOp<float, at::native::MaxOps<float>, float, 4>)",
    "_ZN2at6native29vectorized_elementwise_kernelILi16EZNS0_12_GLOBAL__N_119masked_scale_kernelIbffEEvRNS_6TensorE"
    "RKS4_S7_T1_EUlfbE_St5arrayIPcLm3EEEEviT0_S8_":
        "at::native::vectorized_elementwise_kernel<16, at::native::(anonymous namespace)::masked_scale_kernel<bool, "
        "float, float>(at::Tensor&, at::Tensor const&, at::Tensor const&, float)::{lambda(float, bool)#1}, "
        "std::array<char*, 3ul>>(int, at::native::(anonymous namespace)::masked_scale_kernel<bool, float, float>"
        "(at::Tensor&, at::Tensor const&, at::Tensor const&, float)::{lambda(float, bool)#1}, std::array<char*, 3ul>)",
    "_ZL10cpy_scalarIXadL_ZL12cpy_1_scalarI6__halffEvPKcPcEEEvS3_S4_l":
        "cpy_scalar<&(void cpy_1_scalar<__half, float>(char const*, char*))>(char const*, char*, long)",
    "_Z3addPfPKf.kd": "add(float*, float const*)",
}  # fmt: skip
"""As ``c++filt`` of binutils prints them, but without the type of the result and the blank between two ``>``."""


@pytest.mark.parametrize(("mangled", "written"), NAMES.items())
def test_names(mangled: str, written: str) -> None:
    """Substitutions, lambdas, parameters of templates that are another's, addresses of functions."""
    assert demangled(mangled) == written


@pytest.mark.parametrize(
    "name", ["softmax_kernel", "_Z", "_Zq", "_Z99short", "_ZN2at", "_ZFE", "_Z1fT_", "_Zn3abc", "_Z1fS9_"]
)
def test_what_is_no_mangled_name_stays(name: str) -> None:
    """No guess, no error."""
    assert demangled(name) is None


@given(st.text("ZNIELTSKPRFXJDpvlutadi_0123456789abcn", max_size=40))
def test_any_text_is_told_or_left(text: str) -> None:
    """And in a moment."""
    demangled(f"_Z{text}")
    short(f"_Z{text}")


def test_a_name_that_grows_without_end_is_left() -> None:
    """Each parameter is a template of the one before, twice: more than 2 to the power of 36 characters."""
    digits = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"
    grown = "1bIiiE" + "".join(f"S_IS{digit}_S{digit}_E" for digit in digits)
    assert demangled(f"_Z1a{grown[:36]}") is not None
    assert demangled(f"_Z1a{grown}") is None


@pytest.fixture(scope="module")
def published(request: pytest.FixtureRequest) -> list[str]:
    """Every mangled name in the published files."""
    shared: Path = request.getfixturevalue("shared")
    found: set[bytes] = set()
    for folder in ("proton", "rocprof_v1", "rocprof_v3/training_gfx950_json", "kineto/vllm_decode_full_hipgraph"):
        for path in (shared / "samples" / folder).rglob("*"):
            if path.is_file():
                content = path.read_bytes()
                content = gzip.decompress(content) if path.suffix == ".gz" else content
                found.update(re.findall(rb"\b_Z[A-Za-z0-9_]+", content))
    return sorted(name.decode() for name in found)


def test_published_names_are_those_of_the_compilers_tool(published: list[str]) -> None:
    """Of some thousand at most one in a hundred is left as it is, and none is another."""
    tool = shutil.which("c++filt")
    if tool is None:
        pytest.skip("there is no c++filt here")
    ran = subprocess.run([tool], input="\n".join(published), text=True, capture_output=True, check=True)
    told = {name: line for name, line in zip(published, ran.stdout.splitlines(), strict=True) if name != line}
    assert len(told) > 1000
    found = {name: demangled(name) for name in told}
    left = [name for name, text in found.items() if text is None]
    assert len(left) <= len(told) / 100
    plain = {name: re.sub(r"(?<=>) (?=>)", "", text) for name, text in told.items()}
    other = {name: text for name, text in found.items() if text and not f" {plain[name]}".endswith(f" {text}")}
    assert other == {}
