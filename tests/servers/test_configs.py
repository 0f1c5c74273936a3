"""``kprof configs``: text, JSON and exit codes."""

import json
from pathlib import Path

PUBLIC = Path(__file__).resolve().parents[1] / "artifacts" / "model_configs"


def test_names_are_whole_and_the_table_is_said_to_be_one(kprof):
    """They are there to be copied."""
    ran = kprof("configs", PUBLIC / "deepseek-v3", "--server", "sglang", "--arch", "MI325X", "--tp", "8")
    assert ran.code == 0
    assert "E=256,N=256,device_name=AMD_Instinct_MI325X,dtype=fp8_w8a8,block_shape=[128, 128].json\n" in ran.out
    assert "names are those of 0.5.23" in " ".join(ran.out.split())
    assert ran.out.endswith("9 files needed\n")


def test_json_is_the_document(kprof):
    """With its schema's name."""
    ran = kprof("configs", PUBLIC / "mixtral-8x7b-v0.1", "--server", "vllm", "--arch", "MI300X", "--json", "-")
    found = json.loads(ran.out)
    assert found["schema"] == "kprof.server-configs/1"
    assert [file["name"] for file in found["needed"]] == ["E=8,N=14336,device_name=AMD_Instinct_MI300X.json"]


def test_what_is_known_is_printed_and_the_exit_code_is_2(kprof, tmp_path):
    """A field is missing: its message, the other files, and no traceback."""
    data = json.loads((PUBLIC / "deepseek-v3" / "config.json").read_text())
    del data["moe_intermediate_size"]
    (tmp_path / "config.json").write_text(json.dumps(data))
    ran = kprof("configs", tmp_path, "--server", "vllm", "--arch", "MI300X", "--tp", "8")
    assert ran.code == 2
    assert "Problem: moe_intermediate_size is missing." in ran.out
    assert "N=3072,K=1536,device_name=AMD_Instinct_MI300X" in ran.out


def test_wrong_options(kprof, tmp_path):
    """One message, exit code 2."""
    ran = kprof("configs", tmp_path, "--server", "vllm", "--arch", "MI300X")
    assert (ran.code, ran.out) == (2, "")
    assert "there is no config.json in this folder" in ran.err
    ran = kprof("configs", PUBLIC / "qwen3-8b", "--server", "vllm", "--arch", "MI300X", "--batches", "8,x")
    assert ran.code == 2
    assert "--batches takes numbers of rows, got '8,x'" in ran.err


def test_ranking_needs_the_server_and_its_options_need_ranking(kprof):
    """Nothing is ignored: without a server there is no kernel, and without ranking nothing is tried."""
    model = PUBLIC / "qwen3-8b"
    ran = kprof("configs", model, "--server", "vllm", "--arch", "MI300X", "--rank")
    assert (ran.code, ran.out) == (2, "")
    assert "no server was found\n  --server-path names a checkout" in ran.err
    ran = kprof("configs", model, "--server", "vllm", "--arch", "MI300X", "--trials", "5")
    assert (ran.code, ran.out) == (2, "")
    assert "--trials, --jobs, --scheduler and --alternatives need --rank, --verify or --output" in ran.err
