"""What the attention kernels promise of their machine code, looked up in it. No GPU is needed."""

from collections.abc import Callable

import pytest

from kprof.document import KernelReport, LoopFacts
from kprof.kernel_spec import Kernel
from kprof.targets.library import catalogue

Analyse = Callable[..., KernelReport]

# One case for each size of head and each kind of tile, beside the defaults that every kernel is compiled for.
CASES = [
    ("attention_forward_backward", "d256_s4096"),
    ("attention_forward_backward::backward_queries", "d256_s4096"),
    ("attention_forward_backward::backward_keys", "d256_s4096"),
    ("attention_forward_backward::backward_keys", "s4096_d64"),
    ("attention_forward_backward::backward_keys", "llama_gqa"),
    ("attention_lean", "s4096_d64"),
    ("attention_lean", "gqa_bf16"),
    ("attention_transposed_v", "s4096_d64"),
    ("attention_transposed_v", "d256_s4096"),
    ("attention_transposed_v", "llama_gqa"),
    ("attention_varlen", "padded_d80"),
    ("attention_varlen", "d256_s4096"),
    ("attention_varlen", "bias"),
    ("attention_varlen", "alibi"),
    ("attention_persistent", "s1024_d64"),
    ("attention_persistent", "d256_s4096"),
    ("attention_persistent", "llama_gqa"),
    ("attention_int8", "qkpv_s4096_d128"),
    ("attention_int8", "kv_s4096_d128"),
    ("attention_int8", "d256_s4096"),
    ("attention_fp8", "s4096_d64"),
    ("attention_fp8", "d256_s4096"),
    ("flash_decoding", "d256"),
    ("flash_decoding", "mqa_n16384"),
    ("flash_decoding_int4", "d256"),
    ("flash_decoding_int4", "mqa_n16384"),
    ("flash_decoding_int4", "llama8b_b64"),
    ("mla_decode", "published"),
    ("mla_decode", "chunk"),
]


def hot_loops(report: KernelReport) -> list[LoopFacts]:
    """The innermost loops with matrix instructions, in program order."""
    return [loop for loop in report.loops if loop.innermost and loop.matrix]


def count(loop: LoopFacts, start: str) -> int:
    """Instructions of a loop whose mnemonic begins so."""
    return sum(n for mnemonic, n in loop.instructions.items() if mnemonic.startswith(start))


@pytest.mark.triton
@pytest.mark.slow
@pytest.mark.parametrize(("name", "case"), CASES)
def test_case_does_not_spill_in_loops(name: str, case: str, analyse: Analyse) -> None:
    """On gfx942 the configuration that a case gets by default keeps every loop free of spills, and fits LDS."""
    report = analyse(name, "gfx942", None, case)

    # As the kernels' notes say.
    spilling = {
        ("3.4", "mla_decode", "chunk"),
        ("3.8", "flash_attention", "s4096_d128"),
        ("3.8", "attention_varlen", "bias"),
        # One register is spilled in the masked loop, which has one iteration.
        ("3.9", "attention_int8", "qkpv_s4096_d128"),
    }
    if (report.triton[:3], name, case) not in spilling:
        assert {loop.header: loop.spill_accesses for loop in report.loops if loop.spill_accesses} == {}
    assert report.resources.lds_bytes <= report.resources.lds_limit_bytes
    assert hot_loops(report)


@pytest.mark.triton
def test_cases_are_of_every_attention_kernel() -> None:
    """The list above leaves no attention kernel out."""
    names = {e.name for e in catalogue() if e.name.startswith(("attention_", "flash_decoding", "mla_"))}

    assert {name.partition("::")[0] for name, _ in CASES} == names


@pytest.mark.triton
@pytest.mark.parametrize(
    ("form", "integer", "floating"), [("qkv", True, True), ("qkpv", True, False), ("kv", False, True)]
)
def test_int8_forms_use_the_products_they_say(form: str, integer: bool, floating: bool, analyse: Analyse) -> None:
    """QK in INT8 and PV in fp16, both in INT8, or both in fp16."""
    report = analyse("attention_int8", "gfx942", None, f"{form}_s4096_d64")

    for loop in hot_loops(report):
        assert bool(count(loop, "v_mfma_i32")) == integer
        assert bool(count(loop, "v_mfma_f32")) == floating


@pytest.mark.triton("3.6.", "3.7.", "3.8.", "3.9.")
@pytest.mark.parametrize("arch", ["gfx942", "gfx950"])
def test_both_products_of_fp8_attention_are_in_8_bits(arch: str, analyse: Analyse) -> None:
    """No matrix instruction of another type, and weights are converted two or four at a time."""
    for loop in hot_loops(analyse("attention_fp8", arch)):
        products = [name for name in loop.instructions if name.startswith("v_mfma")]
        assert products
        assert all("fp8" in name or "f8f6f4" in name for name in products), products
        assert count(loop, "v_cvt_pk_fp8") or count(loop, "v_cvt_scalef32_pk_fp8")


@pytest.mark.triton
def test_dropout_moves_no_words_between_lanes(analyse: Analyse) -> None:
    """Words of Philox are made where the weights lie: dropout adds no access to LDS."""
    config = {"BLOCK_N": 32, "num_stages": 1, "matrix_instr_nonkdim": 0}
    plain = hot_loops(analyse("flash_attention", "gfx942", config))[0]
    dropout = hot_loops(analyse("flash_attention", "gfx942", config, "dropout"))[0]

    assert count(dropout, "v_mul_hi_u32") > 0
    assert count(dropout, "ds_") == count(plain, "ds_")


@pytest.mark.triton
def test_backward_by_keys_draws_no_word_twice(analyse: Analyse) -> None:
    """Its tiles are transposed, so a lane lacks the four keys of a counter: the mask moves, no word is made again."""
    for loop in hot_loops(analyse("attention_forward_backward::backward_keys", "gfx942", None, "dropout")):
        # 10 rounds with two wide multiplications each make the words of four weights; a weight is one exponential.
        assert 0 < count(loop, "v_mul_hi_u32") <= 20 / 4 * count(loop, "v_exp_f32")


@pytest.mark.triton
def test_transposed_values_are_not_turned(analyse: Analyse) -> None:
    """On gfx942 the usual layout costs byte permutes in the loop; stored transposed it costs none."""
    turned = analyse("attention_persistent", "gfx942", None, "full")
    stored = analyse("attention_transposed_v", "gfx942", None, "full")

    assert all(count(loop, "v_perm_b32") for loop in hot_loops(turned))
    assert not any(count(loop, "v_perm_b32") for loop in hot_loops(stored))


@pytest.mark.triton
def test_whole_blocks_need_no_masks(analyse: Analyse) -> None:
    """The loop over whole blocks compares a dozen times less than the one with masks."""
    whole, masked = hot_loops(analyse("attention_varlen", "gfx942"))

    assert 4 * count(whole, "v_cmp") < count(masked, "v_cmp")


@pytest.mark.triton
def test_flags_that_are_off_cost_nothing(analyse: Analyse) -> None:
    """ALiBi turns distances into floats in the loop over whole blocks; without it nothing of that is left."""
    plain = hot_loops(analyse("attention_varlen", "gfx942"))[0]
    alibi = hot_loops(analyse("attention_varlen", "gfx942", None, "alibi"))[0]

    assert count(plain, "v_cvt_f32_i32") == 0
    assert count(alibi, "v_cvt_f32_i32") > 0


@pytest.mark.triton
def test_int4_cache_is_read_once(analyse: Analyse) -> None:
    """A wave reads just the bytes of its tile: 32 tokens, K and V, 64 bytes and two pairs of scales each."""
    (loop,) = hot_loops(analyse("flash_decoding_int4", "gfx942", {"BLOCK_N": 32, "num_warps": 1}))

    assert loop.bytes_per_wave["global_load"] == 32 * 2 * (64 + 2 * 2 * 2)


@pytest.mark.triton
def test_latents_are_read_once(analyse: Analyse) -> None:
    """Keys and values are one tile of latents: four waves share 32 tokens of 512 + 64 elements in 16 bits."""
    report = analyse("mla_decode", "gfx942", {"BLOCK_N": 32, "num_warps": 4})
    (attend,) = hot_loops(report)

    assert count(attend, "v_exp_f32")
    assert attend.bytes_per_wave["global_load"] == 32 * (512 + 64) * 2 / 4


@pytest.mark.triton
@pytest.mark.parametrize(("arch", "units"), [("gfx90a", 104), ("gfx942", 304), ("gfx950", 256), ("gfx1201", 64)])
def test_persistent_grid_is_what_the_gpu_holds(arch: str, units: int, kernel_of: Callable[[str], Kernel]) -> None:
    """As many workgroups as the config says are resident, never more than tiles, whole rounds of XCDs."""
    kernel = kernel_of("attention_persistent")
    for case in kernel.shapes:
        shape = kernel.problem(arch, case)
        config = kernel.configure(arch, None, shape)
        launch = kernel.launch(shape, config)
        tiles = shape["B"] * shape["H"] * -(-shape["SQ"] // config["BLOCK_M"])

        assert launch.grid == (min(tiles, units * config["WORKGROUPS_PER_CU"]),)
        assert launch.grid[0] % launch.args["XCDS"] == 0


@pytest.mark.triton
def test_persistent_workgroups_are_resident(analyse: Analyse, kernel_of: Callable[[str], Kernel]) -> None:
    """On gfx942 a CU really holds the workgroups that the grid counts on."""
    kernel = kernel_of("attention_persistent")
    for case in ("s2048_d128", "s1024_d64", "d256_s4096"):
        config = kernel.configure("gfx942", None, kernel.problem("gfx942", case))

        report = analyse("attention_persistent", "gfx942", None, case)

        assert report.occupancy.workgroups_per_cu >= config["WORKGROUPS_PER_CU"], case
