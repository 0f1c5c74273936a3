"""Nothing that is kept survives a change of any of kprof's files."""

import json
import os
import runpy
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import grimp
import pytest

from kprof.compiler.compiled_cache import MAKERS

ROOT = Path(__file__).resolve().parents[2]
ARTIFACTS = ROOT / "tests" / "artifacts" / "gfx942"

# Changes each file in turn. Prints those after which a key had been seen before, and those that count for compiles.
# Hashes of the other files stay in memory and the folders are listed once: neither changes in a thousand steps.
EVERY_FILE = """
import json, os, sys
from pathlib import Path
from kprof.cache import content, own
from kprof.compiler.compiled_cache import MAKERS

class Remembered(dict):
    read_json, write_json = dict.get, dict.__setitem__

content._SECTION = Remembered()
find, listed, changing = content._files, {}, None

def files(place, seen):
    if place not in listed:
        listed[place] = list(find(place, seen))
    return [(path, os.stat(path) if path == changing else status) for path, status in listed[place]]

content._files = files

def keys():
    own.of_kprof.cache_clear()
    own.of_package.cache_clear()
    return own.derived_key("a question"), own.of_package(*MAKERS)

first, compiles = keys()
seen, known, counted = {first}, [], []
for name in json.loads(sys.stdin.read()):
    path, changing = Path(name), name
    before = path.read_bytes()
    path.write_bytes(before + b"\\nCHANGED = 1\\n")
    derived, compiled = keys()
    path.write_bytes(before)
    if derived in seen:
        known.append(name)
    if compiled != compiles:
        counted.append(name)
    seen.add(derived)
content._files = find
assert keys() == (first, compiles)
print(json.dumps([known, counted]))
"""

ANOTHER_TIME = """

_before_the_change = predict


def predict(*given, **named):
    import msgspec

    return msgspec.structs.replace(_before_the_change(*given, **named), time_us=777.0)
"""
ANOTHER_NOTE = """

_before_the_change = analyze


def analyze(*given, **named):
    import msgspec

    report = _before_the_change(*given, **named)
    return msgspec.structs.replace(report, notes=[*report.notes, "CHANGED"])
"""
ANOTHER_NAME = ANOTHER_NOTE.replace('notes=[*report.notes, "CHANGED"]', 'name=f"{report.name}CHANGED"')
ANOTHER_KERNEL = """

_before_the_change = top_kernels


def top_kernels(*given, **named):
    return [msgspec.structs.replace(k, name=f"{k.name}CHANGED") for k in _before_the_change(*given, **named)]
"""
SCALE = """import triton
import triton.language as tl


@triton.jit
def scale(out_ptr, x_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out_ptr + offsets, tl.load(x_ptr + offsets) * 2.0)
"""
CONFIG = """[tool.kprof]
arch = ["gfx942"]
baseline = "baseline.json"

[[tool.kprof.kernel]]
target = "scale.py::scale"
signature = "*fp32:16,*fp32:16,i32:16"
constexpr = {BLOCK = 1024}
"""


class Copy:
    """A kprof of its own, with a cache that outlives its changes."""

    def __init__(self, root: Path) -> None:
        self.root = root
        # With the byte code, which is of the files that are copied, their times included.
        for name in ("kprof", "analyzers", "servers", "kernels"):
            shutil.copytree(ROOT / name, root / name)

    def files(self) -> list[Path]:
        """Code and data of the packages."""
        places = (self.root / name for name in ("kprof", "analyzers/kprof_analyzers", "servers/kprof_servers"))
        return sorted(p for place in places for p in place.rglob("*") if p.is_file() and p.suffix != ".pyc")

    def python(self, *arguments: str, text: str = "", cwd: Path | None = None) -> "subprocess.CompletedProcess[str]":
        paths = [
            str(self.root),
            str(self.root / "analyzers"),
            str(self.root / "servers"),
            *(p for p in sys.path if p and p != str(ROOT)),
        ]
        environment = {
            **os.environ,
            "PYTHONPATH": os.pathsep.join(p for p in paths if p != str(ROOT / "analyzers")),
            "KPROF_CACHE_DIR": str(self.root / "cache"),
        }
        return subprocess.run(
            [sys.executable, *arguments],
            input=text,
            capture_output=True,
            text=True,
            check=False,
            env=environment,
            cwd=cwd or self.root,
        )

    def json(self, *arguments: str, cwd: Path | None = None) -> Any:
        """What a command writes as JSON."""
        ran = self.python("-m", "kprof", *arguments, "--json", "-", cwd=cwd)
        assert ran.returncode in {0, 1}, ran.stderr
        return json.loads(ran.stdout)

    def edit(self, name: str, old: str, new: str) -> None:
        """Replace a text, or append where it is empty. Stale byte code is known by the size, so that has to change."""
        path = self.root / name
        text = path.read_text()
        assert old in text
        changed = text.replace(old, new) if old else text + new
        assert len(changed) != len(text)
        path.write_text(changed)


@pytest.fixture
def copy(tmp_path: Path) -> Copy:
    return Copy(tmp_path)


@pytest.mark.slow
def test_every_file_counts(copy: Copy) -> None:
    """A value more in any module or data file: another key for what kprof says. For compiles, in one that compiles."""
    files = copy.files()
    assert len(files) > 500
    ran = copy.python("-c", EVERY_FILE, text=json.dumps([str(path) for path in files]))
    assert ran.returncode == 0, ran.stderr
    known, counted = json.loads(ran.stdout)
    assert known == []
    package = copy.root / "kprof"
    makers = [package / name for name in MAKERS]
    assert counted == [str(path) for path in files if any(path.is_relative_to(maker) for maker in makers)]


def test_what_a_worker_imports_counts_for_compiles() -> None:
    """Whatever module has a share in a compile is one of those that its key depends on."""
    graph = grimp.build_graph("kprof", exclude_type_checking_imports=True, cache_dir=None)
    # They name the plug-ins; none of these compiles.
    graph.remove_module("kprof.analysis")
    graph.remove_module("kprof.plug_ins")
    parts = {name.split(".")[1] for name in graph.find_upstream_modules("kprof.compiler.cached_compile")}
    # What says what the hardware allows, or reads what was compiled, has no share in what is kept of it.
    assert parts <= {maker.removesuffix(".py") for maker in MAKERS} | {"hardware", "inputs"}


@pytest.mark.triton
def test_the_grid_that_another_kprof_derives(copy: Copy) -> None:
    """A launch is not taken from what was kept when the code that derives it has changed."""

    def grid() -> Any:
        return copy.json("analyze", "kernel", "softmax", "--arch", "gfx942")["kernels"][0]["launch"]["grid"]

    first = grid()
    assert grid() == first
    copy.edit("kprof/targets/jobs.py", "tuple(launch.grid)", "tuple(2 * n for n in launch.grid)")
    assert grid() == [2 * n for n in first]


@pytest.mark.triton
@pytest.mark.parametrize("file", ["kprof/version.py", "analyzers/kprof_analyzers/suppressions.py"])
def test_another_value_anywhere_asks_the_kernel_s_file_again(copy: Copy, file: str) -> None:
    """The version among them. The kernel's file cannot be imported meanwhile: what is kept would be served."""
    path = copy.root / "scale.py"
    path.write_text(SCALE)
    question = ("-m", "kprof", "analyze", "kernel", f"{path}::scale", "--arch", "gfx942", "--constexpr", "BLOCK=1024")
    question += ("--signature", "*fp32:16,*fp32:16,i32:16")
    trace = ("-X", "importtime")
    assert "_kprof_user_" not in copy.python(*question).stderr
    served = copy.python(*trace, *question)
    assert served.returncode == 0
    assert "triton.language" not in served.stderr
    copy.edit(file, "", "\nCHANGED = 1\n")
    asked = copy.python(*trace, *question)
    assert asked.returncode == 0
    assert "triton.language" in asked.stderr


def test_a_directory_is_judged_again(copy: Copy) -> None:
    """By a changed analyzer, for kprof diff."""
    for name in ("old", "new"):
        (copy.root / name).mkdir()
        shutil.copy(min(ARTIFACTS.glob("*.amdgcn")), copy.root / name / "kernel.amdgcn")

    def name() -> str:
        return copy.json("diff", str(copy.root / "old"), str(copy.root / "new"))["kernels"][0]["name"]

    assert not name().endswith("CHANGED")
    copy.edit("analyzers/kprof_analyzers/pipeline.py", "", ANOTHER_NAME)
    assert name().endswith("CHANGED")


@pytest.mark.triton
def test_a_check_judges_again(copy: Copy) -> None:
    """By a changed analyzer."""
    (copy.root / "work").mkdir()
    (copy.root / "work" / "scale.py").write_text(SCALE)
    (copy.root / "work" / "pyproject.toml").write_text(CONFIG)

    def check() -> str:
        ran = copy.python("-m", "kprof", "check", "--json", "-", cwd=copy.root / "work")
        assert ran.stdout, ran.stderr
        return ran.stdout

    assert "CHANGED" not in check()
    assert "CHANGED" not in check()
    copy.edit("analyzers/kprof_analyzers/pipeline.py", "", ANOTHER_NOTE)
    assert "CHANGED" in check()


@pytest.mark.triton
@pytest.mark.parametrize("command", ["tune", "advise"])
def test_times_are_predicted_again(copy: Copy, command: str) -> None:
    """By a changed model: neither the judgement of the same code nor the search's journal is taken."""
    words = [command, "memory_copy", "--arch", "MI300X", "--budget", "3"]

    def text() -> str:
        return json.dumps(copy.json(*words))

    assert "777.0" not in text()
    copy.edit("analyzers/kprof_analyzers/model/kernel.py", "", ANOTHER_TIME)
    assert "777.0" in text()


@pytest.mark.parametrize("question", ["report", "analyze"])
def test_a_session_is_not_told_what_another_kprof_said(copy: Copy, question: str) -> None:
    """Nor by what it remembers nor by what is kept on the disk; one that runs meanwhile is of one kprof."""
    shutil.copy(min(ARTIFACTS.glob("*.amdgcn")), copy.root / "kernel.amdgcn")
    asks = (
        "import json; from kprof.api.live.session import Session\n"
        f"with Session(jobs=1) as session: print(json.dumps(session.ask({question!r}, target='kernel.amdgcn')))"
    )

    def name() -> str:
        ran = copy.python("-c", asks)
        assert ran.returncode == 0, ran.stderr
        return str(json.loads(ran.stdout)["kernels"][0]["name"])

    first = name()
    assert name() == first
    copy.edit("analyzers/kprof_analyzers/pipeline.py", "", ANOTHER_NAME)
    assert name() == f"{first}CHANGED"


@pytest.mark.triton
def test_a_selection_is_made_again(copy: Copy) -> None:
    """By a changed model: the time of no candidate is an old one."""
    words = ["select", "memory_copy", "--arch", "MI300X"]

    def text() -> str:
        return json.dumps(copy.json(*words))

    first = text()
    assert '"ms": 0.777,' not in first
    assert text() == first
    copy.edit("analyzers/kprof_analyzers/model/kernel.py", "", ANOTHER_TIME)
    assert '"ms": 0.777,' in text()


def test_a_trace_is_summed_up_again(copy: Copy) -> None:
    """By changed sums; the file is the same."""
    builder = runpy.run_path(str(ROOT / "tests/artifacts/kineto/builder.py"))
    builder["small_model"](builder["Builder"]()).write(copy.root / "trace.json")

    def name() -> str:
        return str(copy.json("trace", "top", "trace.json")["traces"][0]["kernels"][0]["name"])

    first = name()
    assert name() == first
    copy.edit("analyzers/kprof_analyzers/profiles/timeline/top.py", "", ANOTHER_KERNEL)
    assert name() == f"{first}CHANGED"
