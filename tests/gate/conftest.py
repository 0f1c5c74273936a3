"""A small repository with one kernel under the gate."""

import json
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from kprof.captures.model import Capture
from kprof.captures.reader import read
from tests.gate.accepted import Gate

KERNEL = '''"""A kernel to be watched."""

import triton
import triton.language as tl


@triton.jit
def scale(out_ptr, x_ptr, n, stride, BLOCK: tl.constexpr):
    offsets = tl.arange(0, BLOCK)
    total = tl.zeros([BLOCK], tl.float32)
    for start in range(0, n, BLOCK):
        total += tl.load(x_ptr + start + offsets)
    tl.store(out_ptr + tl.program_id(0) * BLOCK + offsets, total)
'''
CONFIG = """[tool.kprof]
arch = ["gfx942", "gfx950"]
baseline = "kprof-baseline.json"

[[tool.kprof.kernel]]
target = "kernels/scale.py::scale"
signature = "*fp32:16,*fp32:16,i32:16,i32:16"
constexpr = {BLOCK = 4096}
config = {num_warps = 4}
"""


@dataclass(frozen=True)
class Repository:
    """A git work tree with ``kernels/scale.py`` and ``pyproject.toml``."""

    root: Path

    @property
    def kernel(self) -> Path:
        return self.root / "kernels" / "scale.py"

    @property
    def config(self) -> Path:
        return self.root / "pyproject.toml"

    def edit(self, old: str, new: str, file: Path | None = None) -> None:
        """Replace a text that must be there."""
        path = file or self.kernel
        text = path.read_text()
        assert old in text
        path.write_text(text.replace(old, new))

    def commit(self, message: str) -> None:
        """Commit everything."""
        self.git("add", "-A")
        self.git("commit", "-q", "-m", message)

    def git(self, *arguments: str) -> None:
        identity = ("-c", "user.name=Someone", "-c", "user.email=someone@example.com", "-c", "commit.gpgsign=false")
        subprocess.run(["git", *identity, *arguments], cwd=self.root, check=True, capture_output=True)


@pytest.fixture(scope="session")
def one_place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder for the repositories of all tests: a kernel at the same path is compiled once."""
    return tmp_path_factory.mktemp("repository") / "demo"


@pytest.fixture
def repository(one_place, monkeypatch) -> Repository:
    """The repository with its first commit, newly made; the working directory of the test."""
    if shutil.which("git") is None:
        pytest.skip("git is not installed")
    if one_place.exists():
        shutil.rmtree(one_place)
    made = Repository(one_place)
    made.kernel.parent.mkdir(parents=True)
    made.kernel.write_text(KERNEL)
    made.config.write_text(CONFIG)
    made.git("init", "-q")
    made.commit("Add a kernel and its gate")
    monkeypatch.chdir(made.root)
    monkeypatch.delenv("GITHUB_STEP_SUMMARY", raising=False)
    return made


ARTIFACTS = Path(__file__).resolve().parents[1] / "artifacts"
# Both sides name one source file, as those of one compile do.
TTGIR = (ARTIFACTS / "mlir" / "matmul.gfx942.stages2.triton-3.9.ttgir").read_text()
TTGIR = TTGIR.replace("/home/user/sample_kernels.py", "/home/user/corpus/small.py")
REQUEST = {
    "path": "/nowhere/k.py",
    "function": "matmul",
    "arch": "gfx942",
    "signature": [["x", "*fp16"]],
    "constexprs": {},
    "attributes": {},
    "options": {"num_warps": 4},
    "environment": {},
}


@dataclass(frozen=True)
class Recording:
    """Makes recordings of one kernel, from what a compiler has written before."""

    root: Path
    listing: str = (ARTIFACTS / "gfx942" / "matmul.triton-3.9.0.amdgcn").read_text()
    identifier: str = "0" * 32

    def __call__(
        self, *, launched: bool = True, lines: Any = ({"t": "end"},), result: Any = None, text: str = "", **head: Any
    ) -> Capture:
        """One launch, ended as it should be, unless something else is said; ``head`` is the capture's of itself."""
        folder = self.root / "kernels" / self.identifier
        folder.mkdir(parents=True)
        (self.root / "journal").mkdir()
        (self.root / "capture.json").write_text(json.dumps({"schema": "kprof.capture/1", "arch": "gfx942", **head}))
        kernel = {"t": "kernel", "n": 0, "id": self.identifier, "name": "matmul", "triton": "3.9.0", "request": REQUEST}
        launch = [{"t": "launch", "kernel": 0, "seq": 0, "grid": [4, 1, 1]}] if launched else []
        journal = "".join(json.dumps(line) + "\n" for line in (kernel, *launch, *lines))
        (self.root / "journal" / "1-a.jsonl").write_text(journal)
        (folder / "result.json").write_text(json.dumps(result or {"status": "ok", "triton": "3.9.0"}))
        (folder / "kernel.amdgcn").write_text(text or self.listing)
        (folder / "kernel.ttgir").write_text(TTGIR)
        (folder / "kernel.json").write_text(json.dumps({"shared": 0, "num_warps": 4, "warp_size": 64}))
        return read(self.root)


@pytest.fixture
def recording(tmp_path) -> Recording:
    """A place for one recording."""
    return Recording(tmp_path / "captures" / "train")


@pytest.fixture
def gate(tmp_path, monkeypatch, kprof):
    """See :class:`Gate`."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("GITHUB_STEP_SUMMARY", raising=False)
    return Gate(tmp_path, kprof)
