"""Each rule: what must fire and what must stay quiet."""

import csv
import gzip
import json
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kprof.tuning.formats.aiter import BOUNDS
from kprof_servers.configs.checks.architecture import matrix_sizes
from kprof_servers.configs.checks.buckets import chosen
from kprof_servers.configs.formats import formats
from kprof_servers.configs.lint import lint
from kprof_servers.configs.reading import gather

GEMM = {
    "BLOCK_SIZE_M": 64,
    "BLOCK_SIZE_N": 64,
    "BLOCK_SIZE_K": 64,
    "GROUP_SIZE_M": 1,
    "num_warps": 4,
    "num_stages": 2,
    "waves_per_eu": 2,
    "matrix_instr_nonkdim": 16,
    "cache_modifier": None,
    "NUM_KSPLIT": 1,
}
MOE = {
    "BLOCK_SIZE_M": 16,
    "BLOCK_SIZE_N": 64,
    "BLOCK_SIZE_K": 128,
    "GROUP_SIZE_M": 1,
    "num_warps": 4,
    "num_stages": 2,
    "waves_per_eu": 0,
    "matrix_instr_nonkdim": 16,
    "kpack": 2,
}
FLAT = "gfx942-GEMM-A16W16.json"
NESTED = "gfx950/triton/gemm/gemm_a16w16/DEFAULT.json"
VLLM = "E=8,N=3584,device_name=AMD_Instinct_MI300X.json"


def _flat(**changes):
    return {"any": {**GEMM, **changes}}


FIRES = [
    ("KP701", {FLAT: '{"any": {"num_warps": 4,\n}}'}, "line 1, column 24: a comma before }"),
    ("KP701", {"x.py": "import triton\ntriton.Config({'A': 1}\n"}, "not valid Python: line 2"),
    ("KP702", {FLAT: '{"any": {"num_warps": 4, "num_warps": 8}}'}, "the key 'num_warps' of any is also in line 1"),
    ("KP703", {FLAT: _flat(num_warp=4)}, "did you mean 'num_warps'?"),
    ("KP703", {VLLM: {"1": {**MOE, "block_size_m": 16}}}, "did you mean 'BLOCK_SIZE_M'?"),
    ("KP703", {"x.py": "import triton\nC = triton.Config({'B': 64}, num_warp=4)\n"}, "did you mean 'num_warps'"),
    ("KP704", {FLAT: {"M_LEQ_64": GEMM, "any": {**GEMM, "BLOCK_M": 64}}}, "line 3 has 'BLOCK_SIZE_M'"),
    (
        "KP705",
        {FLAT: {"M_LEQ_8": GEMM, **{f"M_LEQ_{b}": {**GEMM, "kpack": 1} for b in (16, 32, 64)}, "any": {"kpack": 1}}},
        "M_LEQ_8 does not set kpack",
    ),
    ("KP706", {FLAT: {"any": GEMM, "M_LEQ_64": 3}}, "M_LEQ_64 is a number, not a configuration"),
    ("KP706", {VLLM: {"64x": MOE}}, "'64x' is not a number of rows"),
    ("KP706", {VLLM: {}}, "there is no configuration in this file"),
    ("KP707", {FLAT: _flat(num_warps="4")}, "num_warps = '4': a whole number is expected"),
    ("KP707", {FLAT: _flat(num_warps=3)}, "Triton wants a power of two"),
    ("KP707", {FLAT: _flat(BLOCK_SIZE_M=0)}, "at least 1 is expected"),
    ("KP707", {FLAT: _flat(cache_modifier=".zz")}, "not a cache modifier"),
    ("KP708", {FLAT: _flat(BLOCK_SIZE_K=96)}, "BLOCK_SIZE_K = 96 is not a power of two"),
    ("KP709", {FLAT: _flat(num_stages=0)}, "has today"),
    ("KP711", {NESTED: _flat(kpack=2)}, "kpack = 2 has no effect on gfx950"),
    ("KP711", {"gfx1201-GEMM-A8W8.json": _flat(kpack=2)}, "changes no instruction"),
    ("KP712", {"gfx1100-GEMM-A8W8.json": _flat(matrix_instr_nonkdim=32)}, "gfx1100 has 0, 16"),
    ("KP712", {FLAT: _flat(matrix_instr_nonkdim=8)}, "gfx942 has 0, 4, 16, 32"),
    ("KP713", {FLAT: _flat(num_warps=32)}, "2,048 work-items; gfx942 takes 1,024"),
    ("KP714", {FLAT: _flat(waves_per_eu=9)}, "a SIMD of gfx942 holds 8"),
    ("KP715", {FLAT: _flat(num_ctas=2)}, "no clusters"),
    ("KP721", {FLAT: {"M_LEQ_64": GEMM}}, "the loader finds no bucket for M = 65"),
    ("KP721", {"gfx942-MOE-DEFAULT.json": {"small_M": MOE, "large_M": MOE}}, "no bucket medium_M"),
    ("KP722", {FLAT: {"M_LEQ_31": GEMM, "M_LEQ_32": GEMM, "any": GEMM}}, "M = 31 gets M_LEQ_32"),
    (
        "KP722",
        {FLAT: {"M_LEQ_128": GEMM, "M_GEQ_64": GEMM, "M_GEQ_128": GEMM}},
        "M_GEQ_64 is never reached: M = 64 gets M_LEQ_128",
    ),
    ("KP723", {VLLM: {"16": MOE, "016": MOE}}, "016 is the same as 16"),
    (
        "KP723",
        {"x.py": "import triton\nL = [triton.Config({'B': 1}, num_warps=4),\n triton.Config({'B': 1}, num_warps=4)]\n"},
        "line 3 is the same as",
    ),
    ("KP724", {"gfx942-GEMM-A16W16-N=64-K=64.json": _flat()}, "there is no gfx942-GEMM-A16W16.json in its folder"),
    ("KP724", {"gfx950/triton/gemm/gemm_a16w16/GEMM-A16W16-N=1-K=1.json": _flat()}, "has no DEFAULT.json"),
    (
        "KP724",
        {NESTED: _flat(), "gfx950/triton/gemm/gemm_a16w16/GEMM-A8W8-N=1-K=1.json": _flat()},
        "GEMM-A8W8 must be in gemm_a8w8/",
    ),
    (
        "KP724",
        {NESTED: _flat(), "gfx950/triton/gemm/gemm_a16w16/gfx950-GEMM-A16W16-N=1-K=1.json": _flat()},
        "begins with an architecture",
    ),
    ("KP725", {NESTED: _flat(), "gfx950-GEMM-A16W16.json": _flat()}, "this file is never read"),
    ("KP726", {"E=8,N=x,device_name=AMD_Instinct_MI300X.json": {"1": MOE}}, "N=x in the file's name"),
    ("KP726", {"E=8,N=1,device_name=AMD_Instinct_MI300X,dtype=fp8_w8a9.json": {"1": MOE}}, "did you mean 'fp8_w8a8'"),
    ("KP727", {"E=8,N=1,device_name=AMD_Instinct_MI30OX.json": {"1": MOE}}, "or 'MI300X'?"),
    ("KP727", {"gfx9420-GEMM-A16W16.json": _flat()}, "did you mean 'gfx942'"),
]


@pytest.mark.parametrize(("rule", "files", "words"), FIRES, ids=[f"{case[0]}-{i}" for i, case in enumerate(FIRES)])
def test_fires(rules, rule, files, words):
    """The rule finds the mistake, and says it in these words."""
    found = rules(files)
    assert any(words in message for message in found.get(rule, ())), found


@pytest.mark.parametrize(
    "files",
    [
        {FLAT: {"M_LEQ_64": GEMM, "M_GEQ_4096": {**GEMM, "kpack": 2, "matrix_instr_nonkdim": 32}, "any": GEMM}},
        {
            FLAT: {"_note": "cloned", "any": GEMM},
            "gfx942-GEMM-A16W16-N=64-K=64.json": {"M_LEQ_8192": GEMM, "any": GEMM},
        },
        {NESTED: _flat(), "gfx950/triton/gemm/gemm_a16w16/GEMM-A16W16-N=8192-K=8192.json": _flat()},
        {"gfx1201-GEMM-A8W8.json": _flat(num_warps=32, waves_per_eu=16, matrix_instr_nonkdim=16)},
        {"gfx942-MOE-FP8_W8A8.json": {"small_M": MOE, "medium_M": MOE, "large_M": MOE}},
        {"gfx942-MHA-DEFAULT.json": {"fwd": {"default": {"BLOCK_M": 128, "PRELOAD_V": True}, "pe": {"BLOCK_M": 64}}}},
        {VLLM: {"triton_version": "3.5.1", "1": MOE, "16": MOE, "8192": {**MOE, "SPLIT_K": 1}}},
        {"E=8,N=1,device_name=NVIDIA_H200.json": {"1": {**MOE, "num_warps": 16, "num_stages": 5}}},
        {"y.py": "import triton\nA = triton.Config({'B': 1}, num_warps=4)\nC = triton.Config({'B': 1}, num_warps=4)\n"},
        {"x.py": "import triton\nL = [triton.Config({'BLOCK': B, 'UNROLL': 3}, num_warps=w) for B in X for w in Y]\n"},
    ],
)
def test_stays_quiet(rules, files):
    """Files as they should be, of every format, give no finding."""
    assert rules(files) == {}


def test_equal_mistakes_of_a_file_are_told_once(rules):
    """The same knob with the same value in three buckets is one finding that counts the others."""
    bad = {**GEMM, "kpack": 2}
    found = rules({NESTED: {"M_LEQ_64": bad, "M_LEQ_128": bad, "any": bad}})
    assert found == {"KP711": ["M_LEQ_64: kpack = 2 has no effect on gfx950: Triton puts 1 in its place; 2 more alike"]}


@given(bounds=st.sets(st.sampled_from(BOUNDS)), above=st.sets(st.sampled_from(BOUNDS)), rows=st.integers(0, 20_000))
def test_the_bucket_of_a_size_follows_the_loaders_rule(bounds, above, rows):
    """The least M_LEQ at or above M, else the greatest M_GEQ at or below it, else any."""
    names = {f"M_LEQ_{b}" for b in bounds} | {f"M_GEQ_{b}" for b in above} | {"any"}
    least = min((b for b in bounds if b >= rows), default=None)
    most = max((b for b in above if b <= rows), default=None)
    expected = f"M_LEQ_{least}" if least is not None else f"M_GEQ_{most}" if most is not None else "any"
    assert chosen(names, rows) == expected


_ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers(-5, 99) | st.floats(allow_nan=False) | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from([*GEMM, "any", "M_LEQ_64", "1"]), inner)
    ),
    max_leaves=12,
)


@given(
    content=_ANYTHING, name=st.sampled_from([FLAT, NESTED, VLLM, "x.json"]), at=st.integers(0, 300), cut=st.booleans()
)
def test_no_content_is_a_traceback(content, name, at, cut, tmp_path_factory):
    """Whatever stands in a file, cut off anywhere or not, ends in findings."""
    text = json.dumps(content, indent=1)
    path = tmp_path_factory.mktemp("any") / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text[: at % (len(text) + 1)] if cut else text)
    for report in lint(gather([str(path)]).files):
        assert all(finding.message and finding.location.line >= 1 for finding in report.findings)


@given(
    knobs=st.fixed_dictionaries(
        {
            name: st.sampled_from(values)
            for name, values in {
                "BLOCK_SIZE_M": (16, 64, 256),
                "BLOCK_SIZE_N": (16, 64, 256),
                "BLOCK_SIZE_K": (32, 128),
                "GROUP_SIZE_M": (1, 4, 8),
                "num_warps": (1, 2, 4, 8),
                "num_stages": (1, 2, 3),
                "waves_per_eu": (0, 1, 4),
                "matrix_instr_nonkdim": (0, 16, 32),
            }.items()
        }
    ),
    rows=st.sets(st.integers(1, 4096), min_size=1, max_size=5),
)
def test_generated_configurations_come_back_and_pass(knobs, rows, tmp_path_factory):
    """What a tuner may write is read back knob for knob, and nothing is found in it."""
    path = tmp_path_factory.mktemp("made") / VLLM
    path.write_text(json.dumps({str(row): knobs for row in sorted(rows)}, indent=4))
    (file,) = gather([str(path)]).files
    assert {int(bucket.name): bucket.values() for bucket in file.buckets} == dict.fromkeys(rows, knobs)
    assert [finding for report in lint([file]) for finding in report.findings] == []


def test_matrix_sizes_come_from_the_hardware_tables():
    """CDNA has 4, 16 and 32 rows, RDNA 16, RDNA2 no matrix instructions."""
    from kprof.hardware.machine import load

    assert matrix_sizes(load("gfx942")) == {0, 4, 16, 32}
    assert matrix_sizes(load("gfx1100")) == {0, 16}
    assert matrix_sizes(load("gfx1030")) == {0}


def test_every_format_is_found():
    """The folder is the registry."""
    assert {form.name for form in formats()} == {"AITER flat", "AITER nested", "vLLM", "triton.Config"}


def test_published_files_of_vllm_and_aiter(shared, tmp_path):
    """Shipped files, put together again from the published table, are read whole; what is found is known."""
    files: dict[str, dict[str, dict]] = {}
    with gzip.open(shared / "groundtruth" / "configs.csv.gz", "rt") as table:
        for row in csv.DictReader(table):
            shape = json.loads(row["shape"])
            name = row["source_ref"].partition(" @")[0]
            bucket = shape.get("bucket") or str(shape.get("M", ""))
            if name.endswith(".json") and row["source"].startswith(("ROCm/aiter", "vllm")) and bucket:
                files.setdefault(name, {})[bucket] = json.loads(row["config"])
    for name, content in files.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(content, indent=2))
    found = gather([str(tmp_path)])
    assert len(found.files) == len(files) > 250
    assert not found.problems
    assert sum(len(file.buckets) for file in found.files) == sum(len(content) for content in files.values())
    counts = Counter(finding.rule for report in lint(found.files) for finding in report.findings)
    assert not {"KP701", "KP702", "KP703", "KP707", "KP708", "KP713", "KP714", "KP715"} & set(counts), counts
