"""What a search keeps survives kill -9, and what was cut off is passed over."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from kprof.errors import KprofError
from kprof.tuning.journal import Journal, place
from kprof.tuning.work import Answer

WRITER = """
import sys, itertools
from pathlib import Path
from kprof.tuning.journal import Journal
from kprof.tuning.work import Answer
journal = Journal(Path(sys.argv[1]))
for number in itertools.count():
    journal.add(Answer(f"key{number}", "ok", reason="x" * 500, time_us=float(number)))
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

    known = Journal(path).known()

    told = [int(line) for line in [*said, *rest.split()] if line.isdigit()]
    assert {f"key{number}" for number in told} <= known.keys()
    assert known["key7"].time_us == 7.0


def test_a_line_that_was_cut_off(tmp_path: Path) -> None:
    """Cut and foreign lines are passed over, and what is added later stands on a line of its own."""
    path = tmp_path / "search.jsonl"
    journal = Journal(path)
    journal.add(Answer("a", "ok", time_us=1.0))
    journal.close()
    with path.open("ab") as file:
        file.write(b'not json\n{"key": 3}\n\xff\xff\n{"key":"b","status":"o')

    journal = Journal(path)
    journal.add(Answer("c", "ok", time_us=3.0))
    journal.close()

    assert set(Journal(path).known()) == {"a", "c"}


def test_the_first_answer_counts_and_accidents_do_not(tmp_path: Path) -> None:
    """A key is known once; what says nothing about a configuration is tried again."""
    journal = Journal(tmp_path / "search.jsonl")
    for answer in (
        Answer("a", "ok", time_us=1.0),
        Answer("a", "ok", time_us=2.0),
        Answer("b", "killed"),
        Answer("c", "timeout"),
        Answer("d", "crashed", reason="crashed: signal 6 (SIGABRT)"),
    ):
        journal.add(answer)

    known = journal.known()

    assert set(known) == {"a", "d"}
    assert known["a"].time_us == 1.0


def test_fresh_forgets(tmp_path: Path) -> None:
    """Only when asked."""
    path = tmp_path / "deep" / "search.jsonl"
    Journal(path).add(Answer("a", "ok"))

    assert set(Journal(path).known()) == {"a"}
    assert Journal(path, fresh=True).known() == {}


def test_where_it_is_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In the folder given, else in the user's cache; a kernel's name cannot lead out of it."""
    monkeypatch.setenv("KPROF_CACHE_DIR", str(tmp_path))

    assert place("out", "gemm", "gfx942", ()) == Path("out") / "search.jsonl"
    inside = place(None, "../../etc/x", "gfx942", ("/a.py",))
    assert inside.parent == tmp_path / "searches-1"
    assert inside != place(None, "../../etc/x", "gfx942", ("/b.py",))


def test_a_folder_that_cannot_be_written(tmp_path: Path) -> None:
    """One sentence with the path."""
    (tmp_path / "file").write_text("")

    with pytest.raises(KprofError, match="cannot keep the search"):
        Journal(tmp_path / "file" / "search.jsonl")
