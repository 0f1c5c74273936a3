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
    with pytest.raises(TargetError, match="is outside the folders that this server reads") as refused:
        Reach((root.resolve(),)).target(path)
    assert refused.value.hint == f"It reads {root.resolve()}; --folder adds a folder."


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
    with pytest.raises(TargetError, match="this server does not run foreign code") as refused:
        Reach((root,)).target(name)
    assert "--allow-run" in str(refused.value)
    assert Reach((root,), run=True).target(name) == f"{root}/{name}"
    assert Reach((root,)).target("k.amdgcn") == f"{root}/k.amdgcn"
    assert Reach((root,)).target("gemm_splitk::reduce") == "gemm_splitk::reduce"


def test_roots_have_to_be_there(tmp_path):
    """A mistyped folder is an error, not an empty reach."""
    assert folders([str(tmp_path)]) == (tmp_path.resolve(),)
    with pytest.raises(TargetError, match="is not a folder"):
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


def test_every_folder_is_named_where_none_holds_the_path(tmp_path):
    """So that it can be seen which is missing."""
    one, two = tmp_path / "one", tmp_path / "two"
    one.mkdir()
    two.mkdir()
    roots = folders([str(one), str(two)])
    assert Reach(roots).path(str(two / "k.s")) == two.resolve() / "k.s"
    with pytest.raises(TargetError) as refused:
        Reach(roots).path("/etc/k.s")
    assert refused.value.message == "is outside the folders that this server reads"
    assert refused.value.hint == f"It reads {roots[0]}, {roots[1]}; --folder adds a folder."
    assert refused.value.path == "/etc/k.s"


def test_a_null_byte_is_shown_and_no_path(tmp_path):
    with pytest.raises(TargetError) as refused:
        Reach((tmp_path.resolve(),)).path("a\0b")
    assert (refused.value.message, refused.value.path) == ("holds a null byte", r"'a\x00b'")


@pytest.mark.parametrize(("length", "shown"), [(80, 80), (81, 81)])
def test_a_long_name_is_cut_where_the_system_refuses_it(tmp_path, monkeypatch, length, shown):
    """From 81 characters on, with three dots."""

    def refuse(*_, **__):
        raise OSError(36, "File name too long")

    monkeypatch.setattr(Path, "resolve", refuse)
    with pytest.raises(TargetError) as refused:
        Reach((tmp_path,)).path("k" * length)
    assert refused.value.message == "File name too long"
    assert refused.value.path == ("k" * 80 if length == 80 else "k" * 80 + "…")
    assert len(refused.value.path) == shown


@pytest.mark.parametrize("name", ["a\\b", "k.s", "folder/k", ".hidden"])
def test_what_looks_like_a_path_is_one(tmp_path, name):
    """With a separator of any system or a full stop: it is made absolute, whether it is there or not."""
    root = tmp_path.resolve()
    assert Reach((root,), run=True).target(name) == f"{root}/{name}"
    assert Reach((root,), run=True).target(f"{name}::f") == f"{root}/{name}::f"


def test_a_file_without_a_suffix_is_one_where_it_is_there(tmp_path, monkeypatch):
    """A bundled kernel's name is one where there is no such file."""
    monkeypatch.chdir(tmp_path)
    reach = Reach((tmp_path.resolve(),))
    assert reach.target("softmax") == "softmax"
    (tmp_path / "listing").touch()
    assert reach.path("listing") == tmp_path.resolve() / "listing"
    assert answer(reach, "listing").startswith((f"{tmp_path.resolve()}/listing", "refused: "))


def test_the_refusal_of_code_says_what_would_become_of_it(tmp_path):
    root = tmp_path.resolve()
    (root / "k.py").touch()
    with pytest.raises(TargetError) as refused:
        Reach((root,)).target("k.py::f")
    assert refused.value.message == "would be imported as Python, and this server does not run foreign code"
    assert refused.value.hint == "Start it with --allow-run, or give a capture, an assembly file or a bundled kernel."
    assert refused.value.path == "k.py"
