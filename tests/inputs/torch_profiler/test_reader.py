"""The streaming reader gives what json.loads gives, wherever the blocks end and whatever stands in the texts."""

import gzip
import json
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from kprof.errors import KprofError
from kprof.inputs.torch_profiler.events import FullEvent, SlimEvent
from kprof.inputs.torch_profiler.reader import TraceReader

# What is apt to be taken for structure: braces, quotes, escapes, whole event beginnings.
_TEXT = st.text(st.sampled_from(list('{}[],:"\\/ \n\té😀ab')), max_size=12) | st.sampled_from(
    ['},{"ph":"X"', '"}, {"ph": "X"', '\\"},{"name":', "}]", '],"traceEvents":[', "\\", '\\\\"']
)
_VALUE = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**62), 2**62) | st.floats(allow_nan=False, allow_infinity=False) | _TEXT,
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["ph", "name", "cat", "x"]) | _TEXT, inner, max_size=3)
    ),
    max_leaves=6,
)
_EVENT = st.fixed_dictionaries(
    {"ph": st.sampled_from("XMis"), "name": _TEXT, "ts": st.integers(0, 10**15), "dur": st.integers(0, 10**6)},
    optional={"cat": _TEXT, "args": st.dictionaries(_TEXT, _VALUE, max_size=3)},
)
_DOCUMENT = st.builds(
    lambda events, head, foot: {**head, "traceEvents": events, **foot},
    st.lists(_EVENT, max_size=12),
    st.dictionaries(st.sampled_from(["a", "b", "schemaVersion"]), _VALUE, max_size=2),
    st.dictionaries(st.sampled_from(["y", "z", "traceName"]), _VALUE, max_size=2),
)


def read(path: Path, block: int = 1 << 18) -> tuple[list[SlimEvent], TraceReader[SlimEvent]]:
    """All events at once, and the reader with what it says of them."""
    reader = TraceReader(path, SlimEvent, block)
    return [e for events in reader.events() for e in events], reader


def shown(events: list[SlimEvent]) -> list[tuple[object, ...]]:
    """What both sides must agree on."""
    return [(e.ph, e.cat, e.name, e.ts, e.dur) for e in events]


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(document=_DOCUMENT, block=st.integers(1, 400), indent=st.sampled_from([None, 0, 2]), ascii_only=st.booleans())
def test_blocks_of_any_size_give_the_events_of_json_loads(tmp_path, document, block, indent, ascii_only):
    """Events, order and metadata equal json.loads, with blocks down to one byte."""
    path = tmp_path / "t.json"
    path.write_text(json.dumps(document, indent=indent, ensure_ascii=ascii_only), encoding="utf-8")

    events, reader = read(path, block)

    expected = document["traceEvents"]
    assert shown(events) == [(e["ph"], e.get("cat", ""), e["name"], e["ts"], e["dur"]) for e in expected]
    assert reader.metadata == {k: v for k, v in document.items() if k != "traceEvents"}
    assert [i for i in reader.issues if i.lost] == []


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(events=st.lists(_EVENT, max_size=10), block=st.integers(1, 300))
def test_a_bare_list_is_a_trace_too(tmp_path, events, block):
    """The chrome format's other form: no metadata around the events."""
    path = tmp_path / "t.json"
    path.write_text(json.dumps(events), encoding="utf-8")

    found, reader = read(path, block)

    assert [e.name for e in found] == [e["name"] for e in events]
    assert reader.metadata == {}


@pytest.mark.parametrize("style", ["kineto", "compact", "indent", "list"])
@pytest.mark.parametrize("packed", [False, True])
def test_every_layout_plain_and_packed(tmp_path, kineto, style, packed):
    """The profiler's layout, json's two and a list give the same events, also from gzip whatever its name."""
    builder = kineto.small_model(kineto.Builder())
    path = tmp_path / "trace.bin"
    path.write_bytes(gzip.compress(builder.text(style)) if packed else builder.text(style))

    events, reader = read(path, 700)

    assert [(e.name, e.ts, e.dur) for e in events] == [(e["name"], e["ts"], e["dur"]) for e in builder.events]
    assert reader.issues == ()
    assert (reader.metadata.get("schemaVersion") == 1) is (style != "list")


def test_several_gzip_members_are_one_trace(tmp_path, kineto):
    """Tools that append produce files of several members."""
    data = kineto.small_model(kineto.Builder()).text()
    path = tmp_path / "t.json.gz"
    path.write_bytes(gzip.compress(data[:999]) + gzip.compress(data[999:]) + b"\0" * 512)

    events, reader = read(path)

    assert len(events) == 40
    assert reader.issues == ()


def test_a_byte_order_mark_is_no_obstacle(tmp_path):
    """Files saved on Windows begin with one."""
    path = tmp_path / "t.json"
    path.write_bytes(b'\xef\xbb\xbf{"traceEvents": [{"ph": "X", "name": "k", "ts": 1, "dur": 2}]}')

    events, reader = read(path)

    assert shown(events) == [("X", "", "k", 1, 2)]
    assert reader.issues == ()


def test_integer_times_stay_exact_and_full_events_agree(tmp_path, kineto):
    """2021's times need 51 bits; both decoders see the same."""
    builder = kineto.Builder()
    builder.kernel("k", 1610366728298146, 90, 5)
    path = builder.write(tmp_path / "t.json")

    slim = [e for b in TraceReader(path, SlimEvent).events() for e in b]
    full = [e for b in TraceReader(path, FullEvent).events() for e in b]

    assert slim[0].ts == full[0].ts == 1610366728298146
    assert full[0].args is not None
    assert full[0].args.correlation == 5


def test_memory_does_not_grow_with_the_file(tmp_path, kineto):
    """Forty times the events need no more memory: blocks are let go."""
    import tracemalloc

    def peak(repeat: int) -> int:
        builder = kineto.Builder()
        builder.events = kineto.small_model(kineto.Builder()).events * repeat
        path = builder.write(tmp_path / f"{repeat}.json")
        tracemalloc.start()
        try:
            for _ in TraceReader(path, SlimEvent, 1 << 14).events():
                pass
            return tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()

    assert peak(2000) < 1.5 * peak(50) + 100_000


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "empty"),
        (b"  \n ", "empty"),
        (b"hello", "not JSON"),
        (b'{"rocprofiler-sdk-tool": []}', "no list of traceEvents"),
        (b"PK\x03\x04rest", "zip archive"),
        (b"\x28\xb5\x2f\xfdrest", "zstd"),
        (b"SQLite format 3\0", "SQLite"),
        (b"\x1f\x8b" + bytes(range(100)), "not readable as gzip"),
    ],
)
def test_what_is_no_trace_is_refused_in_one_sentence(tmp_path, content, message):
    """Other files give a KprofError that names the file."""
    path = tmp_path / "t.json"
    path.write_bytes(content)

    with pytest.raises(KprofError, match=message) as caught:
        read(path)

    assert caught.value.path == str(path)


def test_a_missing_file_is_named(tmp_path):
    """As is one that cannot be opened."""
    with pytest.raises(KprofError, match="No such file"):
        read(tmp_path / "nowhere.json")
