"""Reports of the ROCr Debug Agent: the forms of several releases, cut ones and mixed ones."""

import re
from pathlib import Path

import pytest

from kprof.errors import InputError
from kprof.inputs.results import read

ARTIFACTS = Path(__file__).parents[2] / "artifacts"
HEADER = "wave_3: pc=0x5010 (kernel_code_entry=0x4f00 <scale(float*, float)>, kernargs=0x900) (stopped, reason: {})\n"
REGISTERS = """
system registers:
              m0: 00000000        status: 00012461
            exec: 000000000000000f           vcc: 0000000000000000

scalar registers:
              s0: aaaa0000            s1: 00007fd5

vector registers:
              v0: [0] 00000010 [1] 00000011
              v1: [0] 00007f00 [1] 00007f01
              v2: [0] 3f800000 [1] 40000000

Local memory content:
    0x0000: 22222222 11111111

"""
CODE = """Disassembly for function scale(float*, float):
    code object: file:///home/me/scale.co#offset=0&size=900
    loaded at: [0x4000-0x6000]

/home/me/scale.py:
41        x = tl.load(p) * by
    0x5008 <+264>:    v_mul_f32_e32 v2, s0, v2

43        tl.store(p, x)
 => 0x5010 <+272>:    global_store_dword v[0:1], v2, off
    0x5018 <+280>:    s_endpgm

End of disassembly.
"""
REPORT = "Queue error (HSA_STATUS_ERROR_EXCEPTION: a trap)\n" + HEADER.format("ASSERT_TRAP") + REGISTERS + CODE

FAULT = "Memory access fault by GPU node-4 on address 0x{}. Reason: Page not present.\n"


@pytest.fixture
def report(tmp_path):
    """Read a text as a file of another tool."""

    def read_text(text):
        path = tmp_path / "agent.txt"
        path.write_text(text)
        return read(path)

    return read_text


def test_kernel_instruction_line_and_registers(report):
    """Of the wavefront's instruction: the source line above it, and the registers that it names."""
    found = report("step 1\n" + REPORT + "Aborted (core dumped)\n")
    (row,) = found.rows
    assert (row["label"], row["kernel"], row["reason"]) == ("wave_3", "scale(float*, float)", "ASSERT_TRAP")
    assert (row["pc"], row["offset"]) == ("0x5010", 272)
    assert row["instruction"] == "global_store_dword v[0:1], v2, off"
    assert row["source"] == "/home/me/scale.py:43"
    assert row["registers"]["v1"] == "00007f00 00007f01"
    assert found.facts["line"] == "/home/me/scale.py:43"
    assert found.facts["error"] == "Queue error (HSA_STATUS_ERROR_EXCEPTION: a trap)"
    assert found.facts["registers"] == (
        "exec 000000000000000f, v0 00000010 (lane 0), v1 00007f00 (lane 0), v2 3f800000 (lane 0)"
    )
    assert found.issues == ()


def test_a_report_without_debug_information(report):
    """The kernel and the instruction are known, the line is not; a release without a reason in its line is read."""
    text = HEADER.partition(" (stopped")[0] + "\n" + CODE.replace("/home/me/scale.py:\n", "")
    found = report(text)
    assert found.rows[0]["source"] is None
    assert found.rows[0]["reason"] is None
    assert found.facts["line"].startswith("not in the report")


def test_code_before_wavefronts_that_stopped_elsewhere(report):
    """An older release names no kernel beside the wavefront: the address is in the function all the same."""
    found = report(CODE + "wave_0: pc=0x500c (stopped, reason: MEMORY_VIOLATION)\n")
    (row,) = found.rows
    assert (row["kernel"], row["instruction"], row["offset"]) == ("scale(float*, float)", None, 268)
    assert "no disassembly of 0x500c" in found.issues[0]
    assert found.facts["note"].startswith("a wavefront stops some instructions after the access that failed")


def test_wavefronts_that_stopped_at_several_places(report):
    """The first one is described in full; how many stopped elsewhere is counted, the most frequent place first."""
    waves = [(4, "0x5018"), (5, "0x5008"), (6, "0x5018"), (7, "0x5010")]
    text = "".join(f"wave_{n}: pc={pc} (stopped, reason: MEMORY_VIOLATION)\n" for n, pc in waves)
    assert report(REPORT + text).facts["also stopped at"] == (
        "s_endpgm (0x5018): 2 wavefronts, v_mul_f32_e32 v2, s0, v2 (0x5008): 1 wavefront"
    )
    many = "".join(f"wave_{n}: pc=0x{0x5100 + n:x} (stopped, reason: MEMORY_VIOLATION)\n" for n in range(4, 9))
    assert report(REPORT + many).facts["also stopped at"].endswith("wavefront, 2 more places")
    assert "also stopped at" not in report(REPORT).facts


@pytest.mark.parametrize(
    ("text", "message", "line"),
    [
        (REPORT[: REPORT.index(", kernargs")] + "\n", "the line of a wavefront is not complete", 2),
        (REPORT[: REPORT.index("=> 0x5010")], "the disassembly of scale.* has no line with =>", 19),
        (REPORT.replace(" [1] 40000000", ""), "v2 has 1 of 2 lanes", 14),
        (REPORT + HEADER.replace("0x5010", "0x5018").format("ASSERT_TRAP"), "two reports in one file: wave_3", 32),
        (
            REPORT + HEADER.replace("scale(float*, float)", "add").format("ASSERT_TRAP"),
            "wave_3 runs scale.*here add",
            32,
        ),
        (FAULT.format("7000") + REPORT + FAULT.format("8000"), "at address 0x7000 in line 1, and here at 0x8000", 33),
        (REPORT.replace("=> 0x5010", "=> 0x9010"), "0x9010 is not in the code object that line 19 names", 28),
    ],
)
def test_cut_and_mixed_reports_are_refused(report, text, message, line):
    """One message with file and line."""
    with pytest.raises(InputError, match=message) as error:
        report(text)
    assert error.value.place == f"line {line}"
    assert error.value.path.endswith("agent.txt")


def test_one_fault_may_be_told_twice(report):
    """The runtime and the agent name the same address."""
    again = f"OFFLOAD ERROR: memory access fault by GPU 4 at virtual {FAULT.format('7000').partition('on ')[2]}"
    assert report(FAULT.format("7000") + REPORT + again).facts["error"] == FAULT.format("7000").strip()


def test_the_command(kprof, tmp_path):
    """Facts for people; cut ones end with exit code 2."""
    path = tmp_path / "agent.txt"
    path.write_text(REPORT)
    shown = kprof("ingest", "results", path)
    assert shown.code == 0
    assert "line: /home/me/scale.py:43" in shown.out
    path.write_text(REPORT[: REPORT.index("=> 0x5010")])
    assert kprof("ingest", "results", path).code == 2


@pytest.mark.parametrize(
    ("kernel", "object_name", "message"),
    [
        ("matmul", "gfx942/scaled_exp.triton-3.9.0.hsaco", "no kernel 'matmul' of the report"),
        ("matmul", "gfx942/matmul.triton-3.9.0.hsaco", "not the code object of the report: 7,456 bytes, .* has 900"),
        ("matmul", "README.md", "README.md"),
    ],
)
def test_another_code_object_is_refused(kprof, tmp_path, kernel, object_name, message):
    """Lines of another code object would be wrong without a sign of it."""
    path = tmp_path / "agent.txt"
    path.write_text(REPORT.replace("/home/me/scale.py:\n", "").replace("scale(float*, float)", kernel))
    shown = kprof("ingest", "results", path, "--code-object", ARTIFACTS / object_name)
    assert shown.code == 2
    assert re.search(message, shown.err)


def test_a_code_object_needs_a_report_with_addresses(kprof, tmp_path):
    """An option that the file cannot use is an error."""
    path = tmp_path / "tuned.csv"
    path.write_text("M,N,K,libtype,solidx,soltimes\n16,32,64,hipblaslt,3,1.5\n")
    shown = kprof("ingest", "results", path, "--code-object", ARTIFACTS / "gfx942/matmul.triton-3.9.0.hsaco")
    assert shown.code == 2
    assert "a code object is used with a report of the ROCr Debug Agent" in shown.err


def test_a_code_object_without_line_tables_is_said(kprof, tmp_path):
    """A stripped object has the kernel and no lines: a warning, and nothing invented."""
    path = tmp_path / "agent.txt"
    path.write_text(HEADER.replace("scale(float*, float)", "matmul").format("ASSERT_TRAP"))
    shown = kprof("ingest", "results", path, "--code-object", ARTIFACTS / "gfx942/matmul.triton-3.9.0.hsaco")
    assert shown.code == 0
    assert "has no source line of matmul +272" in shown.out
