"""Make a server's kernel runnable by ``kprof bench``: inputs, launches on real tensors, and the expected results.

The bench engine loads a file that defines ``KERNEL``; :func:`write_file` writes one for an extracted kernel.
"""

import json
from collections.abc import Mapping
from dataclasses import asdict
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kprof.cache.folders import private_folder
from kprof.kernel_spec import ELEMENT_TYPES, Kernel, Launch, Tensor, split_config
from kprof.output.writing import write_output
from kprof_servers.served.aiter_launches import AiterProduct
from kprof_servers.served.kernel_source import FOLDER
from kprof_servers.served.launches import LaunchedKernel, ServedExperts, ServedProduct
from kprof_servers.served.served_inputs import expected_experts, expected_product, filled, routed

if TYPE_CHECKING:
    from kprof_servers.served.subject import ServedSubject

_LAUNCHES = {each.__name__: each for each in (ServedProduct, ServedExperts, AiterProduct)}
_OUTPUTS = ("c_ptr", "C", "c_out_ptr")
_SUMMED = "c_in_ptr"
_ROUTING = ("sorted_token_ids_ptr", "expert_ids_ptr", "num_tokens_post_padded_ptr")
_TOLERANCE = 0.03
"""Tolerance of results around 1 in bfloat16, for inputs in FP8 or bfloat16 whose products are summed in FP32."""


def write_file(subject: "ServedSubject") -> Path:
    """Write a file from which the bench engine loads the subject's kernel, and return its path.

    Raises:
        KprofError: the file cannot be written.
    """
    spec = {
        "label": subject.label,
        "arch": subject.arch.name,
        "kernel": [str(subject.function.path), subject.function.name],
        "arguments": [n for n in subject.function.arguments if n not in subject.function.heuristics],
        "parts": {label: [str(each.path), each.name] for label, each in subject.parts.items()},
        "launch": [type(subject.launch).__name__, _fields(subject.launch)],
    }
    text = (
        "from kprof_servers.served.served_kernel import served_kernel\n\n"
        f"KERNEL = served_kernel({json.dumps(spec, sort_keys=True)!r})\n"
    )
    folder = private_folder(FOLDER) / sha256(text.encode()).hexdigest()[:16]
    folder.mkdir(mode=0o700, exist_ok=True)
    write_output(str(folder / "measured.py"), text)
    return folder / "measured.py"


def _fields(launch: LaunchedKernel) -> dict[str, Any]:
    assert isinstance(launch, ServedProduct | ServedExperts | AiterProduct)
    return asdict(launch)


def served_kernel(text: str) -> Kernel:
    """Return the kernel that :func:`write_file` describes; its only problem size is ``rows``."""
    spec = json.loads(text)
    kind, values = spec["launch"]
    block = values.get("block")
    launch = _LAUNCHES[kind](**{**values, **({"block": tuple(block)} if block else {})})
    made = _RunnableKernel(spec, launch)
    return Kernel(
        spec["label"],
        made.entry(""),
        "A server's kernel with a configuration of its own.",
        lambda shape, config: made.launches(shape["rows"], config)[""],
        shapes={"one row": {"rows": 1}},
        config=dict.fromkeys(launch.knobs, 0),
        run=made.run,
        inputs=made.inputs,
        reference=made.reference,
        tolerance=lambda _shape: (_TOLERANCE, _TOLERANCE),
        flops=lambda shape: launch.work(shape["rows"]),
    )


class _RunnableKernel:
    """A server's kernel that runs on a GPU: its functions, input tensors and reference results.

    Args:
        spec: files and names of the functions.
        launch: how the server launches it.
    """

    def __init__(self, spec: Mapping[str, Any], launch: ServedProduct | ServedExperts | AiterProduct) -> None:
        self._spec, self._launch = spec, launch
        self._entries: dict[str, Any] = {}
        self._made: dict[tuple[int, str], list[tuple[Any, tuple[int, ...], dict[str, Any]]]] = {}
        self._results: dict[tuple[int, str], dict[str, Any]] = {}
        self._kept: dict[int, Any] = {}

    def entry(self, label: str) -> Any:
        """Return the Triton function of a launch, including its ``triton.heuristics``."""
        if label not in self._entries:
            from kprof.importing.functions import find_entry
            from kprof.importing.loading import load_module

            file, name = self._spec["parts"].get(label, self._spec["kernel"])
            self._entries[label] = find_entry(load_module(file, interpret=True), file, name)
        return self._entries[label]

    def launches(self, rows: int, config: Mapping[str, Any]) -> dict[str, Launch]:
        """Return the launches that the server would make, by label."""
        # The bench kernel's default value 0 means that a knob is not set.
        given = {name: value for name, value in config.items() if name not in self._launch.knobs or value != 0}
        return self._launch.launches(rows, given, self._spec["arguments"], self._spec["arch"])

    def inputs(self, shape: Mapping[str, Any], device: str, seed: int) -> dict[str, Any]:
        """Return the random input tensors by ``LABEL.PARAMETER``. They do not depend on the configuration."""
        import torch

        generator = torch.Generator(device=device).manual_seed(seed)
        found: dict[str, Any] = {}
        for label, made in self.launches(shape["rows"], _ANY).items():
            depth = int(made.args["K"])
            for name, value in made.args.items():
                if isinstance(value, Tensor) and name not in (*_OUTPUTS, *_ROUTING):
                    found[f"{label}.{name}"] = filled(name, value, depth, generator)
        if isinstance(self._launch, ServedExperts):
            score = torch.rand(shape["rows"], self._launch.everywhere, generator=generator, device=device)
            found["chosen"] = score.topk(self._launch.chosen, dim=1).indices.to(torch.int32)
        return found

    def run(self, inputs: Mapping[str, Any], shape: Mapping[str, Any], config: Mapping[str, Any]) -> dict[str, Any]:
        """Run all launches. The first call with these inputs creates their tensors, and later calls reuse them."""
        key = (id(inputs), repr(sorted(config.items(), key=str)))
        if key not in self._made:
            if len({place for _, place in self._made} | {key[1]}) > 1:
                self._made, self._results, self._kept = {}, {}, {}
            self._kept[key[0]] = inputs
            self._made[key], self._results[key] = self._prepared(inputs, shape, config)
        for entry, grid, args in self._made[key]:
            entry[grid](**args)
        return self._results[key]

    def _prepared(
        self, inputs: Mapping[str, Any], shape: Mapping[str, Any], config: Mapping[str, Any]
    ) -> tuple[list[tuple[Any, tuple[int, ...], dict[str, Any]]], dict[str, Any]]:
        import torch

        device = next(iter(inputs.values())).device
        calls, results, before = [], {}, None
        launches = self.launches(shape["rows"], config)
        for label, made in launches.items():
            args, grid = dict(made.args), tuple(made.grid)
            for name, value in made.args.items():
                if not isinstance(value, Tensor):
                    continue
                if name in _OUTPUTS:
                    kind = getattr(torch, ELEMENT_TYPES[value.dtype].torch)
                    before = torch.zeros(value.shape, dtype=kind, device=device)
                    args[name] = results[label] = before
                elif name not in (_SUMMED, *_ROUTING):
                    args[name] = inputs[f"{label}.{name}"]
            if _SUMMED in args:
                # The sum over the parts of K consumes the product's result. Only the sum is a result of the layer.
                args[_SUMMED] = results.pop("")
                results[""] = results.pop(label)
            if "chosen" in inputs:
                args.update(routed(inputs["chosen"], self._launch.count, args["BLOCK_SIZE_M"]))  # type: ignore[union-attr]
                grid = (args["expert_ids_ptr"].numel() * -(-int(args["N"]) // int(args["BLOCK_SIZE_N"])),)
                args = {name: value for name, value in args.items() if name in made.args}
            calls.append((self.entry(label), grid, {**args, **self._options(config, made)}))
        return calls, results

    def _options(self, config: Mapping[str, Any], made: Launch) -> dict[str, Any]:
        import torch

        options = {n: v for n, v in split_config(config)[1].items() if n not in made.args}
        # Triton's other back ends reject AMD's options.
        amd = torch.version.hip is not None
        return options if amd else {n: v for n, v in options.items() if n in {"num_warps", "num_stages"}}

    def reference(self, inputs: Mapping[str, Any], shape: Mapping[str, Any]) -> dict[str, Any]:
        """Return the expected results, computed in FP32 by torch."""
        made = self.launches(shape["rows"], _ANY)
        if isinstance(self._launch, ServedExperts):
            return {label: expected_experts(inputs, label, each.args, self._launch) for label, each in made.items()}
        return {"": expected_product(inputs, self._launch)}


_ANY: Mapping[str, Any] = {
    "BLOCK_SIZE_M": 16, "BLOCK_SIZE_N": 64, "BLOCK_SIZE_K": 128, "GROUP_SIZE_M": 1, "num_warps": 4, "num_stages": 2,
    "NUM_KSPLIT": 1, "cache_modifier": None,
}  # fmt: skip
"""An arbitrary valid configuration to compute the inputs' shapes, which are the same for all configurations."""
