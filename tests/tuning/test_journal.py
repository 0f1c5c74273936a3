"""What a search keeps survives kill -9, and what was cut off is passed over."""

import os
import signal
import subprocess
import sys
from hashlib import sha256
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from kprof.errors import KprofError
from kprof.tuning.journal import TuningJournal, place
from kprof.tuning.work import TaskResult

WRITER = """
import sys, itertools
from pathlib import Path
from kprof.tuning.journal import TuningJournal
from kprof.tuning.work import TaskResult
journal = TuningJournal(Path(sys.argv[1]))
for number in itertools.count():
    journal.add(TaskResult(f"key{number}", "ok", reason="x" * 500, time_us=float(number)))
    print(number, flush=True)
"""


def test_nothing_is_lost_when_killed(tmp_path: Path) -> None:
    """Every answer that was added before kill -9 is there afterwards."""
    path = tmp_path / "search.jsonl"
    writer = subprocess.Popen(
        [sys.executable, "-c", WRITER, str(path)],
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(p for p in sys.path if p)},
    )
    assert writer.stdout is not None
    said = [writer.stdout.readline().strip() for _ in range(50)]
    writer.send_signal(signal.SIGKILL)
    rest = writer.stdout.read()
    writer.stdout.close()
    writer.wait()

    known = TuningJournal(path).known()

    told = [int(line) for line in [*said, *rest.split()] if line.isdigit()]
    assert {f"key{number}" for number in told} <= known.keys()
    assert known["key7"].time_us == 7.0


def test_a_line_that_was_cut_off(tmp_path: Path) -> None:
    """Cut and foreign lines are passed over, and what is added later stands on a line of its own."""
    path = tmp_path / "search.jsonl"
    journal = TuningJournal(path)
    journal.add(TaskResult("a", "ok", time_us=1.0))
    journal.close()
    with path.open("ab") as file:
        file.write(b'not json\n{"key": 3}\n\xff\xff\n{"key":"b","status":"o')

    journal = TuningJournal(path)
    journal.add(TaskResult("c", "ok", time_us=3.0))
    journal.close()

    assert set(TuningJournal(path).known()) == {"a", "c"}


def test_the_first_answer_counts_and_accidents_do_not(tmp_path: Path) -> None:
    """A key is known once; what says nothing about a configuration is tried again."""
    journal = TuningJournal(tmp_path / "search.jsonl")
    for answer in (
        TaskResult("a", "ok", time_us=1.0),
        TaskResult("a", "ok", time_us=2.0),
        TaskResult("b", "killed"),
        TaskResult("c", "timeout"),
        TaskResult("d", "crashed", reason="crashed: signal 6 (SIGABRT)"),
    ):
        journal.add(answer)

    known = journal.known()

    assert set(known) == {"a", "d"}
    assert known["a"].time_us == 1.0


def test_fresh_forgets(tmp_path: Path) -> None:
    """Only when asked."""
    path = tmp_path / "deep" / "search.jsonl"
    TuningJournal(path).add(TaskResult("a", "ok"))

    assert set(TuningJournal(path).known()) == {"a"}
    assert TuningJournal(path, fresh=True).known() == {}


def test_where_it_is_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In the folder given, else in the user's cache; a kernel's name cannot lead out of it."""
    monkeypatch.setenv("KPROF_CACHE_DIR", str(tmp_path))

    assert place("out", "gemm", "gfx942", ()) == Path("out") / "search.jsonl"
    inside = place(None, "../../etc/x", "gfx942", ("/a.py",))
    assert inside.parent == tmp_path / "searches"
    assert inside != place(None, "../../etc/x", "gfx942", ("/b.py",))


def test_a_folder_that_cannot_be_written(tmp_path: Path) -> None:
    """One sentence with the path."""
    (tmp_path / "file").write_text("")

    with pytest.raises(KprofError, match="cannot keep the search"):
        TuningJournal(tmp_path / "file" / "search.jsonl")


def test_a_search_in_the_cache_goes_on_where_it_cannot_be_kept(tmp_path: Path) -> None:
    """It is told with the first answer; a folder that was asked for is another matter, see above."""
    (tmp_path / "file").write_text("")
    for path in (tmp_path / "file" / "search.jsonl", None):
        journal = TuningJournal(path, in_cache=True)
        assert journal.known() == {}
        with pytest.raises(KprofError, match="cannot keep the search"):
            journal.add(TaskResult("a", "ok"))
        journal.close()


def test_a_search_in_the_cache_is_its_user_s_alone(tmp_path: Path) -> None:
    """Whatever the umask; a file that others may write to is not taken."""
    path = tmp_path / "cache" / "searches" / "a.jsonl"
    before = os.umask(0)
    try:
        journal = TuningJournal(path, in_cache=True)
        journal.add(TaskResult("a", "ok"))
        journal.close()
    finally:
        os.umask(before)
    assert path.stat().st_mode & 0o777 == 0o600
    assert {p.stat().st_mode & 0o777 for p in (path.parent, path.parent.parent)} == {0o700}
    path.chmod(0o666)
    with pytest.raises(KprofError, match="others may write"):
        TuningJournal(path, in_cache=True).add(TaskResult("b", "ok"))


@pytest.mark.parametrize(
    "members",
    [b'"key","k1"}', b'"key":1}', b'"status":"ok"}', b'"key":"\xff","status":"ok"}', b'"a":' + b"[" * 50_000, b""],
)
def test_a_line_of_another_form_is_passed_over(tmp_path: Path, members: bytes) -> None:
    """Its checksum fits: another version wrote it, or somebody who knows how."""
    path = tmp_path / "search.jsonl"
    journal = TuningJournal(path, fresh=True)
    journal.add(TaskResult("before", "ok"))
    os.write(journal._file or -1, b'{"sum":"' + sha256(members).hexdigest()[:16].encode() + b'",' + members + b"\n")
    journal.add(TaskResult("behind", "ok"))
    assert journal.known().keys() == {"before", "behind"}
    journal.close()


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=100, deadline=None)
@given(data=st.data())
def test_a_line_that_was_altered_is_no_answer(tmp_path: Path, data: st.DataObject) -> None:
    """One bit turned anywhere: that answer is asked for again, the other ones stay as they were."""
    path = tmp_path / "search.jsonl"
    journal = TuningJournal(path, fresh=True)
    answers = [TaskResult(f"key{number}", "ok", time_us=float(number), bound="memory") for number in range(3)]
    for answer in answers:
        journal.add(answer)
    journal.close()
    raw = bytearray(path.read_bytes())
    at = data.draw(st.integers(0, len(raw) - 1))
    raw[at] ^= 1 << data.draw(st.integers(0, 7))
    path.write_bytes(raw)
    journal = TuningJournal(path)
    known = journal.known()
    journal.close()
    assert all(known[answer.key] == answer for answer in answers if answer.key in known)
    assert known.keys() <= {answer.key for answer in answers}
    assert len(known) >= 1
    assert len(known) < 3 or raw[at] == ord("\n") or chr(raw[at] ^ 1) == "\n"
