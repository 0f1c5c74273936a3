"""The plug-in for pytest, in a pytest of its own."""

import os
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

import kprof
from kprof.errors import KprofError
from kprof.gate.config import Budget
from kprof.gate.launched import budget_of

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

pytest_plugins = ["pytester"]
ROOT = Path(__file__).resolve().parents[1]
SUITE = """
import pytest
import torch
import kprof
import triton
import triton.language as tl


@triton.jit
def double(x, out, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + at, 2 * tl.load(x + at))


@triton.jit
def turn(x, out, N: tl.constexpr):
    rows, columns = tl.arange(0, N)[:, None], tl.arange(0, N)[None, :]
    tile = tl.load(x + rows * N + columns)
    tl.store(out + rows * N + columns, tl.trans(tile) + tile)


def run(kernel, size, **constants):
    x = torch.zeros(size, device="cuda")
    kernel[(1,)](x, torch.empty_like(x), **constants)


@kprof.budget(vgpr_spills=0, waves_per_simd=1)
def test_within():
    run(double, 4096, BLOCK=1024)


@kprof.budget(vgpr_allocated=1)
def test_over():
    run(double, 4096, BLOCK=1024)


@pytest.mark.kprof_budget(vgpr_spills=0, arch="gfx1100")
def test_too_large_to_launch():
    run(turn, 65536, N=256)


@kprof.budget(vgpr_spills=0)
def test_launches_nothing():
    pass


@pytest.mark.kprof_budget(vgpr_spils=0)
def test_mistaken():
    pass


@kprof.budget(vgpr_spills=0)
def test_its_own_failure_comes_first():
    assert 1 == 2


def test_fixture(kprof_capture):
    with kprof_capture("gfx950") as recorded:
        run(double, 4096, BLOCK=2048)
    (kernel,) = recorded.kernels
    assert (kernel.name, kernel.arch, kernel.resources.vgpr_spills) == ("double", "gfx950", 0)
    assert recorded.capture.launch_count == 1
"""


@pytest.fixture
def suite(pytester, monkeypatch):
    """A file of tests, and a pytest with the plug-in alone."""
    pytester.makepyfile(SUITE)
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join((str(ROOT), str(ROOT / "analyzers"))))
    monkeypatch.setenv("PYTHONWARNINGS", "ignore")
    return lambda *arguments: pytester.runpytest_subprocess("-p", "kprof.pytest_plugin", *arguments)


@pytest.mark.triton
@pytest.mark.skipif(find_spec("torch") is None, reason="torch is not installed")
def test_budgets_are_held_without_a_gpu(suite):
    """Within and over a budget, a launch that would fail, no launch, a limit that there is not."""
    ran = suite("--kprof", "-v")
    assert "kprof: budgets are checked for MI300X" in ran.stdout.str()
    ran.assert_outcomes(passed=2, failed=5)
    for name in ("test_within", "test_fixture"):
        ran.stdout.fnmatch_lines([f"*::{name} PASSED*"])
    said = ran.stdout.str()
    assert "kprof: test_budgets_are_held_without_a_gpu.py:8: double on gfx942: " in said
    assert "vector registers allocated, the budget is max_vgpr_allocated = 1" in said
    assert "turn on gfx1100: cannot be launched; " in said
    assert "B of LDS, gfx1100 has 65,536" in said
    assert "kprof: no Triton kernel was launched, so nothing could be compared with the budget" in said
    assert "kprof: a budget has no limit 'vgpr_spils'; did you mean 'vgpr_spills'" in said
    assert "assert 1 == 2" in said


@pytest.mark.triton
@pytest.mark.skipif(find_spec("torch") is None, reason="torch is not installed")
def test_without_the_option_marks_mean_nothing(suite):
    """Marked tests run as they are; here without a GPU, so those that launch fail for its lack."""
    ran = suite("-k", "launches_nothing or mistaken or first")
    ran.assert_outcomes(passed=2, failed=1)
    assert "kprof:" not in ran.stdout.str()


@pytest.mark.parametrize(
    ("chosen", "said"),
    [
        ("plain", ["kprof: no test with a budget was run: nothing was checked"]),
        (
            "plain or not_now or expected",
            [
                "kprof: tests whose budgets do not count: 1 skipped, 1 xfailed, 1 deselected",
                "kprof: no test with a budget was run: nothing was checked",
            ],
        ),
        ("mistaken", []),
    ],
)
def test_budgets_that_nobody_looked_at_are_told(pytester, suite, chosen, said):
    """Of tests that were skipped, expected to fail or left out; where none is left, that is said, too."""
    pytester.makepyfile(
        """
        import pytest

        def test_plain():
            pass

        @pytest.mark.skip
        @pytest.mark.kprof_budget(vgpr_spills=0)
        def test_not_now():
            pass

        @pytest.mark.xfail
        @pytest.mark.kprof_budget(vgpr_spils=0)
        def test_expected():
            pass

        @pytest.mark.kprof_budget(vgpr_spils=0)
        def test_mistaken():
            pass
        """
    )
    ran = suite("--kprof", "-k", chosen)
    told = [line for line in ran.stdout.lines if line.startswith("kprof: tests whose") or "nothing was checked" in line]
    left_out = 3 if chosen == "plain" else 2 if chosen == "mistaken" else 0
    if left_out:
        said = [f"kprof: tests whose budgets do not count: {left_out} deselected", *said]
    assert told == said
    assert "kprof:" not in suite("-k", "plain").stdout.str()


def test_the_plug_in_is_registered_and_costs_nothing():
    """The entry point names this module, whose import brings in nothing of kprof but its version."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert project["entry-points"]["pytest11"] == {"kprof": "kprof.pytest_plugin"}
    code = (
        "import pytest, sys; before = set(sys.modules); import kprof.pytest_plugin; "
        "print(sorted(n for n in set(sys.modules) - before if n.partition('.')[0] != 'kprof'), "
        "sorted(n for n in sys.modules if n.startswith('kprof')))"
    )
    ran = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert ran.stdout.strip() == (
        "[] ['kprof', 'kprof.hardware', 'kprof.hardware.default', 'kprof.pytest_plugin', 'kprof.version']"
    )


@pytest.mark.parametrize("metric", [name.partition("_")[2] for name in Budget.__struct_fields__])
def test_every_metric_is_a_limit(metric, monkeypatch):
    """Most of everything, fewest wavefronts; the decorator takes the same names."""
    # This pytest need not have the plug-in, and is strict about markers.
    monkeypatch.setattr(pytest.mark, "_config", None)
    kind = "min" if metric == "waves_per_simd" else "max"
    assert getattr(budget_of({metric: 3}), f"{kind}_{metric}") == 3
    mark = kprof.budget(**{metric: 0}).mark
    assert (mark.name, mark.kwargs) == ("kprof_budget", {metric: 0})


@pytest.mark.parametrize(
    "limits", [{"vgprs": 1}, {"vgpr_spills": "0"}, {"vgpr_spills": True}, {"max_sgpr": 1}, {"sgpr": float("nan")}]
)
def test_other_limits_are_refused(limits):
    """A name that is no metric, or no number."""
    with pytest.raises(KprofError):
        budget_of(limits)
