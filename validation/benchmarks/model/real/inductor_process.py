"""Let PyTorch's Inductor write kernels from its templates without a GPU. This is a separate process that imports torch.

Standard input: ``{"root": folder of torch or null, "asked": [{"template", "inputs": [[name, sizes, strides]], "out",
"addends", "constants"}]}``. Standard output: a list of ``{"text"}`` or ``{"error"}``. Inductor's queries about the
GPU are answered with an MI210's properties, which do not affect the written kernels.
"""

import json
import sys
from types import SimpleNamespace
from typing import Any
from unittest import mock

_CUS = 104
_WIDTH = 64


class _WrittenError(Exception):
    """Raised when Inductor is about to load the code that it has written, which is not needed."""


def _simulate() -> Any:
    """Make torch appear to be AMD's build with a GPU."""
    import torch
    import torch.utils._triton as found

    torch.version.hip = torch.version.hip or "7.0"
    torch.cuda.get_device_capability = lambda *_: (9, 0)
    found.triton_hash_with_backend = lambda: ""  # type: ignore[assignment]
    return torch


class _Writer:
    """Inductor with a graph that only has inputs."""

    def __init__(self) -> None:
        self._torch = _simulate()
        from torch._inductor.graph import GraphLowering
        from torch._inductor.kernel import bmm, conv, mm
        from torch._inductor.runtime.hints import DeviceProperties

        self._graph = GraphLowering(self._torch.fx.symbolic_trace(self._torch.nn.Identity()))
        self._templates = {"mm": mm.mm_template, "bmm": bmm.bmm_template, "conv": conv.conv2d_template}
        self._device = self._torch.device("cuda", 0)
        known = dict.fromkeys(DeviceProperties._fields) | {"type": "hip", "index": 0, "cc": "gfx90a"}
        self._properties = DeviceProperties(**{**known, "multi_processor_count": _CUS, "warp_size": _WIDTH})

    def write(self, asked: dict[str, Any]) -> str:
        """Return a file with one kernel."""
        from torch._inductor import ir
        from torch._inductor.codecache import PyCodeCache
        from torch._inductor.kernel.mm_common import addmm_epilogue
        from torch._inductor.runtime.hints import DeviceProperties
        from torch._inductor.virtualized import V

        kind = self._torch.bfloat16

        def layout(sizes: list[int], strides: list[int] | None = None) -> Any:
            return ir.FixedLayout(self._device, kind, sizes, strides)

        nodes = {
            name: ir.StorageBox(ir.InputBuffer(name=name, layout=layout(sizes, strides)))
            for name, sizes, strides in asked["inputs"]
        }
        self._graph.graph_inputs.clear()
        self._graph.graph_inputs.update(nodes)
        more = {}
        if asked["addends"]:
            more = {"prefix_args": asked["addends"], "epilogue_fn": addmm_epilogue(kind, 1, 1)}
        constants = dict(asked["constants"])
        written = SimpleNamespace(text="")

        def load(code: str, *_: Any, **__: Any) -> None:
            written.text = code
            raise _WrittenError

        with (
            V.set_graph_handler(self._graph),
            mock.patch.object(PyCodeCache, "load", load),
            mock.patch.object(DeviceProperties, "create", staticmethod(lambda _: self._properties)),
        ):
            try:
                self._templates[asked["template"]].generate(
                    input_nodes=tuple(nodes.values()), layout=layout(asked["out"]), num_stages=2, num_warps=4,
                    **more, **constants,
                )  # fmt: skip
            except _WrittenError:
                return str(written.text)
        raise RuntimeError("Inductor wrote nothing")


def main() -> None:
    """Answer the requests on standard input."""
    wanted = json.load(sys.stdin)
    if wanted["root"] is not None:
        sys.path.insert(0, wanted["root"])
    writer = _Writer()
    answers = []
    for asked in wanted["asked"]:
        try:
            answers.append({"text": writer.write(asked)})
        except Exception as error:  # noqa: BLE001 - another version of torch fails where it likes
            answers.append({"error": f"{type(error).__name__}: {error}".splitlines()[0]})
    json.dump(answers, sys.stdout)


if __name__ == "__main__":
    main()
