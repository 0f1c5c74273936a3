"""Two traces aligned on their trees: where the time changed, with modules that only one of them has."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import kprof
from kprof.errors import InputError
from kprof_analyzers.profiles.timeline.tree import TreeNode
from kprof_analyzers.profiles.timeline.tree_diff import TreeChange, compare_trees, merged, walk

Sizes = dict[str, Any]


def tree(sizes: Sizes, name: str = "all kernels") -> TreeNode:
    """A tree from nested sizes: a number is a leaf's time, one kernel each."""
    children = [
        tree(inside, each) if isinstance(inside, dict) else TreeNode(each, inside, inside, 1)
        for each, inside in sizes.items()
    ]
    return TreeNode(name, sum(c.total_ns for c in children), 0, sum(c.kernels for c in children), children=children)


def changes(root: TreeChange) -> dict[str, tuple[float | None, float | None]]:
    return {place: (node.before_ns, node.after_ns) for _, place, node in walk(root)}


def test_equal_places_are_aligned_whatever_their_order() -> None:
    old = tree({"Model": {"Attention": 10, "MLP": {"Linear": 20, "GELU": 5}}})
    new = tree({"Model": {"MLP": {"GELU": 5, "Linear": 32}, "Norm": 1}})
    found = compare_trees([old], [new], "modules")
    assert changes(found.root) == {
        "Model": (35, 38),
        "Model/MLP": (25, 37),
        "Model/MLP/Linear": (20, 32),
        "Model/MLP/GELU": (5, 5),
        "Model/Attention": (10, None),
        "Model/Norm": (None, 1),
    }
    # The largest change first.
    assert [child.name for child in found.root.children[0].children] == ["MLP", "Attention", "Norm"]
    assert found.wrappers == []


@pytest.mark.parametrize("turned", [False, True])
def test_wrappers_of_one_trace_are_passed_over(turned: bool) -> None:
    """As torch.compile and parallel training put them around the model; told, and no time is lost."""
    plain = tree({"Model": {"Attention": 10, "MLP": 20}, "Loss": 2})
    wrapped = tree({"DataParallel": {"Compiled": {"Model": {"Attention": 7, "MLP": 21}}}, "Loss": 2})
    before, after = (wrapped, plain) if turned else (plain, wrapped)
    found = compare_trees([before], [after], "modules")
    assert found.wrappers == ["DataParallel", "Compiled"]
    expected = {"Model": (30, 28), "Model/Attention": (10, 7), "Model/MLP": (20, 21), "Loss": (2, 2)}
    assert changes(found.root) == {place: (pair[turned], pair[not turned]) for place, pair in expected.items()}
    assert (found.root.before_ns, found.root.after_ns) == ((30, 32) if turned else (32, 30))


def test_what_is_gone_is_no_wrapper_for_a_small_part_of_it() -> None:
    """A layer whose least operator also stands beside it."""
    found = compare_trees([tree({"Attention": {"scores": 9, "Linear": 1}})], [tree({"Linear": 5})], "modules")
    assert found.wrappers == []
    assert changes(found.root)["Attention"] == (10, None)


def test_trees_of_several_files_are_added_up() -> None:
    found = merged([tree({"A": {"x": 1}, "B": 2}), tree({"A": {"x": 3, "y": 4}})])
    assert found.total_ns == 10
    assert {c.name: (c.total_ns, c.kernels) for c in found.children} == {"A": (8, 3), "B": (2, 1)}


def model(kineto: Any, path: Path, steps: int, *, attention: float = 20.0, modules: bool = True) -> Path:
    """A module with an operator, so often as there are steps."""
    made, at = kineto.Builder(), 1000.0
    for step in range(steps):
        made.add("user_annotation", f"ProfilerStep#{step}", at, 100)
        for name, duration in (("Attention_0", attention), ("MLP_0", 30.0)):
            if modules:
                made.module(name, at + 5, 40)
            made.op("aten::mm", at + 6, 30, 10 * step + int(duration))
            correlation = made.launch(at + 10, 2)
            made.kernel(f"kernel_of_{name}", at + 12, duration, correlation)
            at += 50
    written: Path = made.write(path)
    return written


def test_traces_are_compared_by_step(kineto: Any, tmp_path: Path, kprof_run: Callable[..., Any]) -> None:
    """Two steps against three: a step of Attention takes 5 us more, one of MLP the same."""
    before = model(kineto, tmp_path / "before.json", 2)
    after = model(kineto, tmp_path / "after.json", 3, attention=25.0)
    found = kprof.trace_diff(before, after, tree="both")
    assert found.tree is not None
    assert {place: node.delta_ns for _, place, node in walk(found.tree.root)} == {
        "Attention": 5000, "Attention/aten::mm": 5000, "MLP": 0, "MLP/aten::mm": 0,
    }  # fmt: skip
    assert found.tree.root.delta_ns == found.comparison.after_ns - found.comparison.before_ns
    frame = found.to_frame("tree")
    assert list(frame["place"]) == ["Attention", "Attention/aten::mm", "MLP", "MLP/aten::mm"]
    assert list(frame["before_kernels"]) == [1, 1, 1, 1]
    ran = kprof_run("trace", "diff", before, after, "--tree", "both")
    told = ran.out.split("By both")[1].split("kernel time")[0].splitlines()
    assert told[2].split() == ["+0.005", "0.020", "0.025", "1", "Attention"]
    assert told[3].split() == ["+0.005", "0.020", "0.025", "1", "aten::mm"]
    assert "MLP" not in "".join(told)
    document = json.loads(kprof_run("trace", "diff", before, after, "--tree", "both", "--json", "-").out)
    assert document["tree"]["root"]["children"][0]["name"] == "Attention"
    assert "tree" not in json.loads(kprof_run("trace", "diff", before, after, "--json", "-").out)
    assert (
        "nothing in the tree of modules changed" in kprof_run("trace", "diff", before, before, "--tree", "modules").out
    )


def test_only_one_side_has_modules(kineto: Any, tmp_path: Path) -> None:
    before = model(kineto, tmp_path / "before.json", 2)
    after = model(kineto, tmp_path / "after.json", 2, modules=False)
    with pytest.raises(InputError, match="has no modules") as raised:
        kprof.trace_diff(before, after, tree="modules")
    assert raised.value.path == str(after)
    found = kprof.trace_diff(before, after, tree="operators").tree
    assert found is not None
    assert changes(found.root) == {"aten::mm": (50_000, 50_000)}


@pytest.fixture
def kprof_run(kprof: Callable[..., Any]) -> Callable[..., Any]:
    """The program, under a name that leaves ``kprof`` to the module."""
    return kprof
