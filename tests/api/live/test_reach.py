"""What an agent may name, on paths that try to get out."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kprof.api.live.reach import Reach, folders
from kprof.errors import TargetError


@pytest.mark.parametrize("path", ["/etc/passwd", "../x.s", "a/../../x.s", "~/x.s", "link/x.s", "/etc/x.amdgcn::k"])
def test_outside_is_refused(tmp_path, path):
    """Absolute, relative, through the home or a symbolic link."""
    root = tmp_path / "root"
    root.mkdir()
    (root / "link").symlink_to("/etc")
    with pytest.raises(TargetError, match="lies outside what this server reads"):
        Reach((root.resolve(),)).target(path)


@given(st.text(st.sampled_from("./~ax\0"), max_size=12))
def test_what_is_let_through_is_inside(text):
    """Whatever is written: a path inside, or a name without any path in it."""
    root = Path(__file__).resolve().parent
    try:
        found = Reach((root,)).target(text)
    except TargetError:
        return
    assert "/" not in found or Path(found.partition("::")[0]).resolve().is_relative_to(root)


@pytest.mark.parametrize("name", ["k.py", "k.py::f", "k.PY", "k.hip"])
def test_code_runs_only_where_allowed(tmp_path, name):
    """Python files and HIP sources are code; assembly is not."""
    root = tmp_path.resolve()
    with pytest.raises(TargetError, match="code of its own") as refused:
        Reach((root,)).target(name)
    assert "--allow-run" in str(refused.value)
    assert Reach((root,), run=True).target(name) == f"{root}/{name}"
    assert Reach((root,)).target("k.amdgcn") == f"{root}/k.amdgcn"
    assert Reach((root,)).target("gemm_splitk::reduce") == "gemm_splitk::reduce"


def test_roots_have_to_be_there(tmp_path):
    """A mistyped folder is an error, not an empty reach."""
    assert folders([str(tmp_path)]) == (tmp_path.resolve(),)
    with pytest.raises(TargetError, match="is no folder"):
        folders([str(tmp_path / "nowhere")])
