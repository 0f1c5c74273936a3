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
    with pytest.raises(TargetError, match="lies outside what this server reads") as refused:
        Reach((root.resolve(),)).target(path)
    assert refused.value.hint == f"It reads {root.resolve()}: --folder adds one."


@given(st.text(st.sampled_from("./~ax\0"), max_size=12))
def test_what_is_let_through_is_inside(text):
    """Whatever is written: a path inside, or a name without any path in it."""
    root = Path(__file__).resolve().parent
    try:
        found = Reach((root,)).target(text)
    except TargetError:
        return
    assert "/" not in found or Path(found.partition("::")[0]).resolve().is_relative_to(root)


@pytest.mark.parametrize("name", ["k.py", "k.py::f", "k.hip"])
def test_code_runs_only_where_allowed(tmp_path, name):
    """Python files and HIP sources are code; assembly is not."""
    root = tmp_path.resolve()
    for file in ("k.py", "k.hip", "k.amdgcn"):
        (root / file).touch()
    with pytest.raises(TargetError, match="this server runs no code of others") as refused:
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


def answer(reach, name):
    """What becomes of a name: the path, or the refusal's text."""
    try:
        return reach.target(name)
    except TargetError as error:
        return f"refused: {error}"


@pytest.mark.parametrize("name", ["k" * 5000, "./" + "k" * 5000, "k/" * 5000, "~" + "k" * 5000])
def test_names_of_any_length(tmp_path, name):
    """Too long for any file: a path that is not there, or an error of the target's; never one of the system."""
    found = answer(Reach((tmp_path.resolve(),)), name)
    assert found == name or found.startswith((str(tmp_path.resolve()), "refused: "))


def test_a_link_to_itself(tmp_path):
    """Refused in the same words by all Pythons; pathlib raises for it in some only."""
    (tmp_path / "loop").symlink_to("loop")
    assert answer(Reach((tmp_path.resolve(),)), "./loop") == "refused: ./loop: is a loop of links"
