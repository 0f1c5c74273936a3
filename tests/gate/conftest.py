"""A small repository with one kernel under the gate."""

import subprocess
from dataclasses import dataclass
from pathlib import Path

import pytest

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
constexprs = {BLOCK = 4096}
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


@pytest.fixture
def repository(tmp_path, monkeypatch) -> Repository:
    """The repository with its first commit; the working directory of the test."""
    made = Repository(tmp_path / "demo")
    made.kernel.parent.mkdir(parents=True)
    made.kernel.write_text(KERNEL)
    made.config.write_text(CONFIG)
    made.git("init", "-q")
    made.commit("Add a kernel and its gate")
    monkeypatch.chdir(made.root)
    monkeypatch.delenv("GITHUB_STEP_SUMMARY", raising=False)
    return made
