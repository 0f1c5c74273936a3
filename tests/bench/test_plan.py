"""What is measured: cases, parameters, providers, and the verdict."""

import json
from pathlib import Path
from typing import Any

import pytest

from kprof.bench.document import BenchReport, Device, Measurement
from kprof.bench.plan import Plan, cases_of, default_providers, expand, problems, published, verdict
from kprof.errors import KprofError
from kprof.kernel_spec import Kernel, Launch

DEVICE = Device("Some GPU", "rocm", "gfx942", {"torch": "2.11"}, 1 << 36)
PUBLISHED = Path(__file__).parents[2] / "kprof/bench/published.json"


def kernel(**fields: Any) -> Kernel:
    """A kernel without a function: enough for planning."""
    base: dict[str, Any] = {
        "name": "toy",
        "entry": None,
        "summary": "",
        "launch": lambda _shape, _config: Launch({}, (1,)),
        "shapes": {
            "plain": {"M": 4, "dtype": "fp16"},
            "llama_m1": {"M": 1, "dtype": "fp16"},
            "llama_m2": {"M": 2, "dtype": "fp8_e4m3"},
            "llama7": {"M": 7, "dtype": "fp16"},
        },
        "config": {"BLOCK": 16},
    }
    return Kernel(**{**base, **fields})


def measured(status: str, provider: str = "triton") -> Measurement:
    """A measurement that ended so."""
    return Measurement("toy", "plain", {"M": 4}, provider, status)  # type: ignore[arg-type]


def test_a_name_stands_for_all_cases_that_begin_with_it() -> None:
    """``llama`` is the two with an underscore after it, in their order, once each."""
    assert cases_of(kernel(), ["llama", "llama_m1", "plain"]) == ["llama_m1", "llama_m2", "plain"]
    assert cases_of(kernel(), ["all"]) == ["plain", "llama_m1", "llama_m2", "llama7"]


def test_unknown_case_names_the_nearest() -> None:
    """And lists what there is."""
    with pytest.raises(KprofError, match="llama_m1") as caught:
        cases_of(kernel(), ["lama_m1"])

    assert caught.value.hint is not None
    assert "plain" in caught.value.hint


def test_default_case_is_the_first() -> None:
    """With its own parameters."""
    assert problems(kernel(), Plan("toy"), "gfx942") == [("plain", {"M": 4, "dtype": "fp16"})]


@pytest.mark.parametrize(("arch", "dtype"), [("gfx942", "fp8e4b8"), ("gfx950", "fp8e4nv"), ("sm_90", "fp8e4nv")])
def test_the_architecture_decides_the_float8(arch: str, dtype: str) -> None:
    """FNUZ on gfx942, OCP elsewhere."""
    assert problems(kernel(), Plan("toy", cases=["llama_m2"]), arch)[0][1]["dtype"] == dtype


def test_changed_parameters_are_told_from_the_case() -> None:
    """A result must not carry the name of a case that it is not."""
    assert problems(kernel(), Plan("toy", shape={"M": 9}), "gfx942")[0] == ("custom", {"M": 9, "dtype": "fp16"})
    names = [name for name, _ in problems(kernel(), Plan("toy", cases=["llama"], shape={"M": 2}), "gfx942")]
    assert names == ["llama_m1*", "llama_m2"]


def test_unknown_element_type_is_refused() -> None:
    """Before any GPU is asked."""
    with pytest.raises(KprofError, match="no element type 'fp7'"):
        problems(kernel(), Plan("toy", shape={"dtype": "fp7"}), "gfx942")


def test_alternatives_stand_for_the_kernels() -> None:
    """Each provider once, in the order given."""
    toy = kernel(alternatives=("toy_small",), providers={"mine": lambda _inputs, _shape: {}})

    assert expand(toy, ["triton", "alternatives", "mine", "triton"]) == ["triton", "toy_small", "mine"]
    with pytest.raises(KprofError, match="no provider 'tritn'; did you mean 'triton'"):
        expand(toy, ["tritn"])


def test_torch_is_a_default_where_it_can() -> None:
    """A kernel that torch has nothing for runs alone."""
    assert default_providers(kernel()) == ["triton"]
    assert default_providers(kernel(providers={"torch": lambda _inputs, _shape: {}})) == ["triton", "torch"]
    assert default_providers(kernel(name="softmax")) == ["triton", "torch"]


@pytest.mark.parametrize(
    ("statuses", "code"),
    [
        (["ok", "ok"], 0),
        (["ok", "not_installed", "unsupported"], 0),
        (["ok", "inaccurate"], 0),
        (["unsupported"], 2),
        ([], 2),
        (["ok", "crashed"], 2),
        (["out_of_memory", "wrong", "ok"], 1),
    ],
)
def test_verdict(statuses: list[str], code: int) -> None:
    """A wrong result is 1; what could not be measured is 2; a library that is not there is nobody's fault."""
    report = BenchReport("0", DEVICE, [measured(s, f"p{i}") for i, s in enumerate(statuses)])

    assert verdict(report)[0] == code


def test_published_results_belong_to_cases_that_exist() -> None:
    """Every published time names a case of a bundled kernel, a positive time and its source."""
    from kprof.targets.library import catalogue

    cases = {entry.name: entry.cases for entry in catalogue()}
    rows = json.loads(PUBLISHED.read_text(encoding="utf-8"))["results"]

    assert len(rows) > 100
    for row in rows:
        assert row["case"] in cases[row["kernel"]], row
        assert row["ms"] > 0
        assert len(row["source"]) > 30


def test_published_results_come_with_the_measured_cases() -> None:
    """The RMS norm's 2048 rows took 73.35 us on an MI300X."""
    found = published(
        "rmsnorm_residual_fp8", [Measurement("rmsnorm_residual_fp8", "llama405b_m2048", {}, "triton", "ok")]
    )

    assert {r["provider"]: r["ms"] for r in found} == {"torch": 0.671513, "vllm": 0.0812089, "hf-rocm-kernels": 0.07335}
