"""Write vLLM's JSON: a file per shape and device, which maps the number of rows to a configuration.

Problems with an ``E`` (experts) are written to ``E=8,N=3584,device_name=AMD_Instinct_MI300X[,dtype=fp8_w8a8].json``;
block-scaled products are written to ``N=..,K=..,device_name=..,dtype=..,block_shape=[128,128].json``. Format facts:
vllm-project/vllm, ``fused_moe/configs`` and ``quantization/utils/configs``.
"""

import json
from collections.abc import Mapping
from typing import Any

from kprof.errors import KprofError
from kprof.knobs import spellings
from kprof.tuning.formats.interface import ProblemResult, TunedResults, WrittenFile, device_of
from kprof.tuning.formats.mapping import OPTIONS, TILES, FormatKey, lost, operand_bytes, translate

KEYS = (
    *TILES,
    FormatKey("SPLIT_K", spellings("split"), optional=True),
    *OPTIONS,
    FormatKey("kpack", ("kpack",), optional=True),
)


class _Vllm:
    name = "vllm"

    def write(self, results: TunedResults) -> list[WrittenFile]:
        """Return a file for each shape, keyed by the number of rows.

        Raises:
            KprofError: if a problem has no M and N, no product was named, or a required knob is missing.
        """
        return [WrittenFile(name, text, notes) for name, text, notes in files(results, "vLLM")]


def files(results: TunedResults, form: str) -> list[tuple[str, str, tuple[str, ...]]]:
    """Return name, content and notes of each file. SGLang uses the same files."""
    device = device_of(results, form)
    groups: dict[str, list[ProblemResult]] = {}
    for one in results.tuned:
        groups.setdefault(_name(one.shape, device, form, results.kernel), []).append(one)
    found = []
    for name, group in groups.items():
        by_rows = {str(one.shape["M"]): one for one in sorted(group, key=lambda one: one.shape["M"])}
        content = {rows: translate(one.best, KEYS, results.keys, form, results.kernel) for rows, one in by_rows.items()}
        notes = list(lost(next(iter(by_rows.values())).best, KEYS, results.keys, form))
        if "E" in group[0].shape:
            notes.append(
                f"{form} looks up N after the activation, which is the last size of w2: half of gate and up together"
            )
        if len(by_rows) < len(group):
            notes.append(f"{name}: several problems have the same M; the configuration of the last one is written")
        found.append((name, json.dumps(content, indent=4) + "\n", tuple(notes)))
    return found


def _name(shape: Mapping[str, Any], device: str, form: str, kernel: str) -> str:
    wanted = ("E", "N") if "E" in shape else ("N", "K")
    if not all(isinstance(shape.get(name), int) for name in ("M", *wanted)):
        raise KprofError(f"{form} has files for experts (E, M, N) and matrix products (M, N, K), not for {kernel}")
    sizes = ",".join(f"{name}={shape[name]}" for name in wanted)
    kind = str(shape.get("dtype"))
    dtype = "" if operand_bytes(shape) != 1 else ",dtype=int8_w8a8" if kind in {"i8", "u8"} else ",dtype=fp8_w8a8"
    block = shape.get("block_shape") or (
        f"[{shape['group_n']},{shape['group_k']}]" if {"group_n", "group_k"} <= shape.keys() else ""
    )
    block = f",block_shape={str(block).replace(' ', '')}" if block else ""
    return f"{sizes},device_name={device}{dtype}{block}.json"


WRITER = _Vllm()
