"""The page of shipped configurations against what searches predict: up to date, and true for two kernels."""

import sys
from pathlib import Path
from typing import Any

import pytest

import kprof
from kprof.compiler.versions import CODE_SWITCHES
from kprof.hardware.machine import load_gpu
from kprof.targets.library import bundled
from kprof.targets.without_triton import described

ROOT = Path(__file__).parents[2]


@pytest.fixture(name="script", scope="module")
def _script() -> Any:
    sys.path.insert(0, str(ROOT / "validation"))
    try:
        import validate_defaults
    finally:
        sys.path.remove(str(ROOT / "validation"))
    return validate_defaults


def test_the_page_is_what_the_script_writes(script: Any) -> None:
    """From the results beside it; each ratio over 5 % has its reason."""
    text, is_explained = script.page(script.read(), sorted(bundled()))

    assert script.PAGE.read_text(encoding="utf-8") == text, "python validation/validate_defaults.py --page"
    assert is_explained


def test_rows_are_of_the_configurations_that_are_shipped(script: Any) -> None:
    """A default that was changed has to be searched again."""
    for key, found in script.read().items():
        if "shipped" not in found:
            continue
        kernel, gpu = key.split(" | ")
        spec, arch = described(bundled()[kernel]), load_gpu(gpu)[0].name
        config = spec.configure(arch, None, spec.problem(arch, found["case"]))
        assert found["shipped"] == config, (
            f"{kernel} ships another configuration for {gpu} than the page has: "
            f"python validation/validate_defaults.py --again --only {kernel}"
        )


@pytest.mark.triton("3.9.")
@pytest.mark.parametrize("kernel", ["mlstm_chunkwise_d64", "rmsnorm_residual_fp8"])
def test_the_page_holds_for_two_kernels(script: Any, kernel: str) -> None:
    """The shipped configuration and the best one of the page have the times that the page says."""
    found = script.read()[f"{kernel} | MI300X"]
    for name, change in {"shipped_us": {}, "best_us": found["change"]}.items():
        env = {knob: value for knob, value in change.items() if knob in CODE_SWITCHES}
        config = {knob: value for knob, value in change.items() if knob not in env}
        report = kprof.analyze(kernel, arch="MI300X", case=found["case"], config=config, env=env, try_cures=False)
        now = sum(one.model.time_us for one in report.kernels)
        assert now == pytest.approx(found[name], rel=0.02), (
            f"the model or Triton moved: {kernel} with {change or 'its own configuration'} takes {now:.4g} µs, and "
            f"{found[name]:.4g} µs on docs/validation/defaults.md. Run validation/validate_defaults.py --again --only "
            f"{kernel}; where the shipped configuration is over 5 % behind, change it in kernels/{kernel}.py or write "
            "into REASONS of the script why not."
        )
