"""Configurations of Hugging Face: sizes, and a message for each thing that is missing."""

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kprof.errors import InputError
from kprof.inputs.model_config import KNOWN, ExpertSizes, LatentSizes, read
from kprof.inputs.weight_format import WeightFormat, quantised

PUBLIC = Path(__file__).resolve().parents[1] / "artifacts" / "model_configs"


@pytest.mark.parametrize("folder", sorted(p.name for p in PUBLIC.iterdir() if p.is_dir()))
def test_public_models_are_known_whole(folder):
    """Nothing of them is missing, and layers with and without experts are all of them."""
    model = read(PUBLIC / folder)
    assert model.problems == ()
    assert model.architecture in KNOWN
    if model.experts is not None:
        assert model.dense_layers + model.experts.layers == model.layers


def test_deepseek_v3():
    """Sizes as its technical report has them."""
    model = read(PUBLIC / "deepseek-v3" / "config.json")
    assert (model.hidden, model.layers, model.heads, model.inner, model.dense_layers) == (7168, 61, 128, 18432, 3)
    assert model.experts == ExpertSizes(256, 8, 2048, 2048, 58)
    assert model.latent == LatentSizes(1536, 512, 128, 64, 128)
    assert model.weights == WeightFormat("fp8-block", block=(128, 128))


@pytest.mark.parametrize(
    ("folder", "experts"),
    [
        ("mixtral-8x7b-v0.1", ExpertSizes(8, 2, 14336, 0, 32)),
        ("gpt-oss-120b", ExpertSizes(128, 4, 2880, 0, 36)),
        ("llama-4-scout-17b-16e-instruct", ExpertSizes(16, 1, 8192, 8192, 48)),
        ("llama-4-maverick-17b-128e-instruct", ExpertSizes(128, 1, 8192, 8192, 24)),
        ("qwen3-30b-a3b", ExpertSizes(128, 8, 768, 0, 48)),
        ("kimi-k2-instruct", ExpertSizes(384, 8, 2048, 2048, 60)),
        ("glm-4.5-air", ExpertSizes(128, 8, 1408, 1408, 45)),
        ("qwen3-8b", None),
        ("gemma-3", None),
    ],
)
def test_experts(folder, experts):
    """Every family has its own keys for the same sizes."""
    assert read(PUBLIC / folder).experts == experts


@pytest.mark.parametrize("key", ["hidden_size", "num_attention_heads", "moe_intermediate_size", "kv_lora_rank"])
def test_each_missing_field_has_a_message(key, tmp_path):
    """And the rest is still read."""
    data = json.loads((PUBLIC / "deepseek-v3" / "config.json").read_text())
    del data[key]
    (tmp_path / "config.json").write_text(json.dumps(data))
    model = read(tmp_path)
    assert [problem for problem in model.problems if key in problem] == [f"{key} is missing"]
    assert model.layers == 61


def test_unknown_architecture(tmp_path):
    """It is said, and what can be read is."""
    data = json.loads((PUBLIC / "qwen3-8b" / "config.json").read_text()) | {"architectures": ["ElsewhereForCausalLM"]}
    (tmp_path / "config.json").write_text(json.dumps(data))
    model = read(tmp_path)
    assert len(model.problems) == 1
    assert "'ElsewhereForCausalLM'" in model.problems[0]
    assert model.hidden == 4096


@pytest.mark.parametrize(
    ("found", "weights"),
    [
        ({"quant_method": "fp8"}, WeightFormat("fp8")),
        ({"quant_method": "fp8", "weight_block_size": [128, 64]}, WeightFormat("fp8-block", block=(128, 64))),
        ({"quant_method": "gptq", "bits": 4, "group_size": 32}, WeightFormat("w4a16", group=32)),
        ({"quant_method": "mxfp4"}, WeightFormat("mxfp4")),
        (
            {
                "quant_method": "compressed-tensors",
                "config_groups": {"group_0": {"weights": {"num_bits": 4, "type": "int", "group_size": 32}}},
            },
            WeightFormat("w4a16", group=32),
        ),
    ],
)
def test_quantisation(found, weights, tmp_path):
    """Each tool writes it in its own way."""
    data = json.loads((PUBLIC / "qwen3-8b" / "config.json").read_text()) | {"quantization_config": found}
    (tmp_path / "config.json").write_text(json.dumps(data))
    assert read(tmp_path).weights == weights


def test_wrong_inputs(tmp_path):
    """One message with the file."""
    with pytest.raises(InputError, match=r"no config\.json in this folder"):
        read(tmp_path)
    (tmp_path / "config.json").write_text("[1, 2]")
    with pytest.raises(InputError, match="a model's configuration"):
        read(tmp_path)


_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=5,
)
_FULL = json.loads((PUBLIC / "deepseek-v3" / "config.json").read_text())


@given(st.dictionaries(st.sampled_from(sorted(_FULL)), _JSON, max_size=6))
def test_any_value_is_a_size_or_a_message(changes):
    """No traceback, whatever stands where a size should."""
    from kprof.inputs.model_config import _Reader

    data = _FULL | changes
    model = _Reader("config.json", data, data).read()
    sizes = (model.hidden, model.layers, model.heads, model.kv_heads, model.head)
    assert all(size is None or size >= 0 for size in sizes)


@pytest.mark.parametrize(
    ("changes", "layers"),
    [
        ({"decoder_sparse_step": 2}, 24),
        ({"mlp_only_layers": [0, 1, 2, [3]]}, 45),
        ({"first_k_dense_replace": -3}, 48),
        ({"decoder_sparse_step": 0}, None),
        ({"decoder_sparse_step": None}, None),
        ({"first_k_dense_replace": "3"}, None),
        ({"mlp_only_layers": 5}, None),
        ({"moe_layers": [1, 3, 5]}, 3),
        ({"moe_layers": [1, 1]}, None),
        ({"moe_layers": [47, 48]}, None),
        ({"mlp_only_layers": list(range(1 << 16))}, 0),
    ],
)
def test_layers_with_experts(changes, layers):
    """Of 48 layers; what makes no sense is not known, and long lists take no time."""
    from kprof.inputs.model_config import _Reader

    data = json.loads((PUBLIC / "qwen3-30b-a3b" / "config.json").read_text()) | changes
    model = _Reader("config.json", data, data).read()
    assert model.experts is not None
    assert model.experts.layers == layers
    assert [p.endswith("the number of layers with experts is unknown") for p in model.problems] == [True] * (
        layers is None
    )


@given(st.integers(1, 90), st.integers(-2, 95), st.integers(1, 7), st.lists(st.integers(-3, 95), max_size=8))
def test_layers_with_experts_one_by_one(layers, first, step, named):
    """As ``transformers`` decides for each layer: Qwen's rule by step and list, after DeepSeek's first dense ones."""
    from kprof.inputs.model_config import _Reader

    data = json.loads((PUBLIC / "qwen3-30b-a3b" / "config.json").read_text())
    data |= {"num_hidden_layers": layers, "first_k_dense_replace": first, "decoder_sparse_step": step}
    model = _Reader("config.json", data | {"mlp_only_layers": named}, data | {"mlp_only_layers": named}).read()
    expected = sum(layer >= first and layer not in named and (layer + 1) % step == 0 for layer in range(layers))
    assert (model.experts.layers, model.dense_layers) == (expected, layers - expected)


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        ({"num_attention_heads": 4096, "head_dim": None}, "num_attention_heads is 4,096, more than hidden_size, 2,048"),
        ({"hidden_size": "a\nb"}, "hidden_size is not a valid size: 'a\\nb'"),
        (
            {"quantization_config": {"quant_method": "fp8", "weight_block_size": [True, 128]}},
            "the block of weights that share a scale is not two sizes: fp8 without blocks is assumed",
        ),
        (
            {"quantization_config": {"quant_method": "gptq", "bits": 4, "group_size": 1 << 70}},
            "group_size is not a valid size: 1180591620717411303424",
        ),
    ],
)
def test_what_cannot_be_a_size_is_told(changes, problem, tmp_path):
    """In one line, and nothing is taken for another value in silence."""
    data = json.loads((PUBLIC / "qwen3-30b-a3b" / "config.json").read_text()) | changes
    (tmp_path / "config.json").write_text(json.dumps(data))
    assert read(tmp_path).problems == (problem,)


COMPRESSED = {"quant_method": "compressed-tensors"}
QUARK_FP4 = {"quant_method": "quark", "global_quant_config": {"weight": {"dtype": "fp4"}}}
TWO_STEPS = {"weight": [{"dtype": "fp8_e4m3"}, {"dtype": "int4"}]}
FOUR = {"num_bits": 4, "type": "float", "group_size": 16}
GROUP = {"weights": {"num_bits": 8, "type": "float"}, "input_activations": {}}


@pytest.mark.parametrize(
    ("found", "name", "problem"),
    [
        ({**COMPRESSED, "config_groups": {"group_0": {"weights": FOUR}}}, "compressed-tensors",
         "compressed-tensors, 4 bits of 'float', weights alone, is not known"),
        ({**COMPRESSED, "config_groups": {}}, "compressed-tensors", "without a group of weights"),
        ({**COMPRESSED, "config_groups": {"a": GROUP, "b": {"weights": FOUR}}}, "fp8",
         "quantised in 2 ways"),
        ({"quant_method": "fp8", "modules_to_not_convert": ["model.layers.0.self_attn.o_proj", "lm_head"]}, "fp8",
         "1 exception, for example 'model.layers.0.self_attn.o_proj'"),
        ({"quant_method": "fp8", "modules_to_not_convert": ["model.layers.0.mlp.gate", "lm_head",
          "model.layers.1.mlp.shared_expert_gate", "model.layers.0.input_layernorm"]}, "fp8", ""),
        ({"quant_method": "mxfp4", "modules_to_not_convert": ["model.layers.*.self_attn", "lm_head"]}, "mxfp4", ""),
        ({**QUARK_FP4, "exclude": ["lm_head"]}, "mxfp4", ""),
        ({"quant_method": "quark", "global_quant_config": {}, "layer_quant_config": {
            "*.experts": {"weight": {"dtype": "fp4"}}}}, "mxfp4", ""),
        ({**QUARK_FP4, "exclude": ["*self_attn*"]}, "mxfp4",
         "1 exception, for example '*self_attn*'"),
        ({"quant_method": "quark", "global_quant_config": TWO_STEPS}, "quark",
         "quark, None is not known"),
        ({"quant_method": "quark", "global_quant_config": {"weight": {"dtype": "fp8_e4m3"}}, "layer_quant_config": {
            "*.mlp.*": {"weight": {"dtype": "fp4"}}}}, "fp8", "layer_quant_config has layers"),
    ],
)  # fmt: skip
def test_what_is_quantised_in_another_way_is_said(found, name, problem):
    """Four bits of a float are no integers, two steps no single type, and what is left out is no product."""
    chosen, problems = quantised(found)
    assert chosen.name == name
    assert [problem in said for said in problems] == ([True] if problem else [])


def test_quark_tells_experts_from_all_products():
    """Where only layers with experts have a quantisation, the others are as they were."""
    every, _ = quantised(QUARK_FP4)
    experts = {"*.experts.*": {"weight": {"dtype": "fp4"}}}
    some, _ = quantised({"quant_method": "quark", "global_quant_config": None, "layer_quant_config": experts})
    assert (every.everywhere, some.everywhere) == (True, False)
