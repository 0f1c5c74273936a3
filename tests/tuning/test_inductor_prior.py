"""The prior for Inductor, with stand-ins for its choices, and with Inductor itself where it is installed."""

import subprocess
import sys
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from kprof.errors import KprofError
from kprof.hardware.machine import load_gpu
from kprof.tuning import inductor_prior as module
from kprof.tuning.inductor_prior import InductorPrior
from kprof.tuning.ranking import CandidateRanking
from tests.recording.conftest import kprof_environment

SIZES = (4096, 4096, 4096)


class Ranks:
    """Stands for the engine: the larger a tile, the faster."""

    target = "gfx950"

    def __init__(self, fails: bool = False) -> None:
        self.gpu = load_gpu("gfx950")
        self.fails = fails
        self.asked: list[Any] = []

    def rank(self, candidates: list[Any]) -> CandidateRanking:
        """Return the order by the size that a candidate stands for."""
        if self.fails:
            raise KprofError("no compiler")
        self.asked = candidates
        order = sorted(range(len(candidates)), key=lambda i: -candidates[i])
        return CandidateRanking(tuple(order), dict.fromkeys(order, 1.0), {}, {}, enough=len(order))


class Params:
    """The parameters of a template."""

    def __init__(self, knobs: dict[str, Any]) -> None:
        self.knobs = knobs

    def to_kwargs(self) -> dict[str, Any]:
        """Return a copy, as Inductor does."""
        return dict(self.knobs)


class Choice:
    """A choice of a template; without ``params`` a library's."""

    def __init__(self, template: Any, params: Any, extra_kwargs: Any, layout: Any, inputs: Any) -> None:
        self.template, self.params, self.extra_kwargs, self.layout, self.inputs = (
            template, params, extra_kwargs, layout, inputs,
        )  # fmt: skip


class Inputs:
    """Operands of a product."""

    def mnk_hinted(self) -> tuple[int, int, int]:
        """M, N and K."""
        return SIZES

    def nodes(self) -> list[Any]:
        """Both operands."""
        return [SimpleNamespace(get_dtype=lambda: "torch.float16")] * 2

    def output_layout(self, *, flexible: bool) -> str:
        """The layout that Inductor fixes before it writes code."""
        return "flexible" if flexible else "fixed"


def tile(m: int, n: int, k: int, warps: int = 4) -> Choice:
    """A template's choice."""
    knobs = {"BLOCK_M": m, "BLOCK_N": n, "BLOCK_K": k, "num_warps": warps, "num_stages": 2, "EVEN_K": True}
    return Choice("mm", Params(knobs), {}, "flexible", Inputs())


@pytest.fixture
def prior(monkeypatch: pytest.MonkeyPatch) -> InductorPrior:
    """A prior whose launches are sizes of tiles."""

    def launch(choice: Any) -> int:
        knobs = choice.params.to_kwargs()
        assert choice.layout == "fixed"
        return int(knobs["BLOCK_M"] * knobs["BLOCK_N"])

    monkeypatch.setattr(module, "template_launch", launch)
    return InductorPrior(2, 0, Ranks())  # type: ignore[arg-type]


def test_products_are_ordered_and_cut_and_libraries_stay(prior: InductorPrior) -> None:
    """Choices before the templates, such as libraries, stay before them."""
    library, other = SimpleNamespace(name="hipblaslt"), SimpleNamespace(name="ck")
    small, large, middle = tile(16, 16, 32), tile(128, 128, 32), tile(64, 64, 32)

    assert prior.products([library, small, large, middle, other], "mm") == [library, large, middle, other]
    assert prior.products([library], "mm") == [library]


def test_tiles_that_the_list_lacks_are_added(prior: InductorPrior) -> None:
    """Added tiles are new, fit the problem, and say whether they divide K."""
    prior.add, prior.top_k = 3, 100
    known = tile(128, 128, 64, 8)

    found = prior.products([known], "mm")

    added = [one.params.to_kwargs() for one in found if one is not known]
    assert len(added) == 3
    assert all((one["BLOCK_M"], one["BLOCK_N"], one["BLOCK_K"], one["num_warps"]) != (128, 128, 64, 8) for one in added)
    assert all(one["EVEN_K"] == (SIZES[2] % one["BLOCK_K"] == 0) and one["num_stages"] == 2 for one in added)


def test_a_failure_keeps_every_choice(prior: InductorPrior) -> None:
    """A ranking that fails gives one warning, and Inductor continues as without kprof."""

    class Base:
        """Inductor's choices."""

        def _finalize_template_configs(self, choices: Any, *_args: Any, **_kwargs: Any) -> Any:
            return choices

    prior.ranker = Ranks(fails=True)  # type: ignore[assignment]
    choices = [tile(16, 16, 32), tile(32, 32, 32)]
    made = module._choices_class(prior, Base)()

    with pytest.warns(RuntimeWarning, match="inductor_prior: no compiler; every candidate is kept"):
        assert made._finalize_template_configs(choices, None, [], "mm") == choices
    assert made.uuid() == prior.uuid()


def test_launchers_of_a_reduction_are_cut_before_they_are_timed(
    prior: InductorPrior, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Inductor times what is left; the modules of the others are closed."""
    monkeypatch.setattr(module, "tuner_launch", lambda _tuner, config, _args: config.kwargs["XBLOCK"])
    closed: list[Any] = []

    class Tuner:
        """Inductor's autotuner."""

        fn = SimpleNamespace(__name__="triton_red")
        launchers = tuple(
            SimpleNamespace(config=SimpleNamespace(kwargs={"XBLOCK": x}, num_warps=4)) for x in (1, 64, 8, 2)
        )

        def _close_static_launcher(self, launcher: Any) -> None:
            closed.append(launcher.config.kwargs["XBLOCK"])

    timed = module._benchmark(prior, lambda self, *_args: [one.config.kwargs["XBLOCK"] for one in self.launchers])
    tuner = Tuner()

    assert timed(tuner, "x") == [64, 8]
    assert closed == [1, 2]
    prior.ranker = Ranks(fails=True)  # type: ignore[assignment]
    with pytest.warns(RuntimeWarning, match="every candidate is kept"):
        assert timed(tuner, "x") == [64, 8]


def test_wrong_numbers_are_refused() -> None:
    """Before torch is looked for."""
    with pytest.raises(KprofError, match="top_k of at least 1"):
        module.inductor_prior(top_k=0)


PROGRAM = """
import torch
import kprof

kprof.inductor_prior(top_k=3, add=2, budget=100, jobs=2)
a = torch.zeros(64, 64, device="cuda", dtype=torch.float16)
options = {"max_autotune": True, "max_autotune_gemm_backends": "TRITON"}
torch.compile(lambda x, y: x @ y, options=options)(a, a)
"""


def _torch() -> tuple[int, ...]:
    try:
        return tuple(int(part) for part in version("torch").split("+")[0].split(".")[:2])
    except PackageNotFoundError:
        return ()


@pytest.mark.triton
@pytest.mark.slow
@pytest.mark.skipif(_torch() < (2, 13), reason="needs torch 2.13")
def test_inductor_itself_on_the_simulated_gpu(tmp_path: Path) -> None:
    """A recorded program: the order and the additions are in the capture, and the fastest tile is launched."""
    from kprof.captures.reader import read

    program = tmp_path / "program.py"
    program.write_text(PROGRAM)
    command = [sys.executable, "-m", "kprof", "capture", "--arch", "gfx950", "-o", str(tmp_path / "capture"), "--"]
    ran = subprocess.run(
        [*command, sys.executable, str(program)], capture_output=True, text=True, env=kprof_environment(), check=False
    )

    assert ran.returncode == 0, ran.stderr
    capture = read(tmp_path / "capture")
    (note,) = [one for one in capture.notes if "prior for mm (gfx950)" in one]
    assert "2 of them added; to time, in this order: BLOCK_M=" in note
    assert [kernel.launches for kernel in capture.kernels if kernel.launches] == [1]
