"""GPU time by module and operator."""

import pytest

from kprof.inputs.torch_profiler import load
from kprof_analyzers.profiles.timeline.tree import TreeNode, time_tree


def flat(node, depth=0):
    """Name, depth, time, own time, kernels and how many are alike, in the order of the tree."""
    for child in node.children:
        yield child.name, depth, child.total_ns, child.own_ns, child.kernels, child.alike
        yield from flat(child, depth + 1)


def check(node: TreeNode):
    """A node's time is its own and its children's; so are its kernels, but for those that are its own."""
    assert node.total_ns == node.own_ns + sum(child.total_ns for child in node.children)
    assert node.kernels >= sum(child.kernels for child in node.children)
    for child in node.children:
        check(child)


def nested(kineto):
    """Two layers in a model, each with a linear; one kernel outside."""
    builder = kineto.Builder()
    builder.module("Model_0", 1000.0, 400)
    for layer in range(2):
        start = 1010.0 + 100 * layer
        builder.module(f"Layer_{layer}", start, 80)
        builder.module(f"Linear_{layer}", start + 1, 40)
        builder.op("aten::addmm", start + 2, 30, 1 + layer)
        correlation = builder.launch(start + 5, 3)
        builder.kernel("Cijk", start + 20, 10.0 + layer, correlation)
        correlation = builder.launch(start + 60, 3)
        builder.kernel("k", start + 70, 5.0, correlation)
    correlation = builder.launch(2000.0, 3)
    builder.kernel("outside", 2010.0, 7.0, correlation)
    return builder


def test_modules_of_a_class_are_put_together(tmp_path, kineto):
    """Layers of one model are one line, with how many there are; what no module launched has a line."""
    tree = time_tree(load(nested(kineto).write(tmp_path / "t.json")))
    check(tree.root)
    assert list(flat(tree.root)) == [
        ("Model", 0, 31_000, 0, 4, 1),
        ("Layer", 1, 31_000, 10_000, 4, 2),
        ("Linear", 2, 21_000, 21_000, 2, 2),
        ("(launched in none)", 0, 7_000, 7_000, 1, 1),
    ]


def test_each_module_apart_and_its_operators(tmp_path, kineto):
    """By number, the longest first; operators keep their names."""
    trace = load(nested(kineto).write(tmp_path / "t.json"))
    tree = time_tree(trace, "both", each=True)
    check(tree.root)
    assert [(name, depth, total) for name, depth, total, *_ in flat(tree.root)][:4] == [
        ("Model_0", 0, 31_000),
        ("Layer_1", 1, 16_000),
        ("Linear_1", 2, 11_000),
        ("aten::addmm", 3, 11_000),
    ]


def test_backward_stands_at_the_forward_modules(tmp_path, kineto):
    """On another thread, without modules of its own: by the sequence number of its forward operator."""
    builder = kineto.Builder()
    builder.module("Linear_0", 1000.0, 40)
    builder.op("aten::linear", 1001.0, 30, 1, **{"Sequence number": 9, "Fwd thread id": 0})
    builder.op("AddmmBackward0", 2000.0, 40, 2, tid=7, **{"Sequence number": 9, "Fwd thread id": 1})
    correlation = builder.launch(2010.0, 3, tid=7)
    builder.kernel("Cijk", 2020.0, 12.0, correlation)
    tree = time_tree(load(builder.write(tmp_path / "t.json")))
    assert [(name, depth) for name, depth, *_ in flat(tree.root)] == [("backward", 0), ("Linear", 1)]


def test_without_modules_the_tree_is_of_operators(tmp_path, kineto):
    """And says so."""
    builder = kineto.Builder()
    builder.op("aten::linear", 1000.0, 50, 1)
    builder.op("aten::addmm", 1001.0, 40, 2)
    builder.kernel("Cijk", 1100.0, 12.0, builder.launch(1010.0, 3))
    tree = time_tree(load(builder.write(tmp_path / "t.json")))
    assert (tree.by, tree.has_modules) == ("operators", False)
    assert [name for name, *_ in flat(tree.root)] == ["aten::linear", "aten::addmm"]


@pytest.mark.parametrize("by", ["modules", "operators", "both"])
def test_the_published_traces_add_up(samples, by):
    """Every kernel is in the tree once."""
    for path in sorted((samples / "kineto/mi300").glob("*.json.gz")):
        trace = load(path)
        tree = time_tree(trace, by)
        check(tree.root)
        kernels = [a.duration_ns for a in trace.activities if a.kind == "kernel"]
        assert (tree.root.total_ns, tree.root.kernels) == (sum(kernels), len(kernels))
