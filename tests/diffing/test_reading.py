"""Documents that are read back, and files that are none."""

import io
import json
import re
from pathlib import Path

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rich.console import Console

from kprof.diffing.comparing import Input, diff
from kprof.diffing.limits import DiffLimits
from kprof.diffing.reading import read_report
from kprof.document import Report, Verdict
from kprof.errors import KprofError
from kprof.reporters import diff_markdown
from kprof.reporters.diff_text import DiffTextReporter
from kprof.reporters.json_document import encoded
from kprof.targets.target import is_report


@pytest.fixture(scope="session")
def document(made) -> str:
    report = Report(kprof="1", kernels=[made.kernel()], verdict=Verdict("ok", "fine"))
    return encoded(report)


def test_what_is_written_is_read_back(document: str, made, tmp_path: Path) -> None:
    path = tmp_path / "r.json"
    path.write_text("\ufeff" + document)
    assert is_report(path)
    assert is_report(path.rename(tmp_path / "r"))
    path = tmp_path / "r"
    assert read_report(path).kernels == [made.kernel()]


@given(st.integers(0, 3000))
def test_a_document_cut_anywhere_gives_one_message(document: str, tmp_path_factory, at: int) -> None:
    path = tmp_path_factory.mktemp("cut") / "r.json"
    path.write_text(document[: min(at, len(document) - 3)])
    with pytest.raises(KprofError) as caught:
        read_report(path)
    assert caught.value.path == str(path)


_WRITES = "kprof analyze kernel TARGET --json FILE writes one; a Triton cache is given as its directory."


@pytest.mark.parametrize(
    ("text", "said", "hint"),
    [
        (
            '{"schema": "kprof.report/2"}',
            "the document is 'kprof.report/2', but only kprof.report/1 can be compared",
            None,
        ),
        (
            '{"schema": "' + "x" * 61 + '"}',
            f"the document is {'x' * 60!r}, but only kprof.report/1 can be compared",
            None,
        ),
        ('{"name": "gemm"}', "this JSON is not a kprof.report/1 document: it has no schema", _WRITES),
        ('{"schema": 7}', "this JSON is not a kprof.report/1 document", _WRITES),
        ("[1, 2]", "this JSON is not a kprof.report/1 document", _WRITES),
        ("", "this is not a complete JSON document: Input data was truncated", None),
        ("\x00\x01", "this is not a complete JSON document: JSON is malformed: invalid character (byte 0)", None),
    ],
)
def test_other_documents_are_told_apart(tmp_path: Path, text: str, said: str, hint: str | None) -> None:
    path = tmp_path / "r.json"
    path.write_text(text)
    with pytest.raises(KprofError) as caught:
        read_report(path)
    assert (caught.value.message, caught.value.hint, caught.value.path) == (said, hint, str(path))


@pytest.mark.parametrize(
    "text",
    [
        '{"schema": "kprof.report/1", "kernels": 3}',
        '{"schema": "kprof.report/1"}',
        '{"schema": "kprof.report/1", "schema": "kprof.report/1", "kprof": "1", "kernels": []}',
    ],
)
def test_a_document_that_does_not_keep_to_its_schema_is_refused(tmp_path: Path, text: str) -> None:
    """Of another type, without what it needs, or with a key twice."""
    path = tmp_path / "r.json"
    path.write_text(text)
    with pytest.raises(KprofError) as caught:
        read_report(path)
    assert re.match(r"the document does not match kprof\.report/1\b(?!~)", caught.value.message)


def test_a_document_of_brackets_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "r.json"
    path.write_text("[" * 100_000)
    with pytest.raises(KprofError, match="not a "):
        read_report(path)


def test_a_missing_file_is_told(tmp_path: Path) -> None:
    with pytest.raises(KprofError, match="no such file"):
        read_report(tmp_path / "none.json")


_numbers = st.one_of(st.integers(-(2**62), 2**62), st.sampled_from([0, 1, -1]))
_text = st.text(max_size=12)


@st.composite
def _hostile(draw: st.DrawFn) -> dict[str, object]:
    """An entry that keeps to the schema and to nothing else."""
    names = st.one_of(_text, st.sampled_from(["global_load_dword", "ds_read_b64", "ds_", "buffer_", "flat_store_x"]))
    counts = st.dictionaries(names, _numbers, max_size=4)
    loop = {
        "header": draw(_text),
        "depth": draw(_numbers),
        "lines": draw(st.dictionaries(_text, st.tuples(_numbers, _numbers), max_size=2)),
        "instructions": draw(counts),
        "classes": draw(counts),
        "waits": draw(st.dictionaries(st.sampled_from(["vmcnt(0)", "x"]), _numbers)),
        "bytes_per_wave": draw(st.dictionaries(st.sampled_from(["global_load", "y"]), _numbers)),
        "spill_accesses": draw(_numbers),
        "innermost": draw(st.booleans()),
        "matrix": draw(counts),
        "flops": draw(_numbers),
        "hot": draw(st.booleans()),
    }
    finding = {"rule": draw(_text), "name": draw(_text), "severity": "warning", "message": draw(_text)}
    return {
        "name": draw(st.sampled_from(["k", "[red]\x1b[31m", ""])),
        "arch": "gfx942",
        "source": {"file": draw(_text), "line": draw(_numbers)},
        "resources": {name: draw(st.one_of(st.none(), _numbers)) for name in ("vgpr_spills", "lds_bytes", "sgpr")},
        "occupancy": {
            "waves_per_simd": draw(st.one_of(_numbers, st.floats(allow_nan=False, allow_infinity=False))),
            "max_waves_per_simd": 8,
            "workgroups_per_cu": 1,
            "limiter": "vgpr",
            "limits": {},
        },
        "loops": [loop] * draw(st.integers(0, 2)),
        "instructions": draw(counts),
        "findings": [finding] * draw(st.integers(0, 1)),
        "notes": draw(st.lists(_text, max_size=2)),
    }


@settings(max_examples=50)
@given(st.lists(_hostile(), max_size=2), st.lists(_hostile(), max_size=2))
def test_documents_that_make_no_sense_are_compared_all_the_same(left, right) -> None:
    sides = []
    for label, entries in (("a", left), ("b", right)):
        text = json.dumps({"kprof": "1", "kernels": entries, "verdict": {"status": "ok", "summary": ""}})
        sides.append(Input(label, msgspec.json.decode(text, type=Report).kernels))
    found = diff(sides, DiffLimits())
    assert found.verdict.status in {"ok", "regression", "cannot_tell"}
    stream = io.StringIO()
    DiffTextReporter(Console(file=stream, width=80), 2).show(found)
    assert "\x1b[31m" not in stream.getvalue()
    assert diff_markdown.render(found)
    assert msgspec.json.decode(encoded(found))["schema"] == "kprof.diff/1"
