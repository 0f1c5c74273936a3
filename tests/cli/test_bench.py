"""``kprof bench`` and ``kprof select`` on a machine without a GPU."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("triton", reason="kernels are loaded")
pytestmark = pytest.mark.triton

ROOT = Path(__file__).parents[2]


def kprof(*arguments: str) -> subprocess.CompletedProcess[str]:
    """Run the program."""
    return subprocess.run(
        [sys.executable, "-m", "kprof", *arguments], capture_output=True, text=True, cwd=ROOT, check=False, timeout=300
    )


def has_gpu() -> bool:
    """Whether the bench would really run."""
    try:
        import torch
    except ImportError:
        return False
    return bool(torch.cuda.is_available())


@pytest.mark.skipif(has_gpu(), reason="there is a GPU here")
def test_without_a_gpu_bench_says_so_and_offers_the_analysis() -> None:
    """Exit 2, one message, no traceback."""
    done = kprof("bench", "softmax")

    assert done.returncode == 2
    assert "GPU" in done.stderr
    assert "kprof analyze kernel softmax --arch gfx942" in done.stderr
    assert "Traceback" not in done.stderr + done.stdout


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["sofmax"], "did you mean 'softmax'"),
        (["softmax", "--case", "row_8k"], "rows_8k"),
        (["softmax", "--shape", "dtype=fp7"], "no element type 'fp7'"),
        (["softmax", "--shape", "Q=3"], "no shape parameter 'Q'"),
        (["softmax", "--provider", "tritn"], "no provider 'tritn'"),
        (["softmax", "--table", "absent.json"], "absent.json"),
        (["softmax", "--config", "BLOK=3"], "did you mean 'BLOCK'"),
    ],
)
def test_a_mistake_is_found_before_the_gpu_is_asked(arguments: list[str], words: str) -> None:
    """Exit 2 with what is wrong and what would be right."""
    done = kprof("bench", *arguments)

    assert done.returncode == 2
    assert words in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.triton("3.9.")
def test_select_prints_what_to_use(tmp_path: Path) -> None:
    """For a person with all that was considered, and as JSON."""
    done = kprof("select", "mlstm_chunkwise", "--shape", "S=4096,DQK=64,DV=64", "--arch", "MI300X")
    target = tmp_path / "choice.json"
    written = kprof("select", "mlstm_chunkwise", "--no-predict", "--shape", "DQK=64,DV=64", "--json", str(target), "-q")

    assert done.returncode == 0
    assert "implementation  mlstm_chunkwise\n" in done.stdout
    for known in ("predicted", "published", "no time"):
        assert f" {known} " in done.stdout.partition("considered")[2]
    assert done.stdout.splitlines()[-1] == (
        "use mlstm_chunkwise on MI300X: 26.8 µs predicted (likely 20.4 to 39.2 µs), most of it on the vector units; "
        "published as 1.08 times as fast as mlstm_chunkwise_d64; by the model 1.11 times as fast as "
        "mlstm_chunkwise_d64 (29.8 µs, 73 % sure); next: "
        "kprof bench mlstm_chunkwise --provider triton,alternatives "
        "--shape B=1,S=4096,H=8,DQK=64,DV=64,dtype=bf16,gates=usual (on an MI300X: it times both; gain not known)"
    )
    assert written.returncode == 0
    choice = json.loads(target.read_text())
    assert (choice["schema"], choice["implementation"]) == ("kprof.selection/1", "mlstm_chunkwise")
    assert {one["basis"] for one in choice["candidates"]} == {"published", "predicted", "unknown"}
    assert any("table shipped with kprof" in note for note in choice["notes"])


def test_select_on_an_architecture_that_cannot() -> None:
    """The reason, not a guess."""
    done = kprof("select", "swiglu_fp8", "--arch", "gfx1100")

    assert done.returncode == 2
    assert "gfx1100 has no 8-bit float instructions" in done.stderr
