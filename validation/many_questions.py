"""Send a thousand mixed queries to one session, as a page, an agent and an editor would, and check its stability.

    python validation/many_questions.py [--count 1000] [--seed 1] [--write docs/validation/session.md]

The queries change knobs and change them back, open listings, and compare and rank configurations. The file is saved
between queries; some queries are invalid and some are cancelled. Then these conditions are checked:

- memory of this process, and of each of those that it has started, does not grow: the last quarter is compared with
  the second;
- no process is left ten seconds after the session was closed;
- every answer is the one that a new session with an empty cache gives, asked in another order.
"""

import argparse
import json
import os
import random
import statistics
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import CancelledError
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / "analyzers")]

from kprof.api.live.session import Session  # noqa: E402
from kprof.errors import KprofError  # noqa: E402

ASSEMBLY = ROOT / "tests" / "artifacts" / "gfx942" / "matmul.triton-3.9.0.amdgcn"
SOURCE = """\
import triton
import triton.language as tl


@triton.jit
def mine(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + at, mask=at < n)
    tl.store(y_ptr + at, x * {factor}, mask=at < n)
"""
VERSIONS = (2.0, 3.0, 5.0)
BLOCKS = (256, 512, 1024, 2048, 4096)
MINE = {
    "target": "mine.py::mine",
    "arch": "gfx942",
    "signature": "*fp32:16,*fp32:16,i32:16",
    "shape": {"n": 1 << 20},
    "grid": [1024],
}
VOLATILE = frozenset({"compile_seconds", "cached", "seconds"})
PATIENCE = 10.0
GROWTH = 1.10

Asked = tuple[str, str]
"""A query's name and its arguments as JSON."""


@dataclass
class Result:
    """Results of the queries.

    Attributes:
        kinds: number of answered, invalid and cancelled queries.
        megabytes: memory of each process after equal numbers of queries; the asking process comes first.
        slowest_again: maximum seconds of a repeated query without a saved file in between.
        orphans: processes left after the session was closed.
        compared: answers compared with those of a new session.
        different: queries to which the new session gives another answer.
    """

    kinds: Counter[str] = field(default_factory=Counter)
    megabytes: list[list[float]] = field(default_factory=list)
    slowest_again: float = 0.0
    orphans: int = 0
    compared: int = 0
    different: list[str] = field(default_factory=list)

    @property
    def growth(self) -> float:
        """Return the memory of the last quarter divided by that of the second: the larger ratio of asker and others.

        A process: how many compilers are alive differs from moment to moment. Medians: processes are replaced, and a
        young one is smaller.
        """
        return max(
            _quarters(series, statistics.median)[3] / _quarters(series, statistics.median)[1]
            for series in (self.own, self.others)
        )

    @property
    def own(self) -> list[float]:
        """Return the megabytes of the asking process."""
        return [each[0] for each in self.megabytes]

    @property
    def others(self) -> list[float]:
        """Return the mean megabytes of the processes that the session has started."""
        return [statistics.mean(each[1:] or [0.0]) for each in self.megabytes]


def _quarters(values: Sequence[float], of: Callable[[Sequence[float]], float]) -> list[float]:
    """Return a statistic of each quarter of a series."""
    size = max(1, len(values) // 4)
    return [of(values[at : at + size] or values[-1:]) for at in range(0, 4 * size, size)]


def one(draw: random.Random) -> Asked:
    """Draw a random query."""
    block = {"constexpr": {"BLOCK": draw.choice(BLOCKS)}, "config": {"num_warps": draw.choice((2, 4, 8))}}
    kernel = {**MINE, **block}
    assembly = {"target": "k.amdgcn", "arch": "gfx942"}
    known = draw.choice((kernel, assembly))
    kind = draw.choices(
        ("report", "analyze", "listing", "knobs", "compare", "difference", "occupancy", "rule", "kernels", "wrong"),
        (30, 15, 15, 8, 6, 4, 10, 4, 2, 6),
    )[0]
    if kind in {"report", "analyze"}:
        return kind, _text(known)
    if kind == "listing":
        stages = ("python", "ttir", "ttgir", "llir", "amdgcn") if known is kernel else ("amdgcn",)
        return kind, _text({**known, "stage": draw.choice(stages)})
    if kind == "knobs":
        return kind, _text(MINE | {"constexpr": {"BLOCK": 1024}})
    if kind == "compare":
        sides = [{"constexpr": {"BLOCK": each}} for each in draw.sample(BLOCKS, 2)]
        return kind, _text({**MINE, "old": sides[0], "new": sides[1]})
    if kind == "difference":
        sides = [{**block, "constexpr": {"BLOCK": each}} for each in draw.sample(BLOCKS, 2)]
        return kind, _text({**MINE, "stage": "ttgir", "old": sides[0], "new": sides[1]})
    if kind == "occupancy":
        return kind, _text({"arch": "gfx942", "vgpr": draw.randrange(8, 512, 8), "lds": 0, "num_warps": 4})
    if kind == "rule":
        return "explain_rule", _text({"rule": draw.choice(("KP301", "KP204", "KP502", "KP403"))})
    if kind == "kernels":
        return kind, _text({"arch": draw.choice(("MI300X", "gfx1100"))})
    wrong = (
        {"target": "nothing.py::at_all"},
        {"target": "k.amdgcn", "config": {"BLOCK": 1}},
        {**MINE, "arch": "gfx000"},
    )
    return "report", _text(draw.choice(wrong))


def _text(arguments: dict[str, Any]) -> str:
    return json.dumps(arguments, sort_keys=True)


def answer(session: Session, asked: Asked) -> str:
    """Return the answer or the error as text, without parts that differ between runs."""
    try:
        return json.dumps(_steady(session.ask(asked[0], **json.loads(asked[1]))), sort_keys=True)
    except KprofError as error:
        return f"{type(error).__name__}: {error}"


def _steady(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _steady(each) for name, each in value.items() if name not in VOLATILE}
    return [_steady(each) for each in value] if isinstance(value, list) else value


def descendants(root: int) -> Iterator[int]:
    """Return a process and all its descendants."""
    below: dict[int, list[int]] = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                parent = int((entry / "stat").read_text().rpartition(")")[2].split()[1])
            except OSError:
                continue
            below.setdefault(parent, []).append(int(entry.name))
    left = [root]
    while left:
        here = left.pop()
        yield here
        left += below.get(here, [])


def memory() -> list[float]:
    """Return the megabytes of this process and of each descendant; shared memory is divided among them."""
    found = []
    for process in descendants(os.getpid()):
        try:
            lines = Path(f"/proc/{process}/smaps_rollup").read_text().splitlines()
        except OSError:
            continue
        found.append(sum(int(line.split()[1]) for line in lines if line.startswith("Pss:")) / 1000)
    return found


def ask_all(count: int, seed: int, folder: Path, tell: Any = None) -> Result:
    """Ask ``count`` questions of one session in ``folder``, and compare its answers with a new one's."""
    draw, result = random.Random(seed), Result()
    (folder / "k.amdgcn").write_bytes(ASSEMBLY.read_bytes())
    source, version = folder / "mine.py", VERSIONS[0]
    source.write_text(SOURCE.format(factor=version))
    answers: dict[tuple[float, Asked], str] = {}
    recent: list[Asked] = []
    before = set(descendants(os.getpid()))
    every = max(1, count // 40)
    with Session(jobs=2, timeout=300, warm=True) as session:
        for number in range(count):
            if draw.random() < 0.02:
                version = draw.choice(VERSIONS)
                source.write_text(SOURCE.format(factor=version))
                recent.clear()
            again = bool(recent) and draw.random() < 0.4
            asked = draw.choice(recent[-20:]) if again else one(draw)
            if not again and draw.random() < 0.04:
                result.kinds[_given_up(session, asked, draw)] += 1
                continue
            began = time.monotonic()
            text = answer(session, asked)
            if again and asked in recent:
                result.slowest_again = max(result.slowest_again, time.monotonic() - began)
            result.kinds["wrong" if not text.startswith("{") else "answered"] += 1
            if answers.setdefault((version, asked), text) != text:
                result.different.append(f"{asked}: not what it was before")
            if text.startswith("{"):
                recent.append(asked)
            if number % every == every - 1:
                result.megabytes.append(memory())
                if tell is not None:
                    tell(f"{number + 1}: {sum(result.megabytes[-1]):.0f} MB, {dict(result.kinds)}")
    result.orphans = _left(before)
    _compare(result, answers, source, draw)
    return result


def _given_up(session: Session, asked: Asked, draw: random.Random) -> str:
    """Submit a query and cancel it, immediately or a little later."""
    question = session.submit(asked[0], **json.loads(asked[1]))
    time.sleep(draw.choice((0, 0, 0.05, 0.3)))
    question.cancel()
    try:
        question.result()
    except CancelledError:
        return "given up"
    except KprofError:
        return "wrong"
    return "answered"


def _left(before: set[int]) -> int:
    until = time.monotonic() + PATIENCE
    while (left := set(descendants(os.getpid())) - before) and time.monotonic() < until:
        time.sleep(0.1)
    return len(left)


def _compare(result: Result, answers: dict[tuple[float, Asked], str], source: Path, draw: random.Random) -> None:
    """Send all queries again to a new session with an empty cache, for each version of the file in turn."""
    kept = os.environ.get("KPROF_CACHE_DIR")
    with tempfile.TemporaryDirectory() as empty:
        os.environ["KPROF_CACHE_DIR"] = empty
        try:
            with Session(jobs=1, timeout=300, warm=True) as session:
                for version in VERSIONS:
                    source.write_text(SOURCE.format(factor=version))
                    mine = [asked for known, asked in answers if known == version]
                    draw.shuffle(mine)
                    for asked in mine:
                        result.compared += 1
                        if answer(session, asked) != answers[version, asked]:
                            result.different.append(f"{asked}: a new session answers otherwise")
        finally:
            os.environ.pop("KPROF_CACHE_DIR")
            if kept is not None:
                os.environ["KPROF_CACHE_DIR"] = kept


def page(result: Result, count: int, seed: int, seconds: float) -> str:
    """Return the page of ``docs/validation``."""
    kinds, different = result.kinds, len(result.different)
    rows = {
        "questions": f"{count:,} in {seconds:.0f} s: {kinds['answered']} answered, {kinds['wrong']} refused, "
        f"{kinds['given up']} given up",
        "memory of the process that asks, by quarter of the questions": _megabytes(result.own),
        "of a process that it started, mean": _megabytes(result.others),
        "of the largest of them": _megabytes([max(each[1:], default=0.0) for each in result.megabytes]),
        "how many there are": _counts([len(each) - 1 for each in result.megabytes]),
        "memory of all together": _megabytes([sum(each) for each in result.megabytes]),
        "processes left after it was closed": f"{result.orphans}",
        "answers compared with a new session's": f"{result.compared} different ones: {different} differ",
        "slowest answer to a repeated question": f"{1000 * result.slowest_again:.0f} ms",
    }
    lines = "\n".join(f"| {name} | {words} |" for name, words in rows.items())
    return f"""# A session over many questions

`validation/many_questions.py` asks one `kprof.Session` of two processes mixed questions one after another, as a page,
an agent and an editor would: reports, listings of every stage, knobs, comparisons, occupancy, rules, of a kernel whose
knobs are turned and whose file is saved between questions, and of an assembly file. Some questions are wrong, some are
given up while they are worked on. The new session that answers are compared with has an empty cache and is asked in
another order.

    python validation/many_questions.py --count {count} --seed {seed} --write docs/validation/session.md

| | |
|---|---|
{lines}

Compile times, and whether a compile came from the cache, are not compared. Fewer questions are asked in
`tests/api/live/test_many_questions.py`.
"""


def _megabytes(series: Sequence[float]) -> str:
    medians, most = _quarters(series, statistics.median), _quarters(series, max)
    return ", ".join(f"{mid:.0f}" for mid in medians) + " MB; at most " + ", ".join(f"{top:.0f}" for top in most)


def _counts(series: Sequence[int]) -> str:
    return f"{min(series)} to {max(series)}"


def main() -> None:
    """Run the queries, print the result, and write the page if requested; exit code 1 if a condition is violated."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--write", type=Path, metavar="PAGE")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder, tempfile.TemporaryDirectory() as cache:
        os.environ["KPROF_CACHE_DIR"] = cache
        target = options.write.resolve() if options.write else None
        os.chdir(folder)
        began = time.monotonic()
        result = ask_all(options.count, options.seed, Path(folder), lambda words: print(words, flush=True))
        text = page(result, options.count, options.seed, time.monotonic() - began)
    print(text, *result.different[:10], sep="\n")
    if target is not None:
        target.write_text(text)
    sys.exit(bool(result.orphans or result.different or result.growth > GROWTH))


if __name__ == "__main__":
    main()
