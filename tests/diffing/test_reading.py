"""Documents that are read back, and files that are none."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kprof.diffing.reading import looks_like_json, read_report
from kprof.errors import KprofError
from kprof.report import Report, Verdict
from kprof.reporters.json_document import JsonReporter


@pytest.fixture(scope="session")
def document(made) -> str:
    report = Report(kprof="1", kernels=[made.kernel()], verdict=Verdict("ok", "fine"))
    return JsonReporter().render(report)


def test_what_is_written_is_read_back(document: str, made, tmp_path: Path) -> None:
    path = tmp_path / "r.json"
    path.write_text("\ufeff" + document)
    assert looks_like_json(path)
    assert read_report(path).kernels == [made.kernel()]


@given(st.integers(0, 3000))
def test_a_document_cut_anywhere_gives_one_message(document: str, tmp_path_factory, at: int) -> None:
    path = tmp_path_factory.mktemp("cut") / "r.json"
    path.write_text(document[: min(at, len(document) - 3)])
    with pytest.raises(KprofError) as caught:
        read_report(path)
    assert caught.value.path == str(path)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('{"schema": "kprof.report/2", "kernels": []}', "kprof.report/2"),
        ('{"schema": "kprof.diff/1"}', "kprof.diff/1"),
        ('{"name": "gemm", "num_warps": 4}', "names no schema"),
        ('{"schema": 7}', "no kprof.report/1"),
        ('{"schema": "kprof.report/1", "kernels": 3}', "does not keep to"),
        ('{"schema": "kprof.report/1"}', "does not keep to"),
        ("[1, 2]", "no kprof.report/1"),
        ("[" * 100_000, "no "),
        ("", "no whole JSON"),
        ("\x00\x01", "no whole JSON"),
    ],
)
def test_other_documents_are_told_apart(tmp_path: Path, text: str, said: str) -> None:
    path = tmp_path / "r.json"
    path.write_text(text)
    with pytest.raises(KprofError, match=said):
        read_report(path)


def test_a_missing_file_is_told(tmp_path: Path) -> None:
    with pytest.raises(KprofError, match="cannot be read"):
        read_report(tmp_path / "none.json")
