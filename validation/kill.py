"""Kill commands of kprof at random moments, and check that no process remains and that no stored data is lost.

    python validation/kill.py [--moments 20] [--seed 1] [--command tune ...] [--signal HUP] [--write PAGE]

Each command begins with an empty cache, and with the result of an earlier run at its output path. The moment is random
within the command's undisturbed run time; if the run has ended by then, it is repeated with another moment. Only the
command's own process gets the signal, not its child processes. Then these conditions are checked:

- no process that it started, directly or not, runs ten seconds later (a variable of the environment marks them);
- what it says is kept is there as it was: the lines of a search, the kernels and journals of a recording, every entry
  of the cache, each of which its own reader believes;
- the result is the earlier one or the new one, whole;
- the same command in the same folder comes to the answer of one that nothing disturbed; seen after every kill of a
  search, which goes on from what it has, and after every fourth of the others.
"""

import argparse
import contextlib
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import uuid
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / "analyzers"), str(ROOT / "servers"), str(ROOT / "validation")]

from kill_cases import CASES, FILES, Case, damaged, entries, lost, readable  # noqa: E402

MARK = "KPROF_KILLED"
_SIGNALS = (signal.SIGKILL, signal.SIGHUP)
PATIENCE = 10.0
"""Seconds within which all processes of a killed command must end."""
_LONGEST = 300.0
_AGAIN = 4
_EARLIER = b'{"schema": "kprof.baseline/1", "kernels": {}}\n'


@dataclass
class Row:
    """Results for one command and one signal.

    Attributes:
        kills: number of kills while it ran.
        processes: total number of its processes at these moments.
        orphans: number of processes that did not end.
        slowest: maximum seconds until all processes had ended.
        kept: total number of lines, kernels and entries that were stored by then.
        again: number of times that the command was run again afterwards.
        problems: problems found, one sentence each.
    """

    kills: int = 0
    processes: int = 0
    orphans: int = 0
    slowest: float = 0.0
    kept: int = 0
    again: int = 0
    problems: list[str] = field(default_factory=list)


def marked(mark: str) -> list[int]:
    """Return the processes whose initial environment contains a mark, without those that have ended."""
    found = []
    for path in Path("/proc").glob("[0-9]*/environ"):
        with contextlib.suppress(OSError):
            if f"{MARK}={mark}".encode() in path.read_bytes().split(b"\0"):
                found.append(int(path.parent.name))
    return found


def below(pid: int) -> Iterator[int]:
    """Return every descendant of a process, regardless of its environment."""
    for path in Path(f"/proc/{pid}/task").glob("*/children"):
        with contextlib.suppress(OSError):
            for child in map(int, path.read_text().split()):
                yield child
                yield from below(child)


def lives(pid: int) -> bool:
    """Return whether a process runs; a zombie does not."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def _listen() -> None:
    # A shell's background jobs and nohup ignore these signals, and children inherit that.
    for number in (signal.SIGHUP, signal.SIGINT, signal.SIGTERM, signal.SIGPIPE):
        signal.signal(number, signal.SIG_DFL)


def start(case: Case, folder: Path, mark: str) -> "subprocess.Popen[bytes]":
    """Start a command in its own folder, which also contains its cache."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("KPROF_", "TRITON_"))}
    environment |= {
        MARK: mark,
        "KPROF_CACHE_DIR": str(folder / "cache"),
        "TRITON_CACHE_DIR": str(folder / "triton"),
        "TMPDIR": str(folder / "tmp"),
        "PYTHONPATH": os.pathsep.join([str(ROOT), str(ROOT / "analyzers"), str(ROOT / "servers")]),
    }
    with (folder / "printed").open("wb") as printed:
        return subprocess.Popen(
            [sys.executable, "-m", "kprof", *case.arguments],
            cwd=folder,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=printed,
            stderr=printed,
            preexec_fn=_listen,  # noqa: PLW1509 - nothing else runs here
        )


def fill(case: Case, folder: Path) -> None:
    """Create the folder with the command's files and the result of an earlier run.

    The path is the same every time, because answers contain it.
    """
    shutil.rmtree(folder, ignore_errors=True)
    (folder / "tmp").mkdir(parents=True)
    for file, text in FILES.items():
        (folder / file).write_text(text)
    if case.written:
        (folder / case.written).write_bytes(_EARLIER)


def undisturbed(case: Case, folder: Path) -> tuple[float, Any]:
    """Return the seconds that a command takes, and its answer.

    Raises:
        SystemExit: the command fails.
    """
    fill(case, folder)
    began = time.monotonic()
    code = start(case, folder, uuid.uuid4().hex).wait(_LONGEST)
    seconds = time.monotonic() - began
    if code:
        raise SystemExit(f"{case.name}: exit code {code}\n{(folder / 'printed').read_text()}")
    return seconds, _plain(case.answer(folder))


def _plain(answer: Any) -> Any:
    return json.loads(json.dumps(answer))


def kill(case: Case, how: signal.Signals, moment: float, folder: Path, row: Row) -> bool:
    """Kill one run of a command; return False if it had ended before.

    Args:
        case: the command.
        how: the signal.
        moment: seconds after its start.
        folder: folder to run in, which is created again.
        row: row to which the result is added.
    """
    fill(case, folder)
    mark = uuid.uuid4().hex
    process = start(case, folder, mark)
    time.sleep(moment)
    kept, cached = case.kept(folder), entries(folder)
    known = {*marked(mark), *below(process.pid)}
    if process.poll() is not None:
        return False
    process.send_signal(how)
    sent = time.monotonic()
    left = {pid for pid in known if lives(pid)}
    while left and time.monotonic() - sent < PATIENCE:
        time.sleep(0.02)
        process.poll()
        left = {pid for pid in known.union(marked(mark)) if lives(pid)}
    row.kills += 1
    row.processes += len(known)
    row.slowest = max(row.slowest, time.monotonic() - sent)
    row.kept += len(kept) + len(cached)
    row.orphans += len(left)
    found = [f"process {_command(pid)!r} stays" for pid in left]
    for pid in left:
        with contextlib.suppress(OSError):
            os.kill(pid, signal.SIGKILL)
    process.wait()
    found += _left(case, folder, kept, cached)
    row.problems += [f"after {moment:.2f} s: {problem}" for problem in found]
    return True


def _left(case: Case, folder: Path, kept: Any, cached: Any) -> list[str]:
    """Return the problems in the files that a killed command has left."""
    now = entries(folder)
    # An index may be replaced by a larger one.
    found = [f"{name} of the cache is lost" for name in cached if name not in now]
    found += lost(case, folder, kept) + damaged(folder) + readable(case, folder)
    if case.written:
        content = (folder / case.written).read_bytes()
        if not _is_whole(content):
            found.append(f"{case.written} is not whole")
    return found


def _is_whole(content: bytes) -> bool:
    """Return whether a document or a page is complete."""
    if content.lower().startswith(b"<!doctype"):
        return content.rstrip().endswith(b"</html>")
    try:
        json.loads(content)
    except ValueError:
        return False
    return True


def _again(case: Case, folder: Path, right: Any) -> list[str]:
    """Run the same command again in the same folder, and return what is wrong with its answer."""
    process = start(case, folder, uuid.uuid4().hex)
    code = process.wait(_LONGEST)
    if code:
        return [f"the next run has exit code {code}: {(folder / 'printed').read_text()[-300:]}"]
    answer = _plain(case.answer(folder))
    return [] if answer == right else [f"the next run has another answer: {answer} for {right}"[:2000]]


def _command(pid: int) -> str:
    try:
        words = Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
    except OSError:
        return str(pid)
    return words[-120:]


def series(case: Case, how: signal.Signals, folder: Path, ran: tuple[float, Any], *, moments: int, seed: int) -> Row:
    """Kill a command at several moments.

    Args:
        case: the command.
        how: the signal.
        folder: folder to run in.
        ran: result of :func:`undisturbed`.
        moments: number of kills.
        seed: random seed of the moments.
    """
    draw, row = random.Random(f"{seed} {case.name} {how.name}"), Row()
    seconds, right = ran
    tries = 0
    while row.kills < moments and tries < 4 * moments:
        tries += 1
        killed = kill(case, how, draw.uniform(0, seconds), folder, row)
        if killed and (case.goes_on or row.kills % _AGAIN == 1):
            row.again += 1
            row.problems += _again(case, folder, right)
    return row


_HEAD = (
    "| command | signal | kills | processes | orphans | slowest end | kept | run again | problems |",
    "|---|---|---|---|---|---|---|---|---|",
)


def _line(case: Case, how: signal.Signals, row: Row) -> str:
    cells = [case.name, how.name, row.kills, row.processes, row.orphans, f"{row.slowest:.1f} s", row.kept, row.again]
    return f"| {' | '.join(map(str, cells))} | {len(row.problems)} |"


def _write(page: Path, rows: Sequence[str]) -> None:
    """Write rows into the page's table; a row replaces the previous one of the same command and signal."""
    text = page.read_text(encoding="utf-8")
    begin, end = "<!-- kills -->\n", "<!-- end of kills -->"
    head, _, rest = text.partition(begin)
    table, _, rest = rest.partition(end)
    found = {_key(row): row for row in (*table.splitlines()[len(_HEAD) :], *rows)}
    wanted = [key for case in CASES for how in _SIGNALS if (key := (case.name, how.name)) in found]
    lines = [*_HEAD, *(found[key] for key in wanted)]
    page.write_text(f"{head}{begin}" + "\n".join(lines) + f"\n{end}{rest}", encoding="utf-8")


def _key(row: str) -> tuple[str, str]:
    """Return command and signal of a row."""
    _, command, how, *_ = (cell.strip() for cell in row.split("|"))
    return command, how


def main() -> None:
    """Print a table and every problem; the exit code is 1 if there are any."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--moments", type=int, default=20, help="For each command and signal.")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--command", action="append", choices=[case.name for case in CASES])
    parser.add_argument("--signal", action="append", choices=["KILL", "HUP"], help="Both by default.")
    parser.add_argument("--write", type=Path, help="Put the rows into a page's table, between its markers.")
    given = parser.parse_args()
    if not Path("/proc/self/environ").exists():
        raise SystemExit("this system does not show the environment of processes")
    rows: list[str] = []
    problems: list[str] = []
    print("\n".join(_HEAD))
    with tempfile.TemporaryDirectory(prefix="kprof-kill-") as place:
        for case in CASES:
            if given.command and case.name not in given.command:
                continue
            folder = Path(place) / case.name
            ran = undisturbed(case, folder)
            for how in _SIGNALS:
                if given.signal and how.name.removeprefix("SIG") not in given.signal:
                    continue
                row = series(case, how, folder, ran, moments=given.moments, seed=given.seed)
                rows.append(_line(case, how, row))
                problems += row.problems
                print("\n    ".join([rows[-1], *row.problems]), flush=True)
    if given.write:
        _write(given.write, rows)
    sys.exit(1 if problems else 0)


if __name__ == "__main__":
    main()
