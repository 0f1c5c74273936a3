"""Kernels are grouped by name and by what launched them; users' rules come first."""

import pytest

from kprof.errors import KprofError
from kprof.inputs.torch_profiler import load
from kprof_analyzers.profiles.timeline.breakdown import breakdown
from kprof_analyzers.profiles.timeline.categories import load_categories


@pytest.mark.parametrize(
    ("kernel", "category"),
    [
        ("ncclDevKernel_Generic(ncclDevComm*, channelMasks, ncclWork*)", "communication"),
        ("void vllm::cross_device_reduce_1stage<__hip_bfloat16, 8>", "communication"),
        ("attn_fwd", "attention"),
        ("aiter::fmha_fwd_hd128_bf16_rtz", "attention"),
        ("kernel_unified_attention_2d", "attention"),
        ("Cijk_Alik_Bljk_BBS_BH_Bias_HA_S_SAV_UserArgs_MT256x192x64", "GEMM"),
        ("ampere_bf16_s16816gemm_bf16_128x128_ldg8_f2f_stages_32x5_tn", "GEMM"),
        ("igemm_fwd_gtcx3_nhwc_bf16", "convolution"),
        ("void at::native::(anonymous namespace)::vectorized_layer_norm_kernel<c10::BFloat16, float>", "normalization"),
        ("triton_red_fused_add_mean_mul_pow_rsqrt_0", "normalization"),
        ("void at::native::vectorized_elementwise_kernel<4, at::native::GeluCUDAKernelImpl>", "activation"),
        ("void at::native::vectorized_elementwise_kernel<4, at::native::CUDAFunctor_add<float>>", "elementwise"),
        ("void at::native::reduce_kernel<512, 1, at::native::ReduceOp<float>>", "reduction"),
        ("__amd_rocclr_copyBuffer", "memory"),
        ("void vllm::rotary_embedding_kernel<c10::BFloat16, true>", "RoPE"),
        ("void at::native::(anonymous namespace)::indexSelectLargeIndex<float>", "embedding"),
        ("sage_fwd", "attention"),
        ("cudnn::fusion::compute_dot_do_o_specialized<true, ...>", "attention"),
        ("cudnn::fusion::convert_dq_to_16bits<true, ...>", "attention"),
        ("cudnn::cnn::conv2d_grouped_direct_kernel<...>", "convolution"),
        ("upsample_nearest2d_out_frame", "resampling"),
        ("top_k_top_p_sampling_from_probs", "sampling"),
        ("_matmul_ogs_NNT_bf16xbf16xmxfp4_16x128x256x1_swiglu", "MoE"),
        ("softmax_kernel", "softmax"),
        ("something_never_seen", "other"),
    ],
)
def test_by_name(kernel, category):
    """The names that PyTorch, AITER, vLLM, hipBLASLt, MIOpen and Inductor give."""
    assert load_categories().of_name(kernel) == category


def test_gemms_are_told_apart_by_their_modules(tmp_path, kineto):
    """The same GEMM kernel family in attention and in the MLP."""
    trace = load(kineto.small_model(kineto.Builder()).write(tmp_path / "t.json"))
    found = {r.category: (r.total_ns, r.count) for r in breakdown(trace, load_categories()).categories}

    assert found == {
        "MLP GEMM": (60_000, 2),
        "attention": (40_000, 2),
        "attention GEMM": (20_000, 2),
        "communication": (16_000, 2),
        "normalization": (8_000, 2),
    }


def test_own_rules_win_and_may_use_shipped_patterns(tmp_path):
    """A file adds a category, a pattern, and redefines one."""
    path = tmp_path / "own.toml"
    path.write_text(
        '[patterns]\nmine = ["my_.*_kernel"]\n'
        '[[category]]\nname = "ours"\nkernel = ["@mine", "^special$"]\n'
        '[[category]]\nname = "matrix"\nkernel = "@gemm"\n'
    )
    rules = load_categories(path)

    assert rules.of_name("my_fast_kernel") == rules.of_name("special") == "ours"
    assert rules.of_name("Cijk_Alik") == "matrix"
    assert rules.of_name("attn_fwd") == "attention"
    assert rules.names()[:2] == ["ours", "matrix"]
    assert rules.names()[-1] == "other"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("not toml at all [", "not valid TOML"),
        ("[[category]]\nkernel = ['a']", "needs a name"),
        ("[[category]]\nname = 'x'", "is empty"),
        ("[[category]]\nname = 'x'\nkernl = ['a']", "unknown keys: kernl"),
        ("[[category]]\nname = 'x'\nkernel = ['(']", "not a regular expression"),
        ("[[category]]\nname = 'x'\nkernel = ['@nowhere']", "no pattern 'nowhere'"),
        ("[[category]]\nname = 'x'\nkernel = [3]", "patterns are texts"),
        ("category = 3", "written as"),
        ("patterns = 3", "table of lists"),
    ],
)
def test_a_wrong_rule_file_is_one_message(tmp_path, text, message):
    """With the file and, where there is one, the rule's number."""
    path = tmp_path / "own.toml"
    path.write_text(text)

    with pytest.raises(KprofError, match=message) as caught:
        load_categories(path)

    assert caught.value.path == str(path)


def test_a_missing_rule_file_is_named(tmp_path):
    """As given by the user."""
    with pytest.raises(KprofError, match="no such file"):
        load_categories(tmp_path / "nowhere.toml")
