"""Another Triton is a choice of the page where one is there, and compares like a configuration."""

import json
import shutil
import sys
from pathlib import Path

import pytest

from kprof.compiler import installations
from kprof.compiler.versions import installed

pytestmark = pytest.mark.triton
OTHER = "3.8.77"


@pytest.fixture
def other(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """An environment as ``kprof diff --triton`` makes them: the installed Triton under another version."""
    monkeypatch.setenv("KPROF_CACHE_DIR", str(tmp_path / "cache"))
    folder = tmp_path / "cache" / "triton-envs" / installations.name_of(OTHER)
    package = folder / "site" / "triton"
    package.mkdir(parents=True)
    for part in installed().root.iterdir():
        if part.name == "__init__.py":
            package.joinpath(part.name).write_text(part.read_text().replace(f"'{installed().version}'", f"'{OTHER}'"))
        elif part.name == "language":
            # It is compiled by the other one: some of the code must be its own.
            shutil.copytree(part, package / part.name)
        elif part.name != "__pycache__":
            package.joinpath(part.name).symlink_to(part)
    (tmp_path / "cache").chmod(0o700)
    (tmp_path / "cache" / "triton-envs").chmod(0o700)
    made = {"layout": 1, "triton": OTHER, "installer": "test", "python": sys.version.split()[0]}
    (folder / "complete.json").write_text(json.dumps(made))
    assert installations.known() == [OTHER]
    return OTHER


def test_another_triton(view, other, tmp_path):
    """It compiles; its answer is told with its version; both compare, and their stages differ in nothing."""
    server = view("softmax", folder=tmp_path)
    status, _, body = server.send("GET", "/api/session", headers={"X-Kprof-Token": server.token})
    assert (status, json.loads(body)["tritons"]) == (200, [other])
    status, document = server.ask("/api/report", target=0, triton=other)
    assert status == 200, document
    assert document["kernels"][0]["triton"] == other
    status, sheet = server.ask("/api/knobs", target=0, triton=other)
    assert (status, sheet["triton"]) == (200, other)
    mine = server.ask("/api/report", target=0)[1]["kernels"][0]
    assert mine["triton"] == installed().version
    # It is the same compiler.
    assert mine["resources"] == document["kernels"][0]["resources"]

    status, found = server.ask("/api/compare", old={"target": 0}, new={"target": 0, "triton": other})
    assert status == 200, found
    assert found["status"] == "ok"
    assert found["old_time"] == found["new_time"]
    asked = {"old": {"target": 0, "stage": "ttgir"}, "new": {"target": 0, "triton": other}}
    status, found = server.ask("/api/difference", **asked)
    assert (status, found["changed"]) == (200, 0)


def test_one_that_is_not_there_is_refused(view, other, tmp_path):
    """Nothing is got from the network because a page asks."""
    server = view("softmax", folder=tmp_path)
    status, refused = server.ask("/api/report", target=0, triton="3.5.0")
    assert status == 422
    assert refused["message"] == "Triton 3.5.0 is not installed"
    assert f"Available: {other}." in refused["hint"]
    assert server.ask("/api/report", target=0, triton="../3.5.0")[0] == 422
