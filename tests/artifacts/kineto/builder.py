"""Makes small Kineto traces for tests, laid out as the profiler, Python's json and merging tools lay them out."""

import gzip
import json
from pathlib import Path
from typing import Any

HEADER: dict[str, Any] = {
    "schemaVersion": 1,
    "deviceProperties": [{"id": 0, "name": "AMD Instinct MI300X", "warpSize": 64}],
    "roctracer_version": 4.1,
    "hip_runtime_version": 70051831,
    "distributedInfo": {"backend": "nccl", "rank": 0, "world_size": 1, "pg_config": [{"pg_name": "0"}]},
}
FOOTER: dict[str, Any] = {"traceName": "x.json", "displayTimeUnit": "ms", "baseTimeNanoseconds": 1767189312000000000}


class Builder:
    """Events in the order of the calls; times in microseconds."""

    def __init__(self) -> None:
        self.events: list[dict[str, Any]] = []
        self._correlation = 0

    def add(self, cat: str, name: str, ts: float, dur: float, *, pid: Any = 100, tid: Any = 100, **args: Any) -> dict:
        """Any complete event; underscores in argument names stand for blanks where Kineto has them."""
        event = {"ph": "X", "cat": cat, "name": name, "pid": pid, "tid": tid, "ts": ts, "dur": dur, "args": args}
        self.events.append(event)
        return event

    def op(self, name: str, ts: float, dur: float, external: int, *, tid: int = 100, **args: Any) -> dict:
        """A CPU operator."""
        return self.add("cpu_op", name, ts, dur, tid=tid, **{"External id": external, **args})

    def module(self, name: str, ts: float, dur: float, *, tid: int = 100) -> dict:
        """A module's forward."""
        return self.add("python_function", f"nn.Module: {name}", ts, dur, tid=tid, **{"Python id": 1})

    def launch(self, ts: float, dur: float, *, api: str = "hipLaunchKernel", tid: int = 100, **args: Any) -> int:
        """A launch call; returns its correlation id."""
        self._correlation += 1
        self.add("cuda_runtime", api, ts, dur, tid=tid, correlation=self._correlation, **args)
        return self._correlation

    def kernel(
        self, name: str, ts: float, dur: float, correlation: int | None = None, *, stream: int = 0, device: int = 2,
        cat: str = "kernel", **args: Any,
    ) -> dict:  # fmt: skip
        """A GPU activity."""
        more = {} if correlation is None else {"correlation": correlation}
        return self.add(cat, name, ts, dur, pid=device, tid=stream, device=device, stream=stream, **more, **args)

    def run(self, name: str, ts: float, dur: float, *, api: str = "hipLaunchKernel", at: float = 0, **args: Any) -> int:
        """A launch and its kernel; the kernel starts at ``ts``, the call at ``at`` or 5 us before."""
        correlation = self.launch(at or ts - 5, 2, api=api)
        self.kernel(name, ts, dur, correlation, **args)
        return correlation

    def document(self) -> dict[str, Any]:
        """The trace as a dict, metadata before and after the events as Kineto writes it."""
        return {**HEADER, "traceEvents": self.events, **FOOTER}

    def text(self, style: str = "kineto") -> bytes:
        """The trace as bytes: ``kineto``, ``compact``, ``indent`` or ``list``."""
        if style == "list":
            return json.dumps(self.events).encode()
        if style == "compact":
            return json.dumps(self.document(), separators=(",", ":")).encode()
        if style == "indent":
            return json.dumps(self.document(), indent=4).encode()
        events = ",".join("\n  " + json.dumps(e)[:-1] + "\n  }" for e in self.events)
        head = json.dumps(HEADER, indent=2)[:-2]
        return f'{head},\n  "traceEvents": [{events}\n  ],\n{json.dumps(FOOTER, indent=2)[1:]}'.encode()

    def write(self, path: Path, style: str = "kineto") -> Path:
        """Write it, packed when the name ends in .gz."""
        data = self.text(style)
        path.write_bytes(gzip.compress(data) if path.suffix == ".gz" else data)
        return path


def small_model(builder: Builder, start: float = 1000.0, layers: int = 2) -> Builder:
    """Attention, MLP, norm and an all-reduce, launched from operators inside modules."""
    at = start
    external = 1
    for layer in range(layers):
        for module, operator, kernel, duration in (
            (f"SelfAttention_{layer}", "aten::addmm", "Cijk_Alik_Bljk_qkv", 10.0),
            (f"SelfAttention_{layer}", "aten::_flash_attention_forward", "attn_fwd", 20.0),
            (f"MLP_{layer}", "aten::addmm", "Cijk_Alik_Bljk_up", 30.0),
            (f"LayerNorm_{layer}", "aten::native_layer_norm", "vectorized_layer_norm_kernel", 4.0),
            (f"Model_{layer}", "c10d::allreduce_", "ncclDevKernel_Generic", 8.0),
        ):
            builder.module(module, at, 40)
            builder.op(operator, at + 1, 30, external)
            is_gemm = "Cijk" in kernel
            api = "hipExtModuleLaunchKernel" if is_gemm else "hipLaunchKernel"
            correlation = builder.launch(at + 5, 3, api=api)
            grid = [512, 1, 1] if is_gemm else [2, 1, 1]
            extra = {"External id": external}
            builder.kernel(kernel, at + 12, duration, correlation, grid=grid, block=[256, 1, 1], **extra)
            external += 1
            at += 50
    return builder
