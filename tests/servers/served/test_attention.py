"""AITER's attention: how it is launched, one configuration for all rows, and the table that is written."""

import json

import pytest

from kprof.errors import KprofError
from kprof.kernel_spec import Tensor
from kprof.tuning.evaluation import Evaluation
from kprof_servers.served.aiter_attention import chosen, tables
from kprof_servers.served.attention_launches import CONTEXT, ExtendAttention, LatentDecoding, PromptAttention
from kprof_servers.served.choosing import for_all_rows, in_table
from kprof_servers.served.devices import served_gpu
from kprof_servers.served.document import NeededFile, PredictedConfig, RankedBatch
from kprof_servers.served.lookup import ServerCode
from kprof_servers.served.proposals import contents
from kprof_servers.served.shapes import AttentionShape

PLAIN = AttentionShape(32, 128, latent=False, layers=36, kv_heads=8, value=128)
LATENT = AttentionShape(16, 192, latent=True, layers=61, kv_heads=16, value=128, rank=512, rope=64)
NAME = "gfx1201-MHA-DEFAULT.json"

UNIFIED = """
import triton

from aiter.ops.triton._triton_kernels.flash_attn_triton_amd.utils import get_arch

def use_2d_kernel(head_size, all_decode, max_seqlen_k, target_num_prgms, num_2d_prgms):
    return (not all_decode and not get_arch().is_rdna) or num_2d_prgms > target_num_prgms

def select_2d_config(head_size, num_queries_per_kv, max_seqlen_q):
    return {"BLOCK_M": triton.next_power_of_2(num_queries_per_kv), "num_warps": 2 if max_seqlen_q < 256 else 4}

def select_3d_config(head_size, block_size):
    return {"TILE_SIZE": block_size, "num_warps": 8 if get_arch().name == "gfx1201" else 2}, {"num_warps": 1}
"""


def scored(us, **config):
    """A program; the range is of no matter."""
    return Evaluation(config, time_us=us, low_us=us, high_us=us, codes=(str(config),))


class FakeSearch:
    """What of a search result is looked at."""

    def __init__(self, ranked, own):
        self.ranked, self.own = ranked, own


def test_a_table_for_each_kind_of_attention():
    """Latent keys have a decoding kernel of their own; the size of a value's head decides an entry."""
    assert [each.name for each in tables(PLAIN)] == ["{arch}-MHA-DEFAULT.json", "{arch}-EXTEND_ATTENTION.json"]
    latent = tables(LATENT)
    assert [each.name for each in latent] == ["{arch}-MHA-DEFAULT.json", "{arch}-MLA_DECODE_ROPE-DEFAULT.json"]
    assert latent[0].calls[0].options == {
        "enable_dropout": False, "dtype": "bfloat16", "has_pe": True, "head_dim_v": 128,
    }  # fmt: skip
    assert tables(None) == []


def test_decoding_is_launched_by_sequences_and_parts():
    """A workgroup for each group of heads, sequence and part; all keys of a sequence are between two pointers."""
    launch = LatentDecoding(16, 16, 192, 128, rank=512, rope=64)
    names = ["Q", "K_Buffer", "kv_indptr", "BLOCK_N", "BLOCK_H", "batch"]
    made = launch.launches(4, {"BLOCK_N": 32, "BLOCK_H": 16}, names, "gfx942")
    first, second = made[""], made["stage2"]
    assert (first.grid, second.grid) == ((4 * 8,), (4 * 16,))
    assert first.args["kv_indptr"].values == tuple(CONTEXT * place for place in range(5))
    assert first.args["K_Buffer"] == Tensor("bf16", (4 * CONTEXT, 1, 576))
    assert (launch.supports_rows(256), launch.supports_rows(257)) == (True, False)


def test_prompts_are_causal_and_extending_reads_what_is_there():
    """Grids by tiles of rows and heads; half of the products are masked where nothing is before them."""
    prompts = PromptAttention(32, 8, 128, 128)
    made = prompts.launches(
        500, {"BLOCK_M": 128, "BLOCK_N": 64, "PRELOAD_V": False}, ["IS_CAUSAL", "BLOCK_M"], "gfx942"
    )
    assert (made[""].grid, made[""].args) == ((32 * 4,), {"IS_CAUSAL": True, "BLOCK_M": 128})
    assert prompts.work(1000) == 2 * 2 * 1000 * 1000 * 32 * 128 / 2
    extending = ExtendAttention(32, 8, 192, 128)
    made = extending.launches(500, {"BLOCK_M": 64, "BLOCK_N": 64}, ["BLOCK_DMODEL", "BLOCK_DPE", "K_Buffer"], "gfx942")
    assert made[""].grid == (32 * 8,)
    assert made[""].args == {"BLOCK_DMODEL": 128, "BLOCK_DPE": 64, "K_Buffer": Tensor("bf16", (CONTEXT, 8, 192))}
    with pytest.raises(KprofError, match="the unknown parameter NEW"):
        extending.launches(500, {"BLOCK_M": 64, "BLOCK_N": 64}, ["NEW"], "gfx942")


def test_one_configuration_for_all_rows_is_the_fastest_over_all_of_them():
    """Neither batch's own best where it is slow for the other."""
    ranked = [RankedBatch(1), RankedBatch(8)]
    found = FakeSearch(
        [
            [scored(10, M=1), scored(11, M=2), scored(30, M=3)],
            [scored(40, M=1), scored(20, M=2), scored(19, M=3)],
        ],
        [scored(11, M=2), None],
    )
    both = for_all_rows(ranked, found)
    assert [batch.best.config for batch in both] == [{"M": 2}] * 2
    assert [batch.tie for batch in both] == [True, False]
    assert [one.config["M"] for one in both[0].runners_up] == [1, 3]
    apart = FakeSearch([[scored(1, M=1)], [scored(1, M=2)]], [None, None])
    assert for_all_rows(ranked, apart) == ranked


def test_a_table_that_is_not_there_has_all_else_of_the_nearest_architecture(tmp_path):
    """One entry is the proposal; the others, and what is no compiler option, are those of the other table."""
    folder = tmp_path / "configs"
    folder.mkdir()
    other = {
        "fwd": {"default": {"BLOCK_M": 64, "PRELOAD_V": True, "num_warps": 8, "num_stages": 3}, "pe": {"BLOCK_M": 1}}
    }
    (folder / "gfx1151-MHA-DEFAULT.json").write_text(json.dumps(other))
    (folder / "gfx942-MHA-DEFAULT.json").write_text(json.dumps({"fwd": {}}))
    file = NeededFile("attention, prompts", "attention", {"heads": 8}, NAME, "none", folder="configs")
    best = PredictedConfig({"BLOCK_M": 32, "num_warps": 4}, 1.0, 1.0, 1.0)
    done = in_table(
        file, ("fwd", "default"), [RankedBatch(512, 1, best=best), RankedBatch(4096, 1, best=best)], tmp_path
    )
    assert done.rest_of == "gfx1151-MHA-DEFAULT.json"
    written = json.loads(dict(contents([done], "aiter"))["configs/" + NAME])
    assert written == {"fwd": {"default": {"BLOCK_M": 32, "PRELOAD_V": True, "num_warps": 4}, "pe": {"BLOCK_M": 1}}}


@pytest.mark.parametrize("text", ["[1]", "{", "\x00"])
def test_a_damaged_table_of_another_architecture_is_none(tmp_path, text):
    """Nothing is written then, and nothing fails."""
    (tmp_path / "gfx1151-MHA-DEFAULT.json").write_text(text)
    file = NeededFile("attention, prompts", "attention", {"heads": 8}, NAME, "none", folder=".")
    assert in_table(file, ("fwd",), [RankedBatch(512)], tmp_path).rest == {}


def test_what_the_unified_attention_chooses_is_read_from_its_functions(tmp_path):
    """By rows and GPU; a checkout without them has nothing to say."""
    gpu = served_gpu("MI300X")
    assert chosen(ServerCode(tmp_path, ""), PLAIN, gpu, (1,)) == []
    file = tmp_path / "aiter/ops/triton/attention/unified_attention.py"
    file.parent.mkdir(parents=True)
    file.write_text(UNIFIED)
    said = chosen(ServerCode(tmp_path, ""), PLAIN, gpu, (1, 8, 4096))
    assert [each.partition(" (")[0] for each in said] == [
        "AITER's unified attention, 1, 8 rows: kernel_unified_attention_3d has TILE_SIZE 16, num_warps 2",
        "AITER's unified attention, 4,096 rows: kernel_unified_attention_2d has BLOCK_M 4, num_warps 4",
    ]
    radeon = chosen(ServerCode(tmp_path, ""), PLAIN, served_gpu("gfx1201"), (1,))
    assert "1 row: kernel_unified_attention_3d has TILE_SIZE 16, num_warps 8" in radeon[0]
    assert chosen(ServerCode(tmp_path, ""), LATENT, gpu, (1,)) == []
