"""Lookups by a server's own code, on checkouts that cannot be imported."""

import json
import subprocess
from pathlib import Path

import pytest

import kprof
from kprof_servers.served.lookup import server_code
from kprof_servers.served.registry import SERVERS, server_of

PUBLIC = Path(__file__).resolve().parents[2] / "artifacts" / "model_configs"
MIXTRAL = PUBLIC / "mixtral-8x7b-v0.1"
DEEPSEEK = PUBLIC / "deepseek-v3"


def asked(model, checkout, arch="MI300X", server="vllm", **options):
    return kprof.server_configs(model, server=server, arch=arch, tp=8, server_path=checkout, **options).document


def test_a_file_that_is_there(checkout):
    """By the name that the server's code asks for, with the bucket and configuration of each batch."""
    found = asked(MIXTRAL, checkout, batches=[1, 9, 64, 512])
    assert (found.looked, found.version, found.device) == (True, "9.9.9", "AMD_Instinct_MI300X")
    (experts,) = found.needed
    assert (experts.status, experts.name) == ("exact", "E=8,N=1792,device_name=AMD_Instinct_MI300X.json")
    assert Path(checkout, experts.opened) == Path(checkout, experts.folder, experts.name)
    assert [batch.bucket for batch in experts.batches] == [8, 8, 64, 64]
    assert all(batch.config["BLOCK_SIZE_N"] == 64 for batch in experts.batches)
    assert [note.partition(":")[0] for note in experts.notes] == ["no bucket near 1 rows", "no bucket near 512 rows"]
    assert experts.others == []


def test_a_file_under_another_name_of_the_gpu(checkout):
    """It is not asked for; what the server takes instead is its own answer."""
    (experts,) = asked(MIXTRAL, checkout, "MI355X").needed
    assert (experts.status, experts.opened) == ("default", "")
    assert experts.others == ["E=8,N=1792,device_name=AMD_Instinct_MI355_OAM.json"]
    assert experts.batches[0].config == {"BLOCK_SIZE_M": 64}
    (named,) = asked(MIXTRAL, checkout, "MI355X", device_name="AMD Instinct MI355 OAM").needed
    assert named.status == "exact"


def test_star_imports_and_loggers_are_followed(checkout):
    """The block-FP8 lookup of the checkout has its device's name from another file by ``import *``."""
    found = asked(DEEPSEEK, checkout)
    names = [file.name for file in found.needed if file.kernel == "block FP8"]
    kind = "dtype=fp8_w8a8,block_shape=[128,128].json"
    assert f"N=2112,K=7168,device_name=AMD_Instinct_MI300X,{kind}" in names
    assert len(names) == len(set(names)) == 8


@pytest.mark.parametrize("model", sorted(p.name for p in PUBLIC.iterdir() if p.is_dir()))
@pytest.mark.parametrize("quant", ["bf16", "fp8", "fp8-block"])
def test_the_table_names_what_the_code_asks_for(model, quant, checkout):
    """With and without a checkout the names are the same."""
    options = {"server": "vllm", "arch": "MI300X", "quant": quant}
    told = kprof.server_configs(PUBLIC / model, server_path=checkout, **options).document
    table = kprof.server_configs(PUBLIC / model, **options).document
    assert not table.looked
    assert {file.status for file in table.needed} <= {"unknown"}
    assert [file.name for file in table.needed] == [file.name for file in told.needed]


def test_strict_and_problems_decide_the_verdict(checkout):
    """Missing files are no failure unless that is asked; what is not known of a model always is."""
    assert asked(MIXTRAL, checkout, "MI355X").verdict.status == "ok"
    assert asked(MIXTRAL, checkout, "MI355X", strict=True).verdict.status == "missing"
    assert asked(MIXTRAL, checkout, strict=True).verdict.status == "ok"
    split = kprof.server_configs(DEEPSEEK, server="vllm", arch="MI300X", tp=3, server_path=checkout).document
    assert split.verdict.status == "cannot_tell"
    assert any("cannot be split over 3 GPUs" in problem for problem in split.problems)


def test_blocks_must_divide_what_a_gpu_has():
    """Qwen3-235B's experts have 1536 columns: 192 on each of 8 GPUs, which is no number of blocks."""
    options = {"server": "vllm", "arch": "MI300X"}
    found = kprof.server_configs(PUBLIC / "qwen3-235b-a22b-fp8", tp=8, **options).document
    assert any("192 a GPU are not divided by blocks of 128" in problem for problem in found.problems)
    assert not any(file.layer == "experts" for file in found.needed)
    whole = kprof.server_configs(PUBLIC / "qwen3-235b-a22b-fp8", tp=8, ep=8, **options).document
    (experts,) = (file for file in whole.needed if file.layer == "experts")
    assert experts.shape == {"E": 16, "N": 1536}


def test_wrong_inputs(checkout, tmp_path):
    """One message each."""
    with pytest.raises(kprof.KprofError, match="neither a checkout nor an installation folder of SGLang"):
        asked(MIXTRAL, checkout, server="sglang")
    with pytest.raises(kprof.KprofError, match="no server 'vlm'"):
        asked(MIXTRAL, checkout, server="vlm")
    with pytest.raises(kprof.KprofError, match="no quantisation"):
        asked(MIXTRAL, checkout, quant="q4")
    with pytest.raises(kprof.KprofError, match="experts are distributed over"):
        asked(MIXTRAL, checkout, ep=3)


def test_another_version_s_checkout_still_has_the_table_s_names(checkout):
    """Without the function that is asked: a problem, and what the table knows; nothing is said to be there."""
    (checkout / "vllm/model_executor/layers/fused_moe/fused_moe.py").write_text("def other(): ...\n")
    found = asked(MIXTRAL, checkout)
    (problem,) = found.problems
    assert "version 9.9.9 has no try_get_optimal_moe_config where kprof looks for it" in problem
    assert (found.verdict.status, found.looked) == ("cannot_tell", False)
    assert [(file.name, file.status) for file in found.needed] == [
        ("E=8,N=1792,device_name=AMD_Instinct_MI300X.json", "unknown")
    ]
    assert not any("--server-path" in note for note in found.notes if "no vLLM" in note)


def test_a_model_that_the_server_does_not_name(checkout):
    """Whole words of its list of models, where the checkout has one; what would be asked for stands all the same."""
    assert asked(MIXTRAL, checkout).problems == []
    models = checkout / "vllm/model_executor/models/registry.py"
    models.parent.mkdir(parents=True)
    models.write_text('MODELS = {"MixtralForCausalLMOld": 1}\n')
    found = asked(MIXTRAL, checkout)
    assert found.problems == [
        "vLLM 9.9.9 does not name the architecture 'MixtralForCausalLM': it may not serve this model"
    ]
    assert (found.verdict.status, len(found.needed)) == ("cannot_tell", 1)
    models.write_text('MODELS = {"MixtralForCausalLM": 1}\n')
    assert asked(MIXTRAL, checkout).problems == []


def test_version_of_an_unpacked_source_distribution(checkout):
    """Where nothing is installed, the archive's own metadata says it."""
    (checkout / "vllm-9.9.9.dist-info").rmdir()
    (checkout / "PKG-INFO").write_text("Metadata-Version: 2.4\nName: vllm\nVersion: 0.33.0\n\nName: other\n")
    assert server_code(server_of("vllm"), str(checkout)).version == "0.33.0"
    assert server_code(server_of("vllm"), str(checkout)).root == checkout


def test_what_has_no_stand_in_is_named(checkout):
    """A lookup of another version that needs more than is known says so, and is not taken for a missing file."""
    place = checkout / "vllm/model_executor/layers/fused_moe/fused_moe.py"
    place.write_text("from vllm.new import thing\ndef try_get_optimal_moe_config(**_):\n    return thing.find()\n")
    with pytest.raises(kprof.KprofError, match=r"needs vllm\.new\.thing\.find, which kprof has no stand-in for"):
        asked(MIXTRAL, checkout)


def test_version_of_a_checkout_is_its_commit(checkout):
    """Read from git's files, no git is run."""
    (checkout / "vllm-9.9.9.dist-info").rmdir()
    assert server_code(server_of("vllm"), str(checkout)).version == "unknown"
    for command in (["init", "-q"], ["add", "-A"], ["-c", "user.name=a", "-c", "user.email=a@b", "commit", "-qm", "a"]):
        subprocess.run(["git", *command], cwd=checkout, check=True)
    head = subprocess.run(["git", "rev-parse", "HEAD"], cwd=checkout, check=True, capture_output=True, text=True)
    assert server_code(server_of("vllm"), str(checkout / "vllm")).version == head.stdout[:10]


@pytest.mark.parametrize("server", sorted(SERVERS))
def test_tables_have_a_name_for_each_server(server):
    """The GPU or its architecture is in it."""
    found = kprof.server_configs(DEEPSEEK, server=server, arch="MI325X", tp=8).document
    assert found.needed
    assert all("MI325X" in file.name or "gfx942" in file.name for file in found.needed)


@pytest.mark.parametrize(
    ("model", "asks", "name"),
    [
        # https://github.com/sgl-project/sglang/pull/34460, on four GPUs: two weights are in a byte
        (
            "kimi-k2-instruct",
            {"server": "sglang", "arch": "MI350X", "tp": 4, "quant": "w4a16", "device_name": "AMD Instinct MI350X VF"},
            "E=384,N=256,device_name=AMD_Instinct_MI350X_VF,dtype=int4_w4a16.json",
        ),
        # https://github.com/vllm-project/vllm/pull/36659
        (
            "qwen3-30b-a3b",
            {"server": "vllm", "arch": "gfx1201", "tp": 2, "ep": 2, "quant": "fp8-block",
             "device_name": "AMD Radeon AI PRO R9700"},
            "E=64,N=768,device_name=AMD_Radeon_AI_PRO_R9700,dtype=fp8_w8a8,block_shape=[128,128].json",
        ),
        # https://github.com/vllm-project/vllm/pull/28709
        (
            "llama-4-maverick-17b-128e-instruct",
            {"server": "vllm", "arch": "MI325X", "tp": 8, "quant": "fp8"},
            "E=128,N=1024,device_name=AMD_Instinct_MI325X,dtype=fp8_w8a8.json",
        ),
    ],
)  # fmt: skip
def test_files_that_public_requests_ask_for(model, asks, name):
    """What their servers wrote into the log is what is said to be needed."""
    found = kprof.server_configs(PUBLIC / model, **asks).document
    assert [file.name for file in found.needed if file.layer == "experts"] == [name]


def test_a_file_of_an_apu(tmp_path):
    """https://github.com/vllm-project/vllm/pull/44331, whose file vLLM 0.33.0's own map of names no longer asks for."""
    sizes = {"num_experts": 256, "moe_intermediate_size": 512, "num_experts_per_tok": 8}
    data = json.loads((PUBLIC / "qwen3-30b-a3b" / "config.json").read_text()) | sizes
    (tmp_path / "config.json").write_text(json.dumps(data))
    asks = {"server": "vllm", "arch": "8060S", "quant": "w4a16"}
    named = kprof.server_configs(tmp_path, device_name="Radeon 8060S Graphics", **asks).document.needed[0]
    assert named.name == "E=256,N=512,device_name=Radeon_8060S_Graphics,dtype=int4_w4a16.json"


def test_experts_in_four_bits_have_a_file_of_another_maker_s_kernel():
    """VLLM's FlyDSL kernel looks up a file of its own, by columns that are not packed."""
    asks = {"server": "vllm", "arch": "MI355X", "tp": 8, "quant": "w4a16", "device_name": "AMD Instinct MI355X"}
    found = kprof.server_configs(PUBLIC / "kimi-k2-instruct", **asks).document
    names = {file.name: file.alternative for file in found.needed}
    assert names == {
        "E=384,N=256,device_name=AMD_Instinct_MI355X,dtype=int4_w4a16.json": False,
        "E=384,N=256,device_name=AMD_Instinct_MI355X,dtype=int4_w4a16,backend=flydsl.json": True,
    }
