"""A model's ``config.json``: its sizes, and the files that servers look for."""

from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from kprof.inputs.model_config import ModelConfig
from kprof.inputs.model_config import read as read_model
from kprof_servers.served.devices import served_gpu
from kprof_servers.served.examine import ServedModel, examine
from kprof_servers.served.registry import SERVERS
from kprof_servers.served.shapes import Split
from validation.fuzz.target import Target, check, put

_SPLITS = (Split(), Split(8, 2))


def read(data: bytes, folder: Path) -> None:
    """Sizes are positive, kinds of layers add up, and every server's files have such names and shapes."""
    model = read_model(put(folder, "config.json", data))
    check(
        same=all(size > 0 for size in _sizes(asdict(replace(model, problems=()), dict_factory=_known))), what="a size"
    )
    _check_layers(model)
    gpu = served_gpu("MI300X")
    for server in SERVERS.values():
        for split in _SPLITS:
            found = examine(ServedModel(model, server, gpu, split, model.weights, (1, 64)))
            for file in found.needed:
                check(same="\n" not in file.name and "/" not in file.name, what=f"a name: {file.name!r}")
                check(same=all(size > 0 for size in file.shape.values()), what=f"a shape: {file.shape}")
            check(same=not any("\n" in problem for problem in found.problems), what="a problem of several lines")


def _known(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    # Of these, none is a size: there may be no layers and no columns of that kind.
    return {key: value for key, value in pairs if key not in {"dense_layers", "layers", "shared"}}


def _sizes(value: Any) -> list[int]:
    if isinstance(value, dict):
        return [size for each in value.values() for size in _sizes(each)]
    if isinstance(value, tuple):
        return [size for each in value for size in _sizes(each)]
    return [value] if isinstance(value, int) and not isinstance(value, bool) else []


def _check_layers(model: ModelConfig) -> None:
    with_experts = 0 if model.experts is None else model.experts.layers
    if model.layers is not None and model.dense_layers is not None and with_experts is not None:
        what = f"layers: {model.dense_layers} and {with_experts} of {model.layers}"
        check(same=min(model.dense_layers, with_experts) >= 0, what=what)
        check(same=model.dense_layers + with_experts == model.layers, what=what)


TARGET = Target(
    read,
    files=("model_configs/*/config.json",),
    words=('"architectures": ["', '"hidden_size": ', '"num_hidden_layers": ', '"num_attention_heads": ', '"head_dim": ',
           '"num_experts": ', '"moe_intermediate_size": ', '"first_k_dense_replace": ', '"decoder_sparse_step": ',
           '"mlp_only_layers": [', '"moe_layers": [', '"quantization_config": {', '"quant_method": "fp8"',
           '"weight_block_size": [', '"kv_lora_rank": ', '"text_config": {', '"quant_method": "quark"', '"exclude": [',
           '"global_quant_config": {"weight": {"dtype": "fp4"}}', '"ignore": [', '"config_groups": {'),
)  # fmt: skip
