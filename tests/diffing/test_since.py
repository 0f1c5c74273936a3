"""``kprof diff --since``: what changed in a work tree since a revision of git."""

import json
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

import kprof as kprof_

KERNELS = """
import triton
import triton.language as tl

SCALE: tl.constexpr = 2

@triton.jit
def scale_kernel(x, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    tl.store(x + i, i * SCALE)

@triton.jit
def fill_kernel(x, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    tl.store(x + i, i)
"""
LAUNCH = """
import json
from pkg.kernels import fill_kernel, scale_kernel

def scale(x):
    scale_kernel[(1,)](x, BLOCK=json.load(open("configs/gfx942-SCALE-A8.json"))["BLOCK"])

def fill(x):
    fill_kernel[(1,)](x, BLOCK=64)
"""
TEST = """
from pkg.launch import fill, scale

def test_scale():
    scale(1)

class TestFill:
    def test_fill(self):
        fill(1)
"""
COPY = """
import triton
import triton.language as tl
from kprof.kernel_spec import Kernel, Launch, Tensor

@triton.jit
def copy_kernel(x, y, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y + i, tl.load(x + i))

def launch(shape, config):
    x = Tensor("fp16", (shape["N"],))
    return Launch({"x": x, "y": x, "BLOCK": config["BLOCK"]}, (shape["N"] // config["BLOCK"],))

KERNEL = Kernel(
    name="copy", entry=copy_kernel, summary="", launch=launch, shapes={"one": {"N": 4096}}, config={"BLOCK": 1024},
)
"""


def git(folder: Path, *words: str) -> None:
    """Run git without any configuration of the user."""
    who = ("-c", "user.name=A", "-c", "user.email=a@b", "-c", "commit.gpgsign=false")
    subprocess.run(["git", *who, *words], cwd=folder, check=True, capture_output=True)


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A repository with one commit, and the current folder."""
    root = tmp_path / "repository"
    files = {
        "pkg/__init__.py": "",
        "pkg/kernels.py": KERNELS,
        "pkg/launch.py": LAUNCH,
        "pkg/configs/gfx942-SCALE-A8.json": '{"BLOCK": 64}',
        "tests/test_launch.py": TEST,
    }
    for path, text in files.items():
        place = root / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text)
    git(tmp_path, "init", "-q", str(root))
    git(root, "add", "-A")
    git(root, "commit", "-q", "-m", "one")
    monkeypatch.chdir(root)
    return root


@pytest.fixture
def edit(repository: Path) -> Callable[[str, str, str], None]:
    """Replace a text in a file."""

    def replace(path: str, old: str, new: str) -> None:
        place = repository / path
        assert old in place.read_text()
        place.write_text(place.read_text().replace(old, new))

    return replace


def statuses(*targets: str, since: str = "HEAD") -> dict[str, str]:
    """The kernels' statuses by name."""
    found = kprof_.diff(targets=list(targets), since=since).document.since
    return {each.name: each.status for each in found.kernels}


def test_nothing_changed(kprof, repository: Path) -> None:
    ran = kprof("diff", "--since", "HEAD")
    assert ran.code == 0
    assert ran.out.strip().splitlines()[-1] == "ok: 2 of 2 kernels unchanged since HEAD, bit for bit"
    assert kprof("diff", "--since", "HEAD", "--list-tests").out == ""


def test_comments_and_docstrings_change_no_code(edit) -> None:
    edit("pkg/kernels.py", "    i = tl", '    """Says what."""\n    # how\n    i = tl')
    assert set(statuses().values()) == {"unchanged"}


def test_a_constant_changes_the_kernel_that_uses_it_and_its_tests(kprof, edit) -> None:
    edit("pkg/kernels.py", "= 2", "= 3")
    ran = kprof("diff", "--since", "HEAD")
    assert ran.code == 2
    assert "     1 cannot tell: the source changed" in "\n".join(ran.out.splitlines()[:4])
    assert "differs: SCALE" in ran.out
    assert "launched by pkg/launch.py::scale" in ran.out
    assert statuses() == {"scale_kernel": "source", "fill_kernel": "unchanged"}
    listed = kprof("diff", "--since", "HEAD", "--list-tests")
    assert (listed.code, listed.out) == (0, "tests/test_launch.py::test_scale\n")


def test_another_launch_leaves_the_code_of_equal_arguments(edit) -> None:
    edit("pkg/launch.py", "BLOCK=64", "BLOCK=128")
    assert statuses() == {"scale_kernel": "unchanged", "fill_kernel": "launch"}
    assert kprof_.diff(since="HEAD").tests == ["tests/test_launch.py::TestFill"]


def test_a_data_file_belongs_to_the_launch_that_has_its_name(edit) -> None:
    edit("pkg/configs/gfx942-SCALE-A8.json", "64", "128")
    assert statuses() == {"scale_kernel": "launch", "fill_kernel": "unchanged"}


def test_a_data_file_of_which_no_launch_has_the_name_is_reported(kprof, repository: Path) -> None:
    (repository / "pkg" / "unknown.json").write_text("{}")
    ran = kprof("diff", "--since", "HEAD", "--list-tests")
    assert ran.code == 2
    assert "pkg/unknown.json" in ran.err
    assert "cannot tell: it is not known which kernels read pkg/unknown.json" in kprof("diff", "--since", "HEAD").out


def test_a_moved_kernel_is_unchanged(repository: Path) -> None:
    (repository / "pkg" / "kernels.py").rename(repository / "pkg" / "others.py")
    (repository / "pkg" / "kernels.py").write_text("from pkg.others import fill_kernel, scale_kernel\n")
    assert statuses() == {"scale_kernel": "unchanged", "fill_kernel": "unchanged"}


def test_new_and_gone_kernels(edit) -> None:
    edit("pkg/kernels.py", "def fill_kernel(x,", "def store_kernel(x, y,")
    edit("pkg/launch.py", "fill_kernel", "store_kernel")
    assert statuses() == {"scale_kernel": "unchanged", "store_kernel": "new", "fill_kernel": "gone"}


def test_a_file_that_is_no_python_is_never_unchanged(kprof, edit) -> None:
    edit("pkg/launch.py", "def scale(x):", "def scale(x:")
    ran = kprof("diff", "--since", "HEAD", "--list-tests")
    assert ran.code == 2
    assert "pkg/launch.py" in ran.err


def test_only_named_targets_are_compared(edit) -> None:
    edit("pkg/kernels.py", "= 2", "= 3")
    assert statuses("pkg/kernels.py::fill_kernel") == {"fill_kernel": "unchanged"}
    assert len(statuses("pkg")) == 2
    assert statuses("tests") == {}


def test_the_document_and_a_comment(kprof, edit, tmp_path: Path) -> None:
    edit("pkg/kernels.py", "= 2", "= 3")
    kprof("diff", "--since", "HEAD", "--json", tmp_path / "d.json", "--markdown", tmp_path / "d.md")
    since = json.loads((tmp_path / "d.json").read_text())["since"]
    assert since["counts"] == {"source": 1, "unchanged": 1}
    assert since["tests"] == ["tests/test_launch.py::test_scale"]
    assert "source changed" in (tmp_path / "d.md").read_text()


def test_tests_are_named_from_the_current_folder(repository: Path, edit, monkeypatch: pytest.MonkeyPatch) -> None:
    edit("pkg/kernels.py", "= 2", "= 3")
    monkeypatch.chdir(repository / "tests")
    assert kprof_.diff(since="HEAD").tests == ["test_launch.py::test_scale"]


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("--since", "nowhere"), "there is no revision 'nowhere'"),
        (("--since", "--upload-pack=x"), "there is no revision"),
        (("--since", "HEAD", "missing.py"), "no such file or directory"),
        (("--since", "HEAD", "/"), "compares Python files and folders of the work tree"),
        (("--since", "HEAD", "--triton", "3.6.0,3.9.0"), "--since compares the work tree"),
        (("--list-tests",), "--list-tests can only be used with --since"),
    ],
)
def test_what_cannot_be_compared(kprof, repository: Path, words: tuple[str, ...], says: str) -> None:
    ran = kprof("diff", *words)
    assert ran.code == 2
    assert says in ran.err


def test_outside_of_a_work_tree(kprof, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path.parent))
    assert kprof("diff", "--since", "HEAD").code == 2


def test_the_work_tree_and_its_hooks_are_left_alone(repository: Path, edit) -> None:
    hook = repository / ".git" / "hooks" / "post-checkout"
    hook.write_text("#!/bin/sh\ntouch ran\n")
    hook.chmod(0o755)
    edit("pkg/kernels.py", "= 2", "= 3")
    before = {path: path.stat().st_mtime_ns for path in repository.rglob("*") if ".git" not in path.parts}
    statuses()
    assert {path: path.stat().st_mtime_ns for path in repository.rglob("*") if ".git" not in path.parts} == before
    assert not (repository / ".git" / "worktrees").exists()


@pytest.mark.triton
class TestCompiled:
    """Files that say how their kernels are launched."""

    @pytest.fixture
    def file(self, repository: Path) -> str:
        """A file with a ``KERNEL``, committed."""
        (repository / "copy_it.py").write_text(COPY)
        git(repository, "add", "-A")
        git(repository, "commit", "-q", "-m", "two")
        return "copy_it.py"

    def test_the_same_code_is_unchanged(self, file: str, edit) -> None:
        edit(file, "tl.load(x + i)", "tl.load(x + i + 0)")
        (found,) = kprof_.diff(targets=[file], since="HEAD", arch=["gfx942"]).document.since.kernels
        assert (found.status, found.by, found.compiled) == ("unchanged", "code", 1)

    def test_other_names_of_arguments_are_the_same_code(self, file: str, edit) -> None:
        edit(file, "def copy_kernel(x, y,", "def copy_kernel(x, out,")
        edit(file, "tl.store(y +", "tl.store(out +")
        edit(file, '"y": x', '"out": x')
        assert statuses(file) == {"copy_kernel": "unchanged"}

    def test_other_code_is_compared_as_two_compiles_are(self, kprof, file: str, edit) -> None:
        edit(file, "tl.load(x + i)", "tl.load(x + i) * 3")
        ran = kprof("diff", file, "--since", "HEAD", "--arch", "gfx942")
        assert "1 changed: compiled on both sides" in ran.out
        assert ran.code == 0
        found = kprof_.diff(targets=[file], since="HEAD", arch=["gfx942"])
        assert [kernel.name for kernel in found.kernels] == ["copy"]

    def test_another_grid_is_named_though_the_code_is_the_same(self, file: str, edit) -> None:
        edit(file, '"N": 4096', '"N": 8192')
        (found,) = kprof_.diff(targets=[file], since="HEAD").document.since.kernels
        assert found.status == "changed"
        assert "the machine code is the same, bit for bit, but the grids differ" in found.reasons

    def test_what_does_not_compile_any_more_is_a_regression(self, kprof, file: str, edit) -> None:
        edit(file, "tl.load(x + i)", "tl.no_such(x + i)")
        ran = kprof("diff", file, "--since", "HEAD")
        assert ran.code in {1, 2}
        assert "unchanged" not in ran.out.splitlines()[1]

    def test_nothing_is_imported_where_that_is_forbidden(
        self, kprof, file: str, edit, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        edit(file, "tl.load(x + i)", "tl.load(x + i + 0)")
        monkeypatch.setenv("KPROF_ALLOW_RUN", "0")
        ran = kprof("diff", file, "--since", "HEAD")
        assert ran.code == 2
        assert "would be imported as Python, but this kprof may not run user code" in ran.out

    def test_the_targets_of_check_are_compiled(self, repository: Path, edit) -> None:
        entry = '[[kernel]]\ntarget = "pkg/kernels.py::fill_kernel"\nsignature = "*fp16,64"\ngrid = [1]\n'
        (repository / "kprof.toml").write_text(f'arch = ["gfx942"]\n{entry}')
        edit("pkg/kernels.py", "tl.store(x + i, i)", "tl.store(x + i, i + 0)")
        assert statuses() == {"scale_kernel": "unchanged", "fill_kernel": "unchanged"}
