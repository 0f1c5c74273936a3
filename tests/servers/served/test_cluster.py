"""Files for a server, ranked by the worker of a Dask cluster."""

import json
import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import kprof
from kprof.errors import KprofError
from kprof.tuning.executors import dask_cluster
from tests.servers.served.test_ranking import PUBLIC

pytest.importorskip("distributed", reason="Dask is not installed")
from tests.tuning.executors.test_dask_cluster import address_in, process


@pytest.fixture
def scheduler(tmp_path: Path) -> Iterator[str]:
    """The address of a scheduler with one worker, whose cache is its own."""
    place = tmp_path / "scheduler.json"
    paths = os.pathsep.join(path for path in sys.path if path)
    environment = {"PYTHONPATH": paths, "KPROF_CACHE_DIR": str(tmp_path / "worker")}
    common = ["--scheduler-file", str(place), "--no-dashboard"]
    options = ["--nthreads", "1", "--no-nanny", "--local-directory", str(tmp_path), "--memory-limit", "0"]
    running = [
        process("scheduler", "--host", "127.0.0.1", "--port", "0", *common, environment=environment),
        process("worker", *options, *common, environment=environment),
    ]
    yield address_in(place)
    for one in reversed(running):
        one.kill()
        one.wait()


@pytest.mark.triton
def test_a_cluster_writes_the_same_bytes(
    scheduler: str, checkout_with_kernel: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """All files, the runners-up and the pull request's text among them; nothing that this machine kept is used."""
    data = json.loads((PUBLIC / "qwen3-8b" / "config.json").read_text())
    (checkout_with_kernel / "config.json").write_text(json.dumps(data))
    written = {}
    for name, address in (("here", None), ("there", scheduler)):
        monkeypatch.setenv("KPROF_CACHE_DIR", str(tmp_path / f"cache-{name}"))
        found = kprof.server_configs(
            checkout_with_kernel, server="vllm", arch="MI300X", tp=8, quant="fp8-block", batches=[8],
            server_path=checkout_with_kernel, rank=True, scheduler=address,
        )  # fmt: skip
        assert {file.unranked for file in found.document.needed} == {""}
        output = tmp_path / name
        written[name] = {Path(path).name: Path(path).read_bytes() for path in found.write(output)}
    assert written["here"] == written["there"]
    assert len(written["here"]) > 2
    assert list((tmp_path / "worker").rglob("*")), "the worker compiled"


@pytest.mark.parametrize(
    ("address", "words"),
    [
        ("nowhere", "--scheduler takes an address such as tcp://host:8786, got 'nowhere'"),
        ("tcp://127.0.0.1:9", "no Dask scheduler answers at tcp://127.0.0.1:9"),
    ],
)
def test_no_cluster_is_an_error(
    checkout_with_kernel: Path, address: str, words: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Once, before anything is compiled, and not as the reason why each file has no proposal."""
    monkeypatch.setattr(dask_cluster, "CONNECT_SECONDS", 0.1)
    data = json.loads((PUBLIC / "qwen3-8b" / "config.json").read_text())
    (checkout_with_kernel / "config.json").write_text(json.dumps(data))
    with pytest.raises(KprofError, match=words):
        kprof.server_configs(
            checkout_with_kernel, server="vllm", arch="MI300X", quant="fp8-block", batches=[8],
            server_path=checkout_with_kernel, rank=True, scheduler=address,
        )  # fmt: skip
