"""AITER's products: launched with its split of K, ranked over its own kernels, written as its loader asks."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

import kprof
from kprof.errors import KprofError
from kprof.importing.functions import load_function
from kprof_servers.served.aiter import AiterServer
from kprof_servers.served.aiter_launches import REDUCED, AiterProduct, product, with_split
from kprof_servers.served.document import NeededFile, PredictedConfig, RankedBatch
from kprof_servers.served.interface import LookupCall
from kprof_servers.served.kernel_source import cut
from kprof_servers.served.lookup import ServerCode, ask
from kprof_servers.served.proposals import contents, proposed
from kprof_servers.served.tuned_neighbours import read_all, votes
from kprof_servers.server_configs_text import ServerConfigsTextReporter

CONFIG = {"BLOCK_SIZE_M": 16, "BLOCK_SIZE_N": 32, "BLOCK_SIZE_K": 64, "GROUP_SIZE_M": 1, "num_warps": 4,
          "cache_modifier": ".cg", "NUM_KSPLIT": 1}  # fmt: skip
FOLDER = "aiter/ops/triton/configs/gemm"


@given(st.integers(1, 40_000), st.integers(1, 32), st.sampled_from([16, 32, 64, 128, 256, 512]))
def test_parts_of_k_are_whole_tiles_and_cover_it(k, parts, depth):
    """As the kernel needs it: no part is empty, each but the last has whole tiles, none is larger than its part."""
    full = with_split({**CONFIG, "NUM_KSPLIT": parts, "BLOCK_SIZE_K": depth}, k)
    part, count, tile = full["SPLITK_BLOCK_SIZE"], full["NUM_KSPLIT"], full["BLOCK_SIZE_K"]
    assert 1 <= count <= parts
    assert (count - 1) * part < k <= count * part or count == 1 or part < tile * 2
    assert tile <= depth
    assert tile & (tile - 1) == 0
    assert count == 1 or part % tile == 0


@pytest.mark.parametrize(
    ("config", "k", "expected"),
    [
        ((1, 128), 7168, (1, 7168, 128)),
        ((16, 128), 7168, (14, 512, 128)),
        ((16, 256), 512, (2, 256, 256)),
        ((1, 512), 300, (1, 300, 256)),
        ((4, 16), 8, (1, 8, 16)),
    ],
)
def test_the_split_is_aiter_s(config, k, expected):
    """Values that ``compute_splitk_params`` of e4048607a5 gave."""
    full = with_split({**CONFIG, "NUM_KSPLIT": config[0], "BLOCK_SIZE_K": config[1]}, k)
    assert (full["NUM_KSPLIT"], full["SPLITK_BLOCK_SIZE"], full["BLOCK_SIZE_K"]) == expected


NAMES = ("a_ptr", "b_ptr", "c_ptr", "a_scale_ptr", "b_scale_ptr", "M", "N", "K", "stride_ck", "NUM_KSPLIT",
         "SPLITK_BLOCK_SIZE", "GROUP_K", "stride_bscale_n", "cache_modifier")  # fmt: skip


def test_a_split_product_is_summed_by_a_second_launch():
    """Parts in FP32, one a layer of the intermediate result; the second launch has tiles of 32 x 32."""
    made = AiterProduct("GEMM-A8W8_BLOCKSCALE", 2112, 7168, "fp8_e4m3", 128, 128).launches(
        100, {**CONFIG, "BLOCK_SIZE_K": 128, "NUM_KSPLIT": 7}, NAMES, "gfx942"
    )
    main, total = made[""], made[REDUCED]
    assert main.grid == (7 * -(-100 // 16) * 2112 // 32,)
    assert (main.args["c_ptr"].dtype, main.args["c_ptr"].shape) == ("fp32", (7, 100, 2112))
    assert (main.args["a_ptr"].dtype, main.args["SPLITK_BLOCK_SIZE"], main.args["stride_ck"]) == (
        "fp8e4b8", 1024, 211_200
    )  # fmt: skip
    assert (main.args["b_scale_ptr"].shape, main.args["GROUP_K"], main.args["stride_bscale_n"]) == ((17, 56), 128, 56)
    assert total.grid == (4, 66)
    assert (total.args["ACTUAL_KSPLIT"], total.args["MAX_KSPLIT"]) == (7, 8)
    assert total.args["c_in_ptr"] == main.args["c_ptr"]


def test_what_aiter_would_not_launch():
    """Blocks of scales have one depth of a tile; a family or weights that are not known have no launch."""
    block = product("GEMM-A8W8_BLOCKSCALE", 512, 7168, "fp8-block", (128, 128))
    plain = product("GEMM-A16W16", 512, 7168, "bf16", None)
    assert "tiles of 128 elements of K" in (block.refusal(CONFIG) or "")
    assert block.refusal({**CONFIG, "BLOCK_SIZE_K": 128}) is None
    assert plain.refusal(CONFIG) is None
    assert (plain.element_bytes(), block.element_bytes(), plain.work(2)) == (2, 1, 2 * 2 * 512 * 7168)
    assert product("GEMM-A16W16", 512, 7168, "w4a16", None) is None
    with pytest.raises(KprofError, match="a configuration without BLOCK_SIZE_K"):
        with_split({"BLOCK_SIZE_M": 16}, 64)


def test_files_of_other_shapes_vote_by_their_bounds(tmp_path):
    """Old and new names; not the file for all shapes, no other family; ``any`` is for more rows, or for all."""
    own = json.dumps({"M_LEQ_8": CONFIG, "any": {**CONFIG, "BLOCK_SIZE_M": 64}})
    for name in ("gfx942-GEMM-A16W16-N=512-K=512.json", "gfx942-GEMM-A16W16.json", "gfx942-GEMM-A8W8-N=1-K=1.json",
                 "gfx942-GEMM-A16W16-N=512-K=4096.json"):  # fmt: skip
        (tmp_path / name).write_text(own)
    (tmp_path / "gfx950-GEMM-A16W16-N=64-K=64.json").write_text(json.dumps({"any": CONFIG}))
    (tmp_path / "gfx1250-GEMM-A16W16-N=64-K=64.json").write_text(json.dumps({"any": {"BLOCK_M": 64}}))
    found = read_all([tmp_path], "gfx942-GEMM-A16W16-N=512-K=4096.json")
    assert [(file.device, file.sizes, sorted(file.buckets)) for file in found] == [
        ("gfx942", (512, 512), [8, 16]), ("gfx950", (64, 64), [0])
    ]  # fmt: skip
    assert [weight for _, weight in votes(found[1:], (64, 64), 4096)] == [1.0]
    folder = tmp_path / "gfx950" / "triton" / "gemm" / "gemm_a16w16"
    folder.mkdir(parents=True)
    for size in (64, 128):
        (folder / f"GEMM-A16W16-N={size}-K=64.json").write_text(own)
    assert [(f.device, f.sizes) for f in read_all([folder], "GEMM-A16W16-N=64-K=64.json")] == [("gfx950", (128, 64))]


def ranked_file(kernel, *rows):
    """A missing file with a proposal for each number of rows, whose tile is as high as there are rows."""
    batches = [RankedBatch(n, best=PredictedConfig({**CONFIG, "BLOCK_SIZE_M": n}, 1.0, 1.0, 1.0)) for n in rows]
    return NeededFile(kernel=kernel, layer="x", shape={}, name="f.json", status="fallback", folder="c", ranked=batches)


def test_buckets_are_those_that_aiter_asks_for():
    """The next bound that it knows, the largest rows of a bound, and one for all above."""
    ((_, text), _) = contents([ranked_file("GEMM-A16W16", 1, 6, 7, 64, 9000)], "aiter")
    found = {name: config["BLOCK_SIZE_M"] for name, config in json.loads(text).items()}
    assert found == {"M_LEQ_1": 1, "M_LEQ_8": 7, "M_LEQ_64": 64, "any": 9000}
    assert list(json.loads(text)["any"])[-2:] == ["cache_modifier", "NUM_KSPLIT"]


def test_experts_have_three_sizes_and_all_of_them_are_needed():
    """AITER's loader reads each by its name."""
    whole, part = ranked_file("MoE", 8, 64, 512, 4096), ranked_file("MoE", 8, 512)
    ((_, text), _) = contents([whole], "aiter")
    found = {name: config["BLOCK_SIZE_M"] for name, config in json.loads(text).items()}
    assert found == {"small_M": 64, "medium_M": 512, "large_M": 4096}
    document = kprof_document(whole, part)
    assert proposed(document) == [whole]


def kprof_document(*files):
    """A document with nothing but files."""

    class Document:
        """Of a search."""

        needed = files

    return Document()


@pytest.mark.triton
def test_a_kernel_with_heuristics_is_cut_out(aiter_checkout):
    """What its decorators name comes along; arguments that its heuristics fill in are none of the launch's."""
    (name, kernel) = AiterServer.kernels["GEMM-A16W16"][0]
    function = load_function(cut(aiter_checkout, aiter_checkout / name, kernel), kernel)
    assert function.heuristics == ("EVEN_K",)
    assert "EVEN_K" in function.arguments


@pytest.mark.triton
def test_missing_files_of_aiter_are_ranked_and_read_back(aiter_checkout, tmp_path, model_folder):
    """From a model to files that the server's own lookup reads; both of K's ways are compiled."""
    found = kprof.server_configs(
        model_folder, server="aiter", arch="MI300X", batches=[1, 64], server_path=aiter_checkout, rank=True, jobs=1
    )
    files = [file for file in found.document.needed if not file.name.endswith(".csv")]
    assert {file.status for file in files} == {"fallback"}
    for file in files:
        assert not file.unranked
        assert [batch.rows for batch in file.ranked] == [1, 64]
        assert file.basis == "2 tuned files of the server for other shapes, gfx942"
        assert all(batch.runs is not None and batch.best is not None for batch in file.ranked)
    assert any(batch.best.config["NUM_KSPLIT"] > 1 for file in files for batch in file.ranked)
    text = ServerConfigsTextReporter(100).render(found.document)
    assert f"; {len(files)} replaced file" in text
    written = found.write(aiter_checkout)
    assert len(written) == len(files) + 2
    sizes = files[0].shape
    call = LookupCall(
        ("aiter/ops/triton/utils/gemm_config_utils.py",),
        "get_gemm_config",
        {"config_name": "GEMM-A16W16", "M": 40, "N": sizes["N"], "K": sizes["K"]},
    )
    (answer,) = ask(ServerCode(aiter_checkout, "x"), [call], device="gfx942", arch="gfx942", triton="3.6.0")
    assert answer.opened.endswith(files[0].name)
    assert answer.result[0] == {**files[0].ranked[1].best.config}


@pytest.mark.triton
def test_what_is_not_launched_is_not_ranked(aiter_checkout, model_folder):
    """An architecture without a file for all shapes, and one that has other kernels."""
    for arch, said in (("gfx1201", "only where it has a file for all shapes"), ("gfx1250", "launches Gluon's kernels")):
        found = kprof.server_configs(
            model_folder, server="aiter", arch=arch, batches=[8], server_path=aiter_checkout, rank=True, jobs=1
        )
        files = [file for file in found.document.needed if not file.name.endswith(".csv")]
        assert files
        assert all(said in file.unranked for file in files)
