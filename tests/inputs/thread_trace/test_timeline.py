"""Files of single wavefronts, of states and of the occupancy beside a thread trace's listing."""

import json
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kprof.errors import KprofError
from kprof.inputs import thread_trace
from kprof.inputs.thread_trace import companion_files, wave_json

CODE = {
    "code": [
        ["; k", 100, 0, "", 4, 0, 0, 0],
        ["s_load_dword s0, s[0:1], 0x0", 0, 1, "k.py:3", 4, 8, 2, 24],
        ["s_barrier", 0, 2, "k.py:4", 4, 16, 4, 300],
    ]
}
WAVE = "se3_sm1_sl2_wv0.json"


def wave(**changed) -> dict:
    """8 cycles before the first, 4 between the second and the third; the barrier stalls 90 of 100 cycles."""
    inner = {
        "begin": 100,
        "end": 300,
        "cu": 5,
        "simd": 1,
        "slot": 2,
        "id": 0,
        "instructions": [[108, 1, 0, 12, 1], [120, 9, 30, 40, 2], [164, 9, 60, 60, 2]],
        "timeline": [[1, 8], [2, 12], [4, 100], [2, 80]],
        "waitcnt": None,
    }
    return {"name": "SE3", "duration": 200, "num_insts": 3, "num_stitched": 3, "wave": inner | changed}


def packed(clock: int, unit: int, simd: int, slot: int, began: int) -> int:
    """The older event: kernel 1, cycles in units of 8."""
    return clock // 8 << 23 | unit << 19 | began << 18 | slot << 14 | simd << 12 | 1


@pytest.fixture
def folder(tmp_path):
    """One wavefront, one state and an occupancy beside code.json."""
    (tmp_path / "code.json").write_text(json.dumps(CODE))
    (tmp_path / WAVE).write_text(json.dumps(wave()))
    (tmp_path / "wstates4.json").write_text(
        json.dumps({"name": "wstates4.json", "time": [10, 20, 40], "state": [1, 3, 0]})
    )
    (tmp_path / "wstates2.json").write_text(json.dumps({"time": [10, 40], "state": [1, 0]}))
    events = [packed(80, 0, 0, 0, 1), packed(80, 1, 0, 0, 1), packed(160, 1, 0, 0, 0), packed(240, 0, 0, 0, 0)]
    (tmp_path / "occupancy.json").write_text(json.dumps({"0": events, "dispatches": {"1": "k"}}))
    return tmp_path


def test_a_wavefront_is_summed_by_instruction(folder):
    """Issues, latency, stall and idle cycles, and the listing's text and source."""
    trace = thread_trace.read(folder)
    assert not trace.issues
    (one,) = trace.timeline.wavefronts
    assert (one.file, one.shader_engine, one.cu, one.simd, one.slot) == (WAVE, 3, 5, 1, 2)
    assert (one.begin, one.end, one.cycles, one.issued) == (100, 300, 200, 3)
    assert (one.latency, one.stall, one.idle) == (112, 90, 12)
    assert one.states == {"idle": 8, "exec": 92, "stall": 100}
    barrier, load = trace.by_stall()
    assert (barrier.text, barrier.source, barrier.issues, barrier.latency) == ("s_barrier", "k.py:4", 2, 100)
    assert (barrier.stall, barrier.idle, barrier.share) == (90, 4, 1.0)
    assert (load.source, load.issues, load.stall, load.idle) == ("k.py:3", 1, 0, 8)


def test_states_are_integrated_over_time(folder):
    """1 wavefront for 10 cycles and 3 for 20, beside 1 for 30."""
    states = thread_trace.read(folder).timeline.states
    assert [(one.name, one.cycles, one.most) for one in states] == [("exec", 30, 1), ("stall", 70, 3)]
    assert [one.share for one in states] == [0.3, 0.7]


def test_shares_need_every_state(folder):
    """A state that cannot be read leaves no shares; one that is not there is seen by the lifetimes."""
    listing = {"wave_filenames": {"3": {"1": {"2": {"0": [WAVE, 100, 200]}}}}}
    (folder / "filenames.json").write_text(json.dumps(listing))
    assert not thread_trace.read(folder).issues
    (folder / "wstates2.json").write_text('{"time": [')
    trace = thread_trace.read(folder)
    assert [(one.name, one.cycles, one.share) for one in trace.timeline.states] == [("stall", 70, None)]
    (folder / "wstates2.json").unlink()
    (issue,) = thread_trace.read(folder).issues
    assert issue == "the states add up to 70 cycles, but the wavefronts ran for 100: a state may be missing"


def test_occupancy_of_both_layouts_is_the_same(folder, tmp_path):
    """2 wavefronts for half of the time, then one; packed and as lists, which need no order."""
    old, _ = companion_files.read_occupancy(folder / "occupancy.json")
    lists = [[240, 0, 0, 0, 0, 1], [80, 0, 0, 0, 1, 1], [80, 1, 0, 0, True, 1], [160, 1, 0, 0, False, 1]]
    (tmp_path / "new.json").write_text(json.dumps({"0": lists, "dispatches": {}, "version": "3.0.0"}))
    new, issues = companion_files.read_occupancy(tmp_path / "new.json")
    assert new == old
    assert not issues
    assert [(one.cu, one.begun, one.most, one.mean) for one in new] == [(None, 2, 2, 1.5), (0, 1, 1, 1), (1, 1, 1, 0.5)]
    half = companion_files.PARTS // 2
    assert new[0].over_time == (2.0,) * half + (1.0,) * half


def test_a_slot_taken_again_at_once_is_one_wavefront(tmp_path):
    """The end goes before the start of the same cycle; what has no partner is told."""
    events = [packed(0, 0, 0, 0, 1), packed(80, 0, 0, 0, 1), packed(80, 0, 0, 0, 0), packed(160, 0, 0, 0, 0)]
    path = tmp_path / "occupancy.json"
    path.write_text(json.dumps({"2": events, "7": None}))
    (whole, unit), issues = companion_files.read_occupancy(path)
    assert (whole.most, whole.mean, whole.begun, unit.mean, issues) == (1, 1.0, 2, 1.0, ())
    path.write_text(json.dumps({"2": [*events, packed(160, 3, 1, 0, 1)]}))
    found, issues = companion_files.read_occupancy(path)
    assert found[0].most == 1
    assert issues == ("occupancy.json: 1 wavefronts of shader engine 2 began or ended outside the trace",)


def test_without_instructions_or_events(tmp_path):
    """An empty list is written as null."""
    (tmp_path / WAVE).write_text(json.dumps(wave(instructions=None, timeline=None) | {"num_insts": 0}))
    (tmp_path / "occupancy.json").write_text('{"dispatches": {"0": "0 / 0x0"}}')
    timeline, issues = companion_files.read(tmp_path)
    assert (timeline.wavefronts[0].costs, timeline.wavefronts[0].states, timeline.occupancy) == ((), {}, ())
    assert not issues


@pytest.mark.parametrize(
    "changed",
    [
        {"begin": 10**30},
        {"begin": 301},
        {"end": 1 << 50},
        {"begin": "100"},
        {"begin": 1e400},
        {"cu": -1},
        {"instructions": [[108, 1, 0, 12]]},
        {"instructions": [[108, 1, 0, "12", 1]]},
        {"instructions": [[108, 1, 0, -12, 1]]},
        {"instructions": [[108, 1, 0, 1 << 40, 1]]},
        {"instructions": [[1 << 50, 1, 0, 12, 1]]},
        {"instructions": [[108, 1, 0, 12, -1]]},
        {"instructions": {}},
        {"timeline": [[1]]},
        {"timeline": [[1, 10**20]]},
    ],
)
def test_a_wrong_wavefront_is_left_out_and_its_neighbours_stay(folder, changed):
    """One message that names the file."""
    (folder / "se0_sm0_sl0_wv0.json").write_text(json.dumps(wave(**changed)))
    trace = thread_trace.read(folder)
    assert [one.file for one in trace.timeline.wavefronts] == [WAVE]
    (issue,) = trace.issues
    assert issue.startswith("se0_sm0_sl0_wv0.json is left out: ")


@pytest.mark.parametrize(
    ("name", "content", "told"),
    [
        ("wstates1.json", '{"time": [1, 2], "state": [1]}', "left out"),
        ("wstates1.json", '{"time": [2, 1], "state": [1, 0]}', "left out"),
        ("wstates1.json", '{"time": [1, 2], "state": [1, -1]}', "left out"),
        ("wstates1.json", '{"time": [0, 72057594037927936], "state": [1, 0]}', "left out"),
        ("wstates1.json", '{"time": [1, 2], "state": [0, 1]}', "ends with 1"),
        ("wstatesx.json", '{"time": [1, 2], "state": [1, 0]}', "left out"),
        ("occupancy.json", "[]", "left out"),
        ("occupancy.json", "{}", "left out"),
        ("occupancy.json", "[" * 100_000, "left out"),
        ("occupancy.json", '{"0": 7}', "wrong shape"),
        ("occupancy.json", '{"0": [true, -1, 1.5, "a", [1], [1, 2, 3, 4, [], 6], [1, 900, 3, 4, 1, 6]]}', "7 records"),
        ("occupancy.json", '{"0": [[0, 0, 0, 0, 1, 1], [72057594037927936, 0, 0, 0, 0, 1]]}', "further apart"),
        (WAVE, json.dumps(wave() | {"num_insts": 4}), "states 4 instructions but lists 3"),
        (WAVE, json.dumps(wave() | {"duration": 4}), "states 4 cycles but lasts 200"),
        (WAVE, json.dumps(wave(instructions=[[108, 1, 0, 12, 9]]) | {"num_insts": 1}), "1 issues in wavefront files"),
        (WAVE, json.dumps(wave(instructions=[[108, 1, 0, 1, 1]] * 3)), "1 instructions have more issues"),
    ],
)
def test_what_is_odd_is_told(folder, name, content, told):
    """The listing is read in any case."""
    (folder / name).write_text(content)
    trace = thread_trace.read(folder)
    assert len(trace.instructions) == 2
    assert any(told in issue for issue in trace.issues), trace.issues


def test_files_beyond_the_limits_are_told(folder, monkeypatch):
    """In number and in size."""
    (folder / "se4_sm0_sl0_wv0.json").write_text(json.dumps(wave()))
    monkeypatch.setattr(companion_files, "MOST_FILES", 1)
    timeline, issues = companion_files.read(folder)
    assert [one.file for one in timeline.wavefronts] == [WAVE]
    assert any(issue.startswith("only the first 1 files se*_wv*.json are read") for issue in issues)
    monkeypatch.setattr(wave_json, "LARGEST", 100)
    timeline, issues = companion_files.read(folder)
    assert not timeline.wavefronts
    assert any("too large" in issue for issue in issues)


def test_cut_anywhere(folder):
    """A cut file is refused at every byte."""
    for name, reader in (
        (WAVE, wave_json.read),
        ("wstates4.json", companion_files.read_states),
        ("occupancy.json", companion_files.read_occupancy),
    ):
        whole = (folder / name).read_bytes()
        for at in range(len(whole)):
            (folder / name).write_bytes(whole[:at])
            with pytest.raises(KprofError):
                reader(folder / name)


_ANY = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=3),
    lambda inner: st.lists(inner, max_size=6) | st.dictionaries(st.sampled_from(["0", "1", "x"]), inner, max_size=3),
    max_leaves=12,
)


@given(st.dictionaries(st.sampled_from(["0", "1", "dispatches"]), st.lists(_ANY, max_size=8), max_size=3))
def test_any_occupancy_is_refused_or_read(tmp_path_factory, document):
    """Nothing but a message; a mean is between nothing and the most."""
    path = tmp_path_factory.mktemp("any") / "occupancy.json"
    path.write_text(json.dumps(document))
    try:
        found, _ = companion_files.read_occupancy(path)
    except KprofError:
        found = ()
    assert all(one.mean is None or 0 <= one.mean <= one.most for one in found)


@given(st.lists(st.tuples(st.integers(0, 4000), st.integers(0, 3), st.integers(1, 900)), min_size=1, max_size=20))
def test_mean_occupancy_is_that_of_the_lifetimes(tmp_path_factory, lives):
    """Each wavefront in a slot of its own: the mean is the sum of the lifetimes by the time."""
    events = []
    for slot, (begin, unit, cycles) in enumerate(lives):
        events += [[begin, unit, 0, slot, 1, 1], [begin + cycles, unit, 0, slot, 0, 1]]
    path = tmp_path_factory.mktemp("lives") / "occupancy.json"
    path.write_text(json.dumps({"0": events}))
    (whole, *units), issues = companion_files.read_occupancy(path)
    span = max(b + c for b, _, c in lives) - min(b for b, _, _ in lives)
    assert not issues
    assert whole.mean == pytest.approx(sum(cycles for _, _, cycles in lives) / span)
    assert sum(one.mean for one in units) == pytest.approx(whole.mean)
    assert sum(whole.over_time) / len(whole.over_time) == pytest.approx(whole.mean, abs=0.002)


@pytest.fixture
def published(shared):
    """A Triton GEMM on an MI350: 4 of its 56 wavefronts have their file here."""
    return shared / "samples/att/rocprofv3_triton_gemm_afp4/att_hack5/ui_output_agent_50282_dispatch_20"


def test_published_wavefronts_equal_plain_sums(published):
    """Per wavefront and per instruction, against json alone; begin and end against filenames.json."""
    trace = thread_trace.read(published)
    assert not trace.issues
    code = {row[2]: row for row in json.loads((published / "code.json").read_text())["code"]}
    listed = json.loads((published / "filenames.json").read_text())["wave_filenames"]["0"]
    files = sorted(published.glob("se*_wv*.json"))
    assert [one.file for one in trace.timeline.wavefronts] == [path.name for path in files]
    issues, latency, stall = Counter(), Counter(), Counter()
    for path, one in zip(files, trace.timeline.wavefronts, strict=True):
        own = json.loads(path.read_text())
        records = own["wave"]["instructions"]
        assert (one.issued, one.cycles) == (own["num_insts"], own["duration"])
        assert [path.name, one.begin, one.end] == listed[str(one.simd)][str(one.slot)][str(one.number)]
        assert (one.latency, one.stall) == (sum(r[3] for r in records), sum(r[2] for r in records))
        assert sum(one.states.values()) == sum(cycles for _, cycles in own["wave"]["timeline"])
        # Nothing is lost between begin and end: an instruction, or idle. The last may end 4 cycles after the wavefront,
        # and where two overlap, their common cycles are in both latencies.
        assert one.latency + one.idle == pytest.approx(one.cycles, abs=32)
        for record in records:
            issues[record[4]] += 1
            latency[record[4]] += record[3]
            stall[record[4]] += record[2]
    found = trace.by_stall()
    assert {one.line: (one.issues, one.latency, one.stall) for one in found} == {
        line: (issues[line], latency[line], stall[line]) for line in issues
    }
    assert all((one.text, one.source) == (code[one.line][0], code[one.line][3]) for one in found)


def test_published_wavefronts_against_the_listing(published):
    """code.json is the sum over all 56 wavefronts, of which 4 are here: its hits are 14 times as many.

    Only a barrier that half of the wavefronts reach on another way differs. Cycles differ by wavefront: the mean
    latency of these four, which began first, is within 5 % of the listing's.
    """
    trace = thread_trace.read(published)
    parts = trace.wavefronts / len(trace.timeline.wavefronts)
    listed = {one.line: one for one in trace.instructions if one.hits}
    here = {one.line: one for one in trace.by_stall()}
    assert here.keys() <= listed.keys()
    other = [line for line, one in listed.items() if line not in here or here[line].issues * parts != one.hits]
    assert [listed[line].text for line in other] == ["s_barrier", "s_barrier"]
    assert sum(listed[line].hits for line in other) == trace.wavefronts
    assert sum(one.latency for one in here.values()) * parts == pytest.approx(trace.latency, rel=0.05)
    assert sum(one.issues for one in here.values()) * parts == trace.hits


def test_published_states_are_the_lifetimes(published):
    """The states of all 56 wavefronts add up to their lifetimes, but for the 4 cycles at some wavefronts' ends."""
    trace = thread_trace.read(published)
    states = trace.timeline.states
    assert [one.name for one in states] == ["idle", "exec", "wait", "stall"]
    for number, one in enumerate(states, 1):
        own = json.loads((published / f"wstates{number}.json").read_text())
        times = own["time"]
        assert one.cycles == sum(s * (b - a) for s, a, b in zip(own["state"], times, times[1:], strict=False))
        assert one.most == max(own["state"])
    beyond = sum(one.cycles for one in states) - sum(trace.lifetimes)
    assert 0 <= beyond <= 4 * trace.wavefronts
    assert sum(one.share for one in states) == pytest.approx(1)


def test_published_occupancy_has_the_wavefronts(published):
    """The traced CU's wavefronts begin and end in the occupancy when their lists say, to the 8 cycles it resolves."""
    listed = json.loads((published / "filenames.json").read_text())["wave_filenames"]
    occupancy = thread_trace.read(published).timeline.occupancy
    assert {one.shader_engine for one in occupancy} == {0, 1, 2, 3}
    for engine, simds in listed.items():
        (unit,) = [one for one in occupancy if (one.shader_engine, one.cu) == (int(engine), 0)]
        lives = [life for slots in simds.values() for waves in slots.values() for _, *life in waves.values()]
        assert unit.begun == len(lives)
        assert unit.most == sum(len(slots) for slots in simds.values())
        cycles = sum(end - begin for begin, end in lives)
        assert unit.mean * (unit.end - unit.begin) == pytest.approx(cycles, abs=8 * len(lives))
    for engine in range(4):
        whole, *units = [one for one in occupancy if one.shader_engine == engine]
        assert whole.mean == pytest.approx(sum(one.mean for one in units))
