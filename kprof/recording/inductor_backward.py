"""Compile graphs with a backward pass: trace them for the CPU, then generate code for the GPU.

A torch that was built without a GPU cannot trace a backward pass on one, because its C++ engine needs the device. The
inputs of such a graph are therefore placed on the CPU while AOTAutograd traces and splits it. Each half is moved to the
GPU just before Inductor generates code for it.
"""

import re
from collections.abc import Callable, Sequence
from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from kprof.recording.recorder import Recorder
    from kprof.simulation.patches import Patches

MODULE = "torch._inductor.compile_fx"
"""Module after whose import :func:`install` has to run."""

FLEX = "torch._higher_order_ops.flex_attention"
"""Module after whose import :func:`install_flex` has to run."""

_DEVICE = re.compile(r"(cuda|cpu)(:\d+)?")

NOTE = "torch.compile: graphs with a backward pass were split as on the CPU, where Inductor's rewrites may differ"


def install(recorder: "Recorder", patches: "Patches") -> None:
    """Make Inductor's entry point accept graphs with a backward pass."""
    from torch._inductor import compile_fx as module

    original = module.compile_fx
    inside = False

    def compile_fx(
        model_: Any, example_inputs_: Sequence[Any], inner_compile: Any = module.compile_fx_inner, **rest: Any
    ) -> Any:
        nonlocal inside
        inputs = None if inside else _known(model_, example_inputs_)
        if inputs is None:
            return original(model_, example_inputs_, inner_compile, **rest)
        inside = True
        try:
            recorder.note(NOTE)
            _move(model_, "cpu")
            moved = [_on(value, "cpu") for value in inputs]
            return original(model_, moved, _for_gpu(inner_compile), **rest)
        finally:
            inside = False

    patches.set(module, "compile_fx", compile_fx)


def install_flex(patches: "Patches") -> None:
    """Make attention with a custom score function compute that function's gradient on the CPU."""
    from torch.fx import GraphModule
    from torch.utils import _pytree as pytree

    # Import by name: as an attribute of its package, the module is hidden by a function with the same name.
    module = import_module(FLEX)
    original = module.create_fw_bw_graph

    def create_fw_bw_graph(score_mod: Any, *values: Any) -> Any:
        leaves = pytree.tree_leaves(values)
        graph = score_mod if isinstance(score_mod, GraphModule) else None
        if all(_on(leaf, "cpu") is leaf for leaf in leaves):
            return original(score_mod, *values)
        if graph is not None:
            _move(graph, "cpu")
        try:
            forward, backward = original(score_mod, *pytree.tree_map(lambda leaf: _on(leaf, "cpu"), values))
        finally:
            if graph is not None:
                _move(graph, "cuda")
        _move(backward, "cuda")
        return forward, backward

    patches.set(module, "create_fw_bw_graph", create_fw_bw_graph)


def _for_gpu(inner: Callable[..., Any]) -> Callable[..., Any]:
    """Wrap Inductor's code generation so that it first moves a graph that was traced on the CPU to the GPU."""

    def compile_half(graph: Any, inputs: Sequence[Any], *args: Any, **options: Any) -> Any:
        _move(graph, "cuda")
        return inner(graph, [_on(value, "cuda") for value in inputs], *args, **options)

    return compile_half


def _known(model: Any, inputs: Sequence[Any]) -> list[Any] | None:
    """Return the inputs of a graph as fake tensors; ``None`` without a backward pass or if not all are on the GPU."""
    import torch
    from torch._guards import TracingContext
    from torch._subclasses import FakeTensor

    tensors = [value for value in inputs if isinstance(value, torch.Tensor)]
    context = TracingContext.try_get()
    mode = None if context is None else context.fake_mode
    if mode is None or not torch.is_grad_enabled() or not any(value.requires_grad for value in tensors):
        return None
    found = [
        mode.from_tensor(value) if isinstance(value, torch.Tensor) and not isinstance(value, FakeTensor) else value
        for value in inputs
    ]
    devices = [value.device for value in found if isinstance(value, torch.Tensor)] + _devices(model.graph)
    return found if all(device.type == "cuda" for device in devices) else None


def _devices(graph: Any) -> list[Any]:
    """Return the devices that a graph's operators name."""
    from torch.utils import _pytree as pytree

    leaves = [leaf for node in graph.nodes for leaf in pytree.tree_leaves((node.args, node.kwargs))]
    leaves += [node.target for node in graph.nodes if node.op == "call_method"]
    return [device for device in map(_named, leaves) if device is not None]


def _named(leaf: Any) -> Any:
    """Return the device that an operator's argument names; ``None`` for other arguments."""
    import torch

    if isinstance(leaf, str) and _DEVICE.fullmatch(leaf):
        return torch.device(leaf)
    return leaf if isinstance(leaf, torch.device) else None


def _move(module: Any, kind: str) -> None:
    """Move the operators of a graph and its subgraphs to another device, with the example results in their metadata."""
    from torch.fx import GraphModule

    for part in module.modules():
        if isinstance(part, GraphModule):
            _move_operators(part.graph, kind)
            part.recompile()


def _move_operators(graph: Any, kind: str) -> None:
    from torch.utils import _pytree as pytree

    def device(leaf: Any) -> Any:
        named = _named(leaf)
        return leaf if named is None or named.type == kind else _device(kind)

    for node in graph.nodes:
        node.args = pytree.tree_map(device, node.args)
        node.kwargs = pytree.tree_map(device, node.kwargs)
        if node.op == "call_method" and node.target == "cuda":
            node.target = kind
        for key in ("val", "example_value"):
            if key in node.meta:
                node.meta[key] = pytree.tree_map(lambda leaf: _on(leaf, kind), node.meta[key])


def _device(kind: str) -> Any:
    import torch

    return torch.device(kind, 0) if kind == "cuda" else torch.device(kind)


def _on(value: Any, kind: str) -> Any:
    """Return a fake tensor's equivalent on a device of this kind; return anything else unchanged."""
    import torch
    from torch._subclasses import FakeTensor

    if not isinstance(value, FakeTensor) or value.device.type == kind:
        return value
    with value.fake_mode, torch.no_grad():
        moved = torch.empty_strided(value.size(), value.stride(), dtype=value.dtype, device=_device(kind))
    return moved.requires_grad_(value.requires_grad) if value.requires_grad else moved
