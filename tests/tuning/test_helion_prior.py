"""The prior for Helion, with stand-ins for its kernels, and with Helion itself where it is installed."""

import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

from kprof.errors import KprofError
from kprof.tuning.helion_prior import HelionPrior, _launch, helion_prior
from kprof.tuning.ranking import CandidateLaunch, CandidateRanking
from tests.recording.conftest import kprof_environment


class Config(SimpleNamespace):
    """A stand-in for a configuration of Helion."""


class Bound:
    """A kernel of Helion's, bound to its arguments."""

    kernel = SimpleNamespace(name="row_sum")
    config_spec = SimpleNamespace(
        create_config_generation=lambda **_: SimpleNamespace(
            random_population=lambda count, **_: [Config(config={"block_sizes": [2**n]}) for n in range(count)]
        )
    )

    def __init__(self, launches: int = 1) -> None:
        self.settings = SimpleNamespace(
            autotune_config_overrides={},
            autotune_config_filter=lambda config: None if config.config["block_sizes"] == [2] else config,
        )
        self.launches = launches

    def compile_config(self, config: Config, *, allow_print: bool) -> Any:
        """Return the function around the generated kernel."""
        assert not allow_print
        kernel = SimpleNamespace(params=[SimpleNamespace(name="x"), SimpleNamespace(name="BLOCK")])

        def run(x: Any, *, _launcher: Any) -> None:
            for _ in range(self.launches):
                _launcher(kernel, (64,), x, config.config["block_sizes"][0], num_warps=4, _spare=1)

        return run


class Ranks:
    """Stands for the engine: the larger a block, the faster; the smallest one cannot be launched."""

    target = "gfx950"

    def rank(self, candidates: list[Any]) -> CandidateRanking:
        """Return the order by the blocks of the launches."""
        known = [i for i, one in enumerate(candidates) if isinstance(one, CandidateLaunch) and one.args["BLOCK"] > 1]
        order = sorted(known, key=lambda i: -candidates[i].args["BLOCK"])
        hopeless = {i: "too much LDS" for i in range(len(candidates)) if i not in known}
        return CandidateRanking(tuple(order), dict.fromkeys(order, 1.0), hopeless, {}, enough=len(order))


@pytest.fixture(autouse=True)
def helion(monkeypatch: pytest.MonkeyPatch) -> None:
    """As much of Helion as the prior imports."""
    if find_spec("helion") is not None:
        return
    search = ModuleType("helion.autotuner.base_search")
    search.normalize_autotune_seed_configs = lambda _settings: ()  # type: ignore[attr-defined]
    settings = ModuleType("helion.runtime.settings")
    settings.default_autotuner_fn = lambda *_args, **_options: "Helion's own search"  # type: ignore[attr-defined]
    for name in ("helion", "helion.autotuner", "helion.runtime"):
        monkeypatch.setitem(sys.modules, name, ModuleType(name))
    monkeypatch.setitem(sys.modules, search.__name__, search)
    monkeypatch.setitem(sys.modules, settings.__name__, settings)


def test_a_launch_is_read_off_the_generated_code() -> None:
    """Arguments have the kernel's names, and Helion's own options are no compile options."""
    found = _launch(Bound(), Config(config={"block_sizes": [8]}), ("tensor",))

    assert isinstance(found, CandidateLaunch)
    assert found.args == {"x": "tensor", "BLOCK": 8}
    assert found.knobs == {"num_warps": 4}
    assert found.grid == (64,)
    assert isinstance(_launch(Bound(launches=2), Config(config={"block_sizes": [8]}), ("tensor",)), KprofError)
    assert isinstance(_launch(Bound(), Config(config={}), ("tensor",)), KprofError)


@pytest.mark.skipif(find_spec("helion") is not None, reason="stands for Helion")
def test_the_fastest_are_left_to_time() -> None:
    """The order contains no candidate that the program filters or that cannot be launched."""
    configs = HelionPrior(2, 5, Ranks()).configs(Bound(), ("tensor",))  # type: ignore[arg-type]

    assert [config.config["block_sizes"] for config in configs] == [[16], [8]]


@pytest.mark.skipif(find_spec("helion") is not None, reason="stands for Helion")
def test_where_nothing_can_be_ranked_helions_search_runs() -> None:
    """With one warning."""
    prior = HelionPrior(2, 5, Ranks())  # type: ignore[arg-type]

    with pytest.warns(
        RuntimeWarning, match="no configuration has a prediction: too much LDS; Helion's own search runs"
    ):
        assert prior(Bound(launches=0), ("tensor",)) == "Helion's own search"


def test_wrong_numbers_are_refused() -> None:
    """A number below 1 is an error when the prior is made, not later in the search."""
    with pytest.raises(KprofError, match="at least 1"):
        helion_prior(top_k=0)


PROGRAM = """
import helion
import helion.language as hl
import torch
import kprof


@helion.kernel(autotuner_fn=kprof.helion_prior(top_k=2, candidates=6, budget=100, jobs=2))
def add(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    out = torch.empty_like(x)
    for tile in hl.tile(out.size()):
        out[tile] = x[tile] + y[tile]
    return out


@helion.kernel()
def double(x: torch.Tensor) -> torch.Tensor:
    out = torch.empty_like(x)
    for tile in hl.tile(out.size()):
        out[tile] = x[tile] + x[tile]
    return out


x = torch.zeros(1024, 1024, device="cuda")
add(x, x)
double(x)
"""


@pytest.mark.triton
@pytest.mark.slow
@pytest.mark.skipif(find_spec("helion") is None, reason="helion is not installed")
def test_helion_itself_on_the_simulated_gpu(tmp_path: Path) -> None:
    """A recorded program: no trial is a launch, the order is in the capture, and nothing is left for the next one."""
    from kprof.captures.reader import read

    program = tmp_path / "program.py"
    program.write_text(PROGRAM)
    command = [sys.executable, "-m", "kprof", "capture", "--arch", "gfx950", "-o", str(tmp_path / "capture"), "--"]
    environment = {**kprof_environment(), "HELION_CACHE_DIR": str(tmp_path / "cache")}
    ran = subprocess.run(
        [*command, sys.executable, str(program)], capture_output=True, text=True, env=environment, check=False
    )

    assert ran.returncode == 0, ran.stderr
    capture = read(tmp_path / "capture")
    launches = {kernel.name: kernel.launches for kernel in capture.kernels if kernel.launches}
    assert launches == {"_helion_add": 1, "_helion_double": 1}
    assert any("prior for add (gfx950): 6 candidates; to time, in this order: block_sizes=" in n for n in capture.notes)
    assert any("the default configuration of double is recorded" in note for note in capture.notes)
    assert not list(tmp_path.rglob("*.best_config"))
