"""A copy of the project that a stranger adds something to."""

import json
import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
_COPIED = (
    "kprof",
    "analyzers",
    "servers",
    "kernels",
    "validation",
    "docs/rules",
    "docs/doctor.md",
    "tests/rules",
    "tests/hardware",
    "tests/artifacts",
    "tests/inputs/code_object",
    "tests/analyzers/occupancy",
    "tests/oracles.py",
    "tests/conftest.py",
    "pyproject.toml",
    "README.md",
)
_KERNEL = """\
\t.amdgcn_target "amdgcn-amd-amdhsa--{arch}"
\t.text
\t.globl\tk
\t.type\tk,@function
k:
\t.file\t1 "{folder}" "k.py"
\t.loc 1 3 0
\ts_sleep 1
\t.loc 1 4 0
\ts_sleep 2
\ts_endpgm
\t.section\t.rodata,"a",@progbits
\t.amdhsa_kernel k
\t\t.amdhsa_next_free_vgpr 32
\t\t.amdhsa_next_free_sgpr 16
\t.end_amdhsa_kernel
\t.text
.Lfunc_end0:
\t.size\tk, .Lfunc_end0-k
\t.amdgpu_metadata
---
amdhsa.kernels:
  - .name: k
    .symbol: k.kd
    .group_segment_fixed_size: 0
    .private_segment_fixed_size: 0
    .vgpr_count: 32
    .sgpr_count: 16
    .vgpr_spill_count: 0
    .sgpr_spill_count: 0
    .max_flat_workgroup_size: 256
    .wavefront_size: {lanes}
    .reqd_workgroup_size: [256, 1, 1]
amdhsa.target: amdgcn-amd-amdhsa--{arch}
amdhsa.version: [1, 2]
...
\t.end_amdgpu_metadata
"""


@dataclass(frozen=True)
class Copy:
    """A copy of the project, and a folder to work in."""

    root: Path
    folder: Path

    def python(self, *arguments: object, code: int | None = 0, cwd: Path | None = None) -> subprocess.CompletedProcess:
        """Run Python with the copy's packages."""
        paths = os.pathsep.join(
            map(str, (self.root, self.root / "analyzers", self.root / "servers", self.folder / "plugins"))
        )
        ran = subprocess.run(
            [sys.executable, *map(str, arguments)],
            cwd=cwd or self.folder,
            env={**os.environ, "PYTHONPATH": paths, "KPROF_CACHE_DIR": str(self.folder / "cache"), "COLUMNS": "160"},
            capture_output=True,
            text=True,
            check=False,
        )
        assert "Traceback" not in ran.stderr, ran.stderr
        assert code is None or ran.returncode == code, (ran.stdout, ran.stderr)
        return ran

    def kprof(self, *arguments: object, code: int | None = 0) -> str:
        """What a command prints, both streams."""
        ran = self.python("-m", "kprof", *arguments, code=code)
        return ran.stdout + ran.stderr

    def analysed(self, code: int = 0) -> dict:
        """The report of ``k.amdgcn`` as JSON."""
        self.kprof("analyze", "kernel", "k.amdgcn", "--json", "report.json", code=code)
        return json.loads((self.folder / "report.json").read_text())

    def write_kernel(self, arch: str = "gfx942", lanes: int = 64, comment: str = "") -> None:
        """``k.amdgcn`` and the source that it comes from."""
        text = _KERNEL.format(arch=arch, folder=self.folder, lanes=lanes)
        (self.folder / "k.amdgcn").write_text(text)
        (self.folder / "k.py").write_text(f"import x\n\nsleep(1){comment}\nsleep(2)\n")


@pytest.fixture(scope="session")
def project(tmp_path_factory) -> Path:
    """The copy, made once; each test cleans up what it adds."""
    root = tmp_path_factory.mktemp("project")
    for name in _COPIED:
        source, target = ROOT / name, root / name
        target.parent.mkdir(parents=True, exist_ok=True)
        if source.is_dir():
            shutil.copytree(source, target, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy(source, target)
    return root


@pytest.fixture
def copy(project, tmp_path) -> Copy:
    """A folder of its own for each test."""
    (tmp_path / "plugins").mkdir()
    return Copy(project, tmp_path)
