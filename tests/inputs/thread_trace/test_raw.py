"""Raw ``.att`` files: told apart from an empty folder, and never in the way of a decoded trace."""

from pathlib import Path

import pytest

from kprof.errors import InputError
from kprof.inputs import thread_trace

TABLE = 'CodeObj, Vaddr, Instruction, Hitcount, Latency, Source\n4,5888,"s_endpgm",10,400,""\n'


def raw(folder: Path, name: str = "1_2_shader_engine_0_3.att") -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / name
    file.write_bytes(bytes(range(256)))
    return file


def test_a_raw_file_is_named_as_one_with_what_decodes_it(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"raw thread trace \(\.att\), not decoded") as caught:
        thread_trace.read(raw(tmp_path))
    assert "--att-library-path" in str(caught.value.hint)


@pytest.mark.parametrize(("files", "said"), [(1, "one raw thread trace"), (3, "3 raw thread traces")])
def test_a_folder_of_raw_files_says_how_many(tmp_path: Path, files: int, said: str) -> None:
    for engine in range(files):
        raw(tmp_path / "below", f"1_2_shader_engine_{engine}_3.att")
    with pytest.raises(InputError, match=said):
        thread_trace.read(tmp_path)


def test_a_folder_without_any_says_that_nothing_is_there(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no decoded thread trace in this folder"):
        thread_trace.read(tmp_path)


def test_a_missing_raw_file_is_missing(tmp_path: Path) -> None:
    with pytest.raises(InputError) as caught:
        thread_trace.read(tmp_path / "none.att")
    assert "raw thread trace" not in str(caught.value)


def test_a_decoded_trace_beside_raw_files_is_read(tmp_path: Path) -> None:
    raw(tmp_path)
    (tmp_path / "att.csv").write_text(TABLE)
    assert thread_trace.read(tmp_path).hits == 10


def test_a_table_of_that_name_is_read(tmp_path: Path) -> None:
    file = tmp_path / "table.att"
    file.write_text(TABLE)
    assert thread_trace.read(file).hits == 10
