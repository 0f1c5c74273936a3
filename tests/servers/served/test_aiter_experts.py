"""AITER's tables of experts: tokens, keys, and what a line is not read for; attention's tables and constants."""

import pytest

import kprof
from kprof.errors import KprofError
from kprof.inputs.weight_format import WeightFormat
from kprof_servers.served.aiter_experts import experts_table, tier
from kprof_servers.served.attention_constants import LAUNCHERS, constants
from kprof_servers.served.devices import served_gpu
from kprof_servers.served.shapes import ExpertShape

HEAD = ("gfx,cu_num,token,model_dim,inter_dim,expert,topk,act_type,dtype,q_dtype_a,q_dtype_w,q_type,use_g1u1,"
        "doweight_stage1,kernelName1,kernelName2,us,_tag")  # fmt: skip
EXPERTS = ExpertShape(256, 256, 7168, 8, 58, everywhere=256)
BLOCK = WeightFormat("fp8-block", block=(128, 128))


def line(tokens, *, gfx="gfx942", units=304, experts=256, topk=8, kind="torch.float8_e4m3fnuz", tag="", us="10.5"):
    """A line of DeepSeek's experts on an MI300X."""
    return (
        f"{gfx},{units},{tokens},7168,256,{experts},{topk},ActivationType.Silu,torch.bfloat16,{kind},{kind},"
        f"QuantType.per_1x128,1,0,_ZN5aiter4fmoe,moe_ck2stages_gemm2,{us},{tag}"
    )


@pytest.fixture
def table(tmp_path):
    """``table(lines)`` writes the first file, ``table(lines, name)`` one of a model."""

    def write(lines, name="tuned_fmoe.csv"):
        path = tmp_path / "aiter" / "configs" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("\n".join([HEAD, *lines]) + "\n")
        return tmp_path

    return write


def looked_up(root, batches=(1, 8, 60), gpu="MI300X", **options):
    """The one file that the table is."""
    (found,) = experts_table(EXPERTS, BLOCK, served_gpu(gpu), root, batches, **options)
    return found


@pytest.mark.parametrize(
    ("tokens", "asked"),
    [(1, 1), (5, 8), (4096, 4096), (32767, 32768), (32768, 32768), (100_000, 32768), (200_000, 131072)],
)
def test_tokens_are_rounded_as_aiter_does(tokens, asked):
    """``get_padded_M`` of e4048607a5."""
    assert tier(tokens) == asked


def test_lines_are_found_by_all_that_they_are_keyed_by(table):
    """The first line of a key counts; another GPU, type, number of experts or a FlyDSL fallback is another key."""
    others = [
        line(64, tag="flydsl_fallback"),
        line(64, gfx="gfx950", units=256),
        line(64, experts=128),
        line(64, kind="torch.float8_e4m3fn"),
    ]
    root = table([line(1, us="11.0"), line(1, us="99.0"), line(8, gfx=""), *others])
    found = looked_up(root)
    assert (found.status, found.opened) == ("fallback", "aiter/configs/tuned_fmoe.csv")
    assert [(batch.rows, batch.bucket) for batch in found.batches] == [(1, 1), (8, 8), (60, None)]
    assert found.notes == [
        "its kernels are CK and assembly: kprof ranks only Triton's",
        "measured by its tuner, by tokens: 1: 11.0 µs, 8: 10.5 µs",
        "no line for 60 rows: AITER's heuristics choose",
    ]


def test_a_model_s_file_and_a_large_prompt(table):
    """Files of models are read too, those of untuned shapes are not; the largest tier takes a smaller one instead."""
    table([line(32768)], "model_configs/a_tuned_fmoe_b.csv")
    root = table([line(1)], "model_configs/a_untuned_fmoe_b.csv")
    found = looked_up(root, (1, 150_000))
    assert [(batch.rows, batch.bucket) for batch in found.batches] == [(1, None), (150_000, 32768)]


def test_a_shared_expert_may_be_one_more(table):
    """Then the server asks with one expert and one choice more, which is said."""
    root = table([line(1, experts=257, topk=9)])
    assert looked_up(root).notes == []
    assert looked_up(root, shared=True).notes == [
        "with the shared expert fused, E 257 and topk 9 are looked up: 1 line is there"
    ]
    assert looked_up(root).status == "default"
    assert experts_table(EXPERTS, WeightFormat("w2"), served_gpu("MI300X"), root, (1,)) == []


def test_what_is_no_table(table):
    """The file and what is missing in it."""
    root = table([])
    (root / "aiter/configs/tuned_fmoe.csv").write_text("cu_num,token,expert\n")
    with pytest.raises(
        KprofError, match="is no table of experts: inter_dim, model_dim, q_dtype_w, q_type, topk is missing"
    ):
        looked_up(root)


ATTENTION = """
from aiter.ops.triton.utils._triton import arch_info
import json


def _get_config(HEAD_SIZE, dtype):
    with open(f"{__file__}/../../../configs/{arch_info.get_arch()}-EXTEND_ATTENTION.json".replace("//", "/")) as file:
        return json.load(file)["default"]
"""


def test_attention_s_tables_are_asked_for_where_the_version_has_them(aiter_checkout, model_folder):
    """A version without the function has no such file, and is no other version for that."""
    before = kprof.server_configs(model_folder, server="aiter", arch="MI300X", server_path=aiter_checkout).document
    assert not any(file.layer == "attention" for file in before.needed)
    place = aiter_checkout / "aiter/ops/triton/_triton_kernels/attention/extend_attention.py"
    place.parent.mkdir(parents=True)
    place.write_text(ATTENTION)
    found = kprof.server_configs(model_folder, server="aiter", arch="MI300X", server_path=aiter_checkout).document
    (file,) = (file for file in found.needed if file.layer == "attention")
    assert (file.kernel, file.status) == ("attention, extending", "none")
    assert file.name == "gfx942-EXTEND_ATTENTION.json"
    assert file.shape == {"heads": 8, "head": 128}
    assert found.problems == before.problems


LAUNCHER = """
def _decode_att_m_fwd(q, rows):
    BLOCK = 64
    num_warps = 4
    if rows != 1:
        num_warps = 1 if is_hip_ else 2
    if is_hip_:
        BLOCK = 8
        extra_kargs = {"waves_per_eu": 1, "kpack": 2}
    if not is_hip_:
        BLOCK = 16
    if is_hip_ and rows > 5:
        BLOCK = 32
"""


def test_constants_for_amd_gpus_are_read_from_the_code(tmp_path):
    """Those under a plain question for the GPU; others depend on more, or are another maker's."""
    (tmp_path / "decode.py").write_text(LAUNCHER)
    places = [("decode.py", function) for function in LAUNCHERS]
    (said,) = constants(tmp_path, places)
    assert "_decode_att_m_fwd in decode.py has BLOCK 8, waves_per_eu 1, kpack 2 for every shape" in said
    assert constants(tmp_path, [("gone.py", "f")]) == []
