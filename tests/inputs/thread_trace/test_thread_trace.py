"""Thread traces: three CSV layouts and code.json, and what becomes of damage."""

import csv
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kprof.errors import KprofError
from kprof.inputs import thread_trace
from kprof.inputs.thread_trace import att_csv, code_json

ROWS = [
    ("s_load_dwordx2 s[2:3], s[0:1], 0x0", 5888, 10, 400, "k.py:3"),
    ("s_waitcnt lgkmcnt(0)", 5896, 10, 4000, "k.py:3"),
    ("v_mfma_f32_32x32x8_f16 a[0:15], v[0:1], v[2:3], a[0:15]", 5900, 20, 640, "k.py:9"),
    ("s_endpgm", 5908, 10, 50, ""),
]


def first() -> str:
    """Blanks after the commas of the heading, comment rows, an empty source."""
    lines = ["CodeObj, Vaddr, Instruction, Hitcount, Latency, Source", '4,5888,"; my_kernel",0,0,""']
    lines += [
        f'4,{address},"{text}",{hits},{latency},{source or chr(34) * 2}'
        for text, address, hits, latency, source in ROWS
    ]
    return "\n".join(lines) + "\n"


def second() -> str:
    """With stalls, everything quoted."""
    lines = ['"CodeObj","Vaddr","Instruction","Hitcount","Latency","Stall","Idle","Source"']
    lines += [f'4,{a},"{t}",{h},{n},{n // 2},{n // 4},"{s}"' for t, a, h, n, s in ROWS]
    return "\n".join(lines) + "\n"


def third() -> str:
    """rocprofv2: addresses in hexadecimal, cycles, and its own comment rows."""
    lines = ["Addr,Instruction,Hitcount,Cycles,C++ Reference", "; Begin ATT ASM,,,,"]
    lines += [f'{hex(a)},"{t}",{h},{n},{s}' for t, a, h, n, s in ROWS]
    return "\n".join(lines) + "\n"


def as_json(extra: int = 0) -> str:
    """code.json, with or without stall and idle."""
    code = [["; my_kernel", 100, 0, "", 4, 5888, 0, 0]]
    code += [[t, 0, n + 1, s, 4, a, h, c, *([c // 2, c // 4][:extra])] for n, (t, a, h, c, s) in enumerate(ROWS)]
    return json.dumps({"code": code, "version": "3.0.0"})


@pytest.mark.parametrize(
    ("text", "layout"),
    [
        (first(), "ATT CSV"),
        (second(), "ATT CSV with stalls"),
        (third(), "rocprofv2 ATT CSV"),
        (as_json(), "code.json"),
        (as_json(2), "code.json"),
        ("\ufeff" + first().replace("\n", "\r\n"), "ATT CSV"),
    ],
)
def test_15_every_layout_gives_the_same_instructions(tmp_path, text, layout):
    """Addresses, hits, cycles and lines of the same four instructions."""
    path = tmp_path / "x"
    path.write_bytes(text.encode())
    assert thread_trace.is_thread_trace(path)
    trace = thread_trace.read(path)
    assert trace.format == layout
    assert [(one.text, one.address, one.hits, one.latency, one.source or "") for one in trace.instructions] == ROWS
    assert (trace.hits, trace.latency) == (50, 5090)
    assert not trace.issues


def test_kernel_name_and_stalls(tmp_path):
    """From the comment row; stalls only where the layout has them."""
    (tmp_path / "a.csv").write_text(first())
    (tmp_path / "b.csv").write_text(second())
    assert thread_trace.read(tmp_path / "a.csv").kernel == "my_kernel"
    assert thread_trace.read(tmp_path / "a.csv").instructions[1].stall is None
    assert thread_trace.read(tmp_path / "b.csv").by_line()[0].stall == 2200


def test_cost_by_line_and_mnemonic(tmp_path):
    """Most expensive first; shares add up to 1."""
    (tmp_path / "a.csv").write_text(first())
    trace = thread_trace.read(tmp_path / "a.csv")
    lines = trace.by_line()
    assert [(cost.name, cost.latency, cost.hits) for cost in lines] == [
        ("k.py:3", 4400, 20),
        ("k.py:9", 640, 20),
        ("?", 50, 10),
    ]
    assert sum(cost.share for cost in lines) == pytest.approx(1)
    assert trace.by_mnemonic()[0].name == "s_waitcnt"


def test_a_folder_is_searched_and_wavefronts_are_counted(tmp_path):
    """code.json goes before the CSV; filenames.json lists the wavefronts."""
    (tmp_path / "att_output.csv").write_text(first())
    (tmp_path / "code.json").write_text(as_json())
    (tmp_path / "filenames.json").write_text(
        '{"wave_filenames": {"0": {"0": {"0": {"0": ["a", 1, 20], "1": ["b", 3, 9], "2": ["c", 9, 3], "3": "d"}}}}}'
    )
    trace = thread_trace.read(tmp_path)
    assert (trace.format, trace.wavefronts, trace.lifetimes) == ("code.json", 4, (19, 6))
    assert not trace.issues

    (tmp_path / "filenames.json").write_text('{"wave_filenames": {"0": {')
    trace = thread_trace.read(tmp_path)
    assert trace.wavefronts is None
    assert any("filenames.json" in issue for issue in trace.issues)


def _dispatch(folder, number, kernel, hits=10):
    place = folder / f"ui_output_agent_7_dispatch_{number}"
    place.mkdir(parents=True)
    code = [[f"; {kernel}", 100, 0, "", 4, 0, 0, 0], ["s_endpgm", 0, 1, "k.py:1", 4, 4, hits, 5 * hits]]
    (place / "code.json").write_text(json.dumps({"code": code}))
    return place


def test_the_first_traced_dispatch_that_is_no_fill_is_read(tmp_path):
    """A fill, a kernel without a traced wavefront, the kernel, another one: all listed, the third is read."""
    _dispatch(tmp_path, 1, "__amd_rocclr_fillBufferAligned", hits=3)
    _dispatch(tmp_path, 2, "untraced", hits=0)
    _dispatch(tmp_path, 10, "gemm", hits=7)
    _dispatch(tmp_path, 20, "softmax", hits=9)
    trace = thread_trace.read(tmp_path)
    assert (trace.kernel, trace.hits, trace.latency) == ("gemm", 7, 35)
    assert [(one.dispatch, one.agent, one.kernel, one.hits) for one in trace.dispatches] == [
        (10, 7, "gemm", 7),
        (20, 7, "softmax", 9),
        (1, 7, "__amd_rocclr_fillBufferAligned", 3),
        (2, 7, "untraced", 0),
    ]


def test_one_dispatch_in_two_forms_is_one(tmp_path):
    """The CSV of the same dispatch beside its folder or in it is not another dispatch."""
    place = _dispatch(tmp_path, 5, "gemm")
    (place / "att_output.csv").write_text(first())
    (tmp_path / "stats_ui_output_agent_7_dispatch_5.csv").write_text(first())
    assert thread_trace.read(tmp_path).dispatches == ()


def test_a_damaged_dispatch_costs_only_itself(tmp_path):
    """It is named; when all are damaged that is an error."""
    (_dispatch(tmp_path, 1, "a") / "code.json").write_text('{"code": [')
    _dispatch(tmp_path, 2, "gemm")
    trace = thread_trace.read(tmp_path)
    assert trace.kernel == "gemm"
    assert any("dispatch_1/code.json is left out" in issue for issue in trace.issues)
    (tmp_path / "ui_output_agent_7_dispatch_2/code.json").write_text('{"code": [')
    with pytest.raises(KprofError):
        thread_trace.read(tmp_path)


def test_lifetimes_of_the_published_trace_are_those_of_its_wavefront_files(shared):
    """Each wavefront's own file tells its duration."""
    folder = shared / "samples/att/rocprofv3_triton_gemm_afp4/att_hack5/ui_output_agent_50282_dispatch_20"
    listed = json.loads((folder / "filenames.json").read_text())["wave_filenames"]
    trace = thread_trace.read(folder)
    assert len(trace.lifetimes) == trace.wavefronts == 56
    for simd in range(4):
        own = json.loads((folder / f"se0_sm{simd}_sl0_wv0.json").read_text())
        name, begin, end = listed["0"][str(simd)]["0"]["0"]
        assert (name, own["duration"]) == (f"se0_sm{simd}_sl0_wv0.json", end - begin)
        assert own["duration"] in trace.lifetimes


def test_cut_anywhere(tmp_path):
    """A shorter table says so unless it was cut at a line's end; cut JSON is refused."""
    for text in (first(), second(), third(), as_json()):
        for at in range(1, len(text), 7):
            path = tmp_path / "cut"
            path.write_text(text[:at])
            try:
                trace = thread_trace.read(path)
            except KprofError:
                continue
            assert len(trace.instructions) == 4 or trace.issues or text[at - 1] == "\n", at


@given(st.binary(max_size=300))
def test_any_bytes_are_refused_or_read(content):
    """As CSV and as JSON."""
    for reader, data in ((att_csv.read, content.decode("utf-8", "replace")), (code_json.read, content)):
        try:
            reader(data, "x")
        except KprofError as error:
            message = error.message
            break
    else:
        return
    assert message


def test_published_trace_equals_its_two_forms_and_the_csv_module(shared):
    """CSV and code.json of a Triton kernel on MI350, against adding up by hand."""
    folder = shared / "samples/att/rocprofv3_triton_gemm_afp4/att_hack5/ui_output_agent_50282_dispatch_20"
    with (folder / "att_output.csv").open(newline="") as file:
        rows = [row for row in csv.DictReader(file, skipinitialspace=True) if not row["Instruction"].startswith(";")]
    hits, latency = (sum(int(row[name]) for row in rows) for name in ("Hitcount", "Latency"))
    for path in (folder, folder / "att_output.csv"):
        trace = thread_trace.read(path)
        assert (len(trace.instructions), trace.hits, trace.latency) == (len(rows), hits, latency)
        assert trace.kernel == "_gemm_afp4_wfp4_kernel"
        assert trace.by_line()[0].name.endswith("gemm_afp4wfp4.py:90")


def test_a_row_that_marks_the_begin_is_not_the_kernel(tmp_path):
    """rocprofv2's ``code.json``: the name is in the second comment row."""
    rows = [["; Begin ATT ASM", 100, 0, "", 0, 0, 0, 0], ["; _Z1kv", 100, 0, "", 0, 0, 0, 0],
            ["s_endpgm", 1, 2, "", 1, 1, 4, 16]]  # fmt: skip
    (tmp_path / "code.json").write_text(json.dumps({"code": rows}))
    assert thread_trace.read(tmp_path / "code.json").kernel == "_Z1kv"
