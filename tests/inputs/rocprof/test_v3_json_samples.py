"""PC samples in rocprofv3's JSON give the rows that their CSV form gives."""

import json
from pathlib import Path

import pytest

from kprof.inputs import rocprof

PREFIX = "ROCPROFILER_PC_SAMPLING_INSTRUCTION_"
STRINGS = {
    "buffer_records": [],
    "pc_sample_instructions": ["v_add_f32 v0, v1, v2", "s_waitcnt vmcnt(0)"],
    "pc_sample_comments": ["copy.hip:7", "gemm.py:9"],
}
HOST_TRAP = {
    "inst_index": 0,
    "record": {
        "hw_id": {"chiplet": 1, "wave_id": 2, "simd_id": 3},
        "pc": {"code_object_id": 5, "code_object_offset": 4096},
        "exec_mask": 18446744073709551615,
        "timestamp": 500,
        "dispatch_id": 1,
        "corr_id": {"internal": 1, "external": 0},
        "wrkgrp_id": {"x": 1, "y": 0, "z": 0},
        "wave_in_grp": 0,
    },
}
STOCHASTIC = {
    "inst_index": 1,
    "record": {
        "pc": {"code_object_id": 5, "code_object_offset": 4104},
        "exec_mask": 65535,
        "timestamp": 500,
        "dispatch_id": 2,
        "corr_id": {"internal": 2, "external": 0},
        "wave_issued": False,
        "inst_type": PREFIX + "TYPE_NO_INST",
        "wave_count": 4,
        "snapshot": {"stall_reason": PREFIX + "NOT_ISSUED_REASON_WAITCNT", "dual_issue_valu": 0},
    },
}


def document(path: Path, *, strings: dict | None = None, **records: list) -> Path:
    """A results file with these buffer records and nothing else."""
    process = {"strings": strings or STRINGS, "buffer_records": records}
    path.write_text(json.dumps({"rocprofiler-sdk-tool": [process]}))
    return path


@pytest.mark.parametrize(
    ("kind", "record", "csv"),
    [
        ("pc_sample_host_trap", HOST_TRAP, "pc_sampling_host_trap.csv"),
        ("pc_sample_stochastic", STOCHASTIC, "pc_sampling_stochastic.csv"),
    ],
)
def test_json_and_csv_give_the_same_samples(files, tmp_path, kind, record, csv):
    """Every column of the CSV form is there, with the same values."""
    found = rocprof.read(document(tmp_path / "r.json", **{kind: [record]}))
    expected = rocprof.read(files / "v3" / csv).table("samples")
    assert len(expected) == 1
    for column in expected.columns:
        assert found.table("samples")[column].tolist() == expected[column].tolist(), column
    assert found.table("samples")["code_object_offset"].tolist() == [record["record"]["pc"]["code_object_offset"]]
    assert found.sources[0].rows == 1
    assert not found.issues


def test_both_kinds_in_one_file(tmp_path):
    """What only stochastic sampling tells is missing, not 0, for host-trap samples."""
    table = rocprof.read(
        document(tmp_path / "r.json", pc_sample_host_trap=[HOST_TRAP], pc_sample_stochastic=[STOCHASTIC])
    ).table("samples")
    assert table["issued"].isna().tolist() == [True, False]
    assert table["stall_reason"].isna().tolist() == [True, False]
    assert table["wave_count"].tolist()[1] == 4


def test_samples_without_an_instruction_are_flagged(tmp_path):
    """An index of -1 or past the list is kept as a row with its offset, and counted in an issue."""
    odd = [{**HOST_TRAP, "inst_index": index} for index in (-1, 7, 0)]
    data = rocprof.read(document(tmp_path / "r.json", pc_sample_host_trap=odd))
    assert data.table("samples")["instruction"].isna().tolist() == [True, True, False]
    assert [(issue.kind, issue.count) for issue in data.issues] == [("undecoded-samples", 2)]


def test_what_a_sample_does_not_tell_is_missing(tmp_path):
    """An empty record, as older or other writers leave fields out."""
    table = rocprof.read(document(tmp_path / "r.json", pc_sample_host_trap=[{"record": {}}])).table("samples")
    for column in ("time_ns", "exec_mask", "dispatch_id", "correlation_id", "code_object_offset"):
        assert table[column].isna().all(), column


def test_a_cut_file_keeps_the_samples_before_the_cut(tmp_path):
    """The second sample is torn: one row, and an error."""
    path = document(tmp_path / "r.json", pc_sample_stochastic=[STOCHASTIC, STOCHASTIC])
    text = path.read_text()
    path.write_text(text[: text.rindex('"wave_count"')])
    data = rocprof.read(path)
    assert len(data.table("samples")) == 1
    assert "damaged-json" in {issue.kind for issue in data.issues}
