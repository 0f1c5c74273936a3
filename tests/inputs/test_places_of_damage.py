"""Files that once ended in a traceback: each is read, with what is wrong said, or refused in one message."""

import json
import shutil
import sqlite3
import struct
import zipfile
from pathlib import Path

import pytest

ARTEFACTS = Path(__file__).resolve().parents[1] / "artifacts"
ASSEMBLY = ARTEFACTS / "gfx942" / "matmul.triton-3.9.0.amdgcn"
OBJECT = ARTEFACTS / "gfx942" / "matmul.triton-3.9.0.hsaco"
WIDE = (
    "Dispatch_ID,GPU_ID,Grid_Size,Workgroup_Size,LDS_Per_Workgroup,Arch_VGPR,Kernel_Name,Start_Timestamp,End_Timestamp,{}\n"
    "1,0,64,64,0,8,k,1,2,{}\n"
)
LONG = (
    "Dispatch_Id,Agent_Id,Kernel_Name,Grid_Size,Workgroup_Size,Counter_Name,Counter_Value,Start_Timestamp,End_Timestamp\n"
    "1,1,k,64,64,{},{},1,2\n"
)
MANY = "9" * 5000


def told(ran):
    """No error of kprof's own: an answer, or one message."""
    assert ran.code in {0, 1, 2}, ran.err
    assert "error of kprof itself" not in ran.err
    return ran.out + ran.err


@pytest.mark.parametrize(
    "name", ["TCC_HIT[99999]", "TCC_HIT[9223372036854775807]", f"TCC_HIT[{MANY}]", "TCC_HIT[\u0663]"]
)
@pytest.mark.parametrize("form", [WIDE, LONG])
def test_channels_that_no_gpu_has(kprof, tmp_path, form, name):
    """The counter keeps its name, and its value."""
    path = tmp_path / "c.csv"
    path.write_text(form.format(name, 5))
    assert "1 counter" in told(kprof("ingest", "counters", path))


@pytest.mark.parametrize(
    "value", ["0x7fffffffffffffff", "0xffffffffffffffff", "0x" + "f" * 300, MANY, "1e999", "\u0663"]
)
@pytest.mark.parametrize("form", [WIDE, LONG])
def test_counter_values_beyond_what_a_double_holds(kprof, tmp_path, form, value):
    """Read, rounded, or told as what cannot be."""
    path = tmp_path / "c.csv"
    path.write_text(form.format("SQ_WAVES", value))
    told(kprof("ingest", "counters", path))


@pytest.mark.parametrize("value", ["1e19", "-1", MANY, "nan", "18446744073709551615"])
def test_properties_of_a_machine_that_cannot_be(kprof, tmp_path, value):
    """Compute units beyond 64 bits."""
    folder = tmp_path / "workload"
    shutil.copytree(ARTEFACTS / "rocprof" / "omniperf", folder)
    path = folder / "sysinfo.csv"
    heading, row = path.read_text().splitlines()[:2]
    cells = row.split(",")
    names = heading.split(",")
    for name in ("cu_per_gpu", "num_xcd", "wave_size", "max_sclk"):
        if name in names and len(cells) == len(names):
            cells[names.index(name)] = value
    path.write_text(heading + "\n" + ",".join(cells) + "\n")
    told(kprof("ingest", "counters", folder))


@pytest.mark.parametrize("table", ["COPY", "OPS", "KernelTrace"])
def test_names_in_a_database_that_are_not_utf8(kprof, tmp_path, table):
    """A column's name cannot be decoded by the module itself."""
    path = tmp_path / "r.db"
    shutil.copy(ARTEFACTS / "rocprof" / "v1" / "results.db", path)
    data = path.read_bytes()
    with sqlite3.connect(path) as connection:
        names = [row[1] for t in connection.execute("SELECT name FROM sqlite_master").fetchall()
                 for row in connection.execute(f'PRAGMA table_info("{t[0]}")')]  # fmt: skip
    connection.close()
    for name in sorted({n.encode() for n in names if len(n) > 4}):
        path.write_bytes(data.replace(name, b"\xff" + name[1:]))
        told(kprof("ingest", "counters", path))


@pytest.mark.parametrize("digits", ["9" * 40, "9" * 400, MANY, "\u0663"])
def test_sizes_of_a_product_that_no_product_has(kprof, tmp_path, digits):
    """Of TunableOp's results."""
    path = tmp_path / "t.csv"
    path.write_text(
        f"Validator,PT_VERSION,2.6.0\nGemmTunableOp_Half_TN,tn_{digits}_64_32_ld_{digits}_32_128,Default,0.5\n"
    )
    told(kprof("ingest", "tunableop", path))
    (tmp_path / "folder").mkdir()
    assert kprof("ingest", "tunableop", tmp_path / "folder").code == 2


@pytest.mark.parametrize("value", ["x", 1.5, -1, None, True, [], 10**30])
@pytest.mark.parametrize("name", ["shared", "num_warps", "num_stages", "kpack"])
def test_metadata_that_no_launch_can_have(kprof, tmp_path, name, value):
    """Left out, and what follows from it is not known."""
    shutil.copy(ASSEMBLY, tmp_path / "k.amdgcn")
    (tmp_path / "k.json").write_text(
        json.dumps({"num_warps": 4, "shared": 8192, "num_stages": 2, "kpack": 1, name: value})
    )
    assert f"the metadata's {name}" in told(kprof("analyze", "kernel", tmp_path / "k.amdgcn", "-v"))


@pytest.mark.parametrize(
    "data", [b'{"num_warps": ' + b"[" * 100_000, b'{"num_warps": "\xff"}', b'{"num_warps": ' + MANY.encode()]
)
def test_metadata_that_is_damaged(kprof, tmp_path, data):
    """Depth, encoding, digits: left out, and noted."""
    shutil.copy(ASSEMBLY, tmp_path / "k.amdgcn")
    (tmp_path / "k.json").write_bytes(data)
    assert "the metadata" in told(kprof("analyze", "kernel", tmp_path / "k.amdgcn", "-v"))


def test_zip_archives_with_damaged_headers(kprof, tmp_path):
    """Every field of two headers, at its extremes."""
    path = tmp_path / "a.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.write(OBJECT, "one.hsaco")
    data = path.read_bytes()
    central = data.rindex(b"PK\1\2")
    for at in (*range(4, 30, 2), *range(central + 4, len(data) - 2, 2)):
        for value in (0xFFFF, 0x7FFF, 1):
            path.write_bytes(data[:at] + struct.pack("<H", value) + data[at + 2 :])
            from kprof.errors import KprofError
            from kprof.inputs.code_object.packing import unpack

            try:
                list(unpack(path.read_bytes(), str(path)))
            except KprofError as error:
                assert str(path) in str(error)  # noqa: PT017 - either outcome is right
    told(kprof("analyze", "kernel", path))


def test_a_head_of_a_capture_that_is_not_utf8(kprof, tmp_path):
    """The head, and a line of a journal."""
    shutil.copytree(ARTEFACTS / "capture", tmp_path / "c")
    journal = tmp_path / "c" / "journal" / "1.jsonl"
    journal.write_bytes(journal.read_bytes().replace(b'"scale"', b'"sc\xffle"'))
    told(kprof("analyze", "kernel", tmp_path / "c"))
    (tmp_path / "c" / "capture.json").write_bytes(b'{"schema": "kprof.capture/1", "arch": "gfx942", "started": "\xff"}')
    ran = kprof("analyze", "kernel", tmp_path / "c")
    assert ran.code == 2
    assert "not the head of a capture" in told(ran)


@pytest.mark.parametrize("rank", [2**70, -(2**70), 2**63, -1])
def test_ranks_that_no_job_has(kprof, tmp_path, rank):
    """Of a trace: as if it told none."""
    path = tmp_path / "t.json"
    event = {"ph": "X", "cat": "kernel", "name": "k", "ts": 1, "dur": 2, "args": {"device": 0}}
    path.write_text(json.dumps({"distributedInfo": {"rank": rank}, "traceEvents": [event]}))
    assert "rank 0" in told(kprof("trace", "breakdown", path))
    named = tmp_path / f"rank{'9' * 200}.json"
    named.write_text(json.dumps({"traceEvents": [event]}))
    told(kprof("trace", "breakdown", named))


@pytest.mark.parametrize(
    ("what", "by"),
    [("tensor<64x32xf16", f"tensor<{MANY}x32xf16"), ("<64x32xf16", "<\u0663x32xf16"),
     ("tt.dot ", "tt.dot %x : f32 // "), ("sizePerThread = [", "sizePerThread = [9, "),
     ("lane = [[", "lane = [[0, 0, 1], [")],
)  # fmt: skip
def test_ttgir_beside_the_assembly_that_is_damaged(kprof, tmp_path, what, by):
    """Types of thousands of digits, products without operands, layouts of another rank."""
    for number, ttgir in enumerate(sorted((ARTEFACTS / "mlir").glob("matmul.gfx942.*.ttgir"))):
        folder = tmp_path / str(number)
        folder.mkdir()
        shutil.copy(ASSEMBLY, folder / "k.amdgcn")
        (folder / "k.json").write_text(json.dumps({"num_warps": 4, "shared": 8192}))
        (folder / "k.ttgir").write_text(ttgir.read_text().replace(what, by))
        told(kprof("analyze", "kernel", folder / "k.amdgcn", "-v"))


def test_a_journal_of_a_search_that_is_damaged(tmp_path):
    """Lines that are nested too deep or not UTF-8 are passed over."""
    from kprof.tuning.journal import TuningJournal

    path = tmp_path / "search.jsonl"
    path.write_bytes(b"[" * 100_000 + b"\n" + b'{"key": "\xff"}\n' + b'{"key": ' * 20_000 + b"\n")
    journal = TuningJournal(path)
    assert journal.known() == {}
    journal.close()


@pytest.mark.parametrize(
    "text", ["[tool.kprof]\nx = " + MANY, "[tool.kprof]\nx = " + "[" * 100_000, "[tool.kprof]\nx = \xff"]
)
def test_a_configuration_that_is_damaged(kprof, tmp_path, text):
    """Digits, depth, encoding: one message with the file."""
    path = tmp_path / "pyproject.toml"
    path.write_bytes(text.encode("latin-1"))
    ran = kprof("check", "--config-file", path)
    assert ran.code == 2
    assert "pyproject.toml" in told(ran)
    trace = tmp_path / "t.json"
    trace.write_text('{"traceEvents": []}')
    ran = kprof("trace", "breakdown", trace, "--categories", path)
    assert ran.code == 2
    assert "pyproject.toml" in told(ran)


def test_a_workgroup_that_no_gpu_has_is_not_modelled(kprof, tmp_path):
    """A million work-items are 15,625 wavefronts: simulating them takes minutes and tells nothing."""
    path = tmp_path / "k.amdgcn"
    text = ASSEMBLY.read_text()
    assert ".max_flat_workgroup_size: 256" in text
    path.write_text(text.replace(".max_flat_workgroup_size: 256", ".max_flat_workgroup_size: 1000000"))
    ran = kprof("analyze", "kernel", path, "-v")
    assert ran.code == 0, ran.err
    (tmp_path / "k.json").write_text('{"num_warps": 1000, "shared": "lost"}')
    assert "1,000 wavefronts do not fit into a workgroup of 1,024 work-items" in told(
        kprof("analyze", "kernel", path, "-vv")
    )


def test_a_name_of_pages_is_compared_with_nothing():
    """Comparing takes the product of the lengths, for each name that is known."""
    from kprof.errors import near
    from kprof.hardware.machine import _near
    from kprof_servers.configs.checks.keys import _typo

    word = "BLOCK_SIZE_" * 50
    assert near(word, [word[:-1]]) == ""
    assert near(word[:100], [word[:99]]) != ""
    assert _near("gfx94" * 50) == ""
    assert _typo(word, frozenset({word[:-1]})) == ""


def test_metadata_of_many_brackets(kprof, tmp_path):
    """PyYAML looks at all that are open for each further one: half a minute for 40,000."""
    path = tmp_path / "k.amdgcn"
    head, mark, rest = ASSEMBLY.read_text().partition("amdhsa.kernels:")
    path.write_text(f"{head}odd: {'[' * 20_000}{']' * 20_000}\n{mark}{rest}")
    assert "0 kernels" not in told(kprof("analyze", "kernel", path))
