"""Roles of matrix products in replayed graphs, by the order of kernels."""

from collections import Counter

import pytest

from kprof.inputs.torch_profiler.load import load
from kprof_analyzers.profiles.timeline.breakdown import breakdown
from kprof_analyzers.profiles.timeline.categories import load_categories
from kprof_analyzers.profiles.timeline.roles import categories_of, role
from kprof_analyzers.profiles.timeline.top import top_kernels
from kprof_analyzers.profiles.timeline.tree import time_tree

N, G, A, R, C, M, E = "normalization", "GEMM", "attention", "RoPE", "communication", "activation", "sampling"
BLOCK = [N, G, R, A, G, C, N, G, M, G, C]
QK_NORMS = [N, G, N, N, R, A, G, N, G, M, G]
FUSED_ACTIVATION = [N, G, R, A, G, N, G, G, N, G, R, A]


@pytest.mark.parametrize(
    ("told", "expected"),
    [
        (BLOCK * 2 + [N, G, E], [*["attention GEMM"] * 2, *["MLP GEMM"] * 2] * 2 + ["GEMM"]),
        (QK_NORMS, [*["attention GEMM"] * 2, *["MLP GEMM"] * 2]),
        (FUSED_ACTIVATION, ["attention GEMM", "attention GEMM", "GEMM", "GEMM", "attention GEMM"]),
        ([G, G, G], ["GEMM"] * 3),
        ([E, G, E], ["GEMM"]),
        ([A, G, N, G, "MoE", "MoE", N], ["attention GEMM", "MoE"]),
    ],
    ids=[
        "block",
        "norms of queries and keys",
        "activation inside a product",
        "products alone",
        "before sampling",
        "router",
    ],
)
def test_order_tells_the_role(told, expected):
    """Nearest part of the block; what cannot be determined stays a product."""
    assert [role(told, place) for place, category in enumerate(told) if category == G] == expected


@pytest.mark.parametrize("graph", [True, False])
def test_only_products_in_graphs_are_named(tmp_path, kineto, graph):
    """Kernels launched one by one have operators and modules to go by, and without them stay as they are."""
    names = ("rms_norm", "Cijk_A", "rotary_embedding", "flash_attn_fwd", "Cijk_B", "rms_norm", "Cijk_C", "silu_and_mul")
    builder = kineto.Builder()
    correlation = builder.launch(10.0, 20.0, api="hipGraphLaunch") if graph else None
    for at, name in enumerate((*names, "Cijk_D")):
        if correlation is None:
            builder.run(name, 100.0 + 10 * at, 5.0)
        else:
            builder.kernel(name, 100.0 + 10 * at, 5.0, correlation, kind="Dispatch Task")
    trace = load(builder.write(tmp_path / "t.json"))
    found = categories_of(trace, load_categories())
    products = [category for category, activity in zip(found, trace.activities, strict=True) if "Cijk" in activity.name]
    assert products == ([*["attention GEMM"] * 2, *["MLP GEMM"] * 2] if graph else ["GEMM"] * 4)


def test_a_published_decode(shared):
    """24 blocks: two products of each block's attention and its router; the last product stays one."""
    trace = load(shared / "samples/kineto/vllm_decode_full_hipgraph/graph_execution.json.gz")
    categories = load_categories()
    before = [categories.of(trace, activity) for activity in trace.activities]
    after = categories_of(trace, categories)
    assert Counter((old, new) for old, new in zip(before, after, strict=True) if old != new) == {
        ("GEMM", "attention GEMM"): 48,
        ("GEMM", "MoE"): 24,
    }
    found = breakdown(trace, categories)
    assert sum(one.total_ns for one in found.categories) == sum(a.duration_ns for a in trace.activities)
    assert after.count("GEMM") == 1


def test_the_same_roles_everywhere(shared):
    """``trace top`` and ``trace tree`` give each role the time that ``trace breakdown`` gives it."""
    trace = load(shared / "samples/kineto/vllm_decode_full_hipgraph/graph_execution.json.gz")
    categories = load_categories()
    kernels = trace.activities.words("kind").code("kernel")
    wanted: Counter[str] = Counter()
    columns = trace.activities.words("kind").data, trace.activities.numbers("duration_ns").data
    for category, kind, duration in zip(categories_of(trace, categories), *columns, strict=True):
        if kind == kernels:
            wanted[category] += duration
    rows: Counter[str] = Counter()
    for row in top_kernels(trace, categories):
        rows[row.category] += row.total_ns
    assert rows == wanted
    assert wanted["attention GEMM"] > 0
    nodes, leaves = [time_tree(trace).root], Counter()
    while nodes:
        node = nodes.pop()
        nodes += node.children
        leaves[node.name] += node.own_ns
    assert {role: leaves[role] for role in ("attention GEMM", "MoE", "RoPE")} == {
        role: wanted[role] for role in ("attention GEMM", "MoE", "RoPE")
    }


@pytest.mark.parametrize("graph", [True, False])
def test_only_kernels_of_graphs_have_a_category_in_the_tree(tmp_path, kineto, graph):
    """A kernel that an operator launched stands at the operator."""
    builder = kineto.Builder()
    if graph:
        builder.kernel("Cijk_A", 100.0, 5.0, builder.launch(10.0, 20.0, api="hipGraphLaunch"), kind="Dispatch Task")
    else:
        builder.run("Cijk_A", 100.0, 5.0)
    top = time_tree(load(builder.write(tmp_path / "t.json"))).root.children
    assert [[leaf.name for leaf in node.children] for node in top] == ([["GEMM"]] if graph else [[]])
