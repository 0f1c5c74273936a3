"""``kprof.oracle``: check whether a candidate kernel compiles and is correct, and predict its time, without a GPU."""

import json
import os
import queue
import threading
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, overload

from kprof.api.live.answers import OracleAnswer
from kprof.errors import KprofError
from kprof.hardware.default import DEFAULT_GPU
from kprof.importing.permission import require
from kprof.options.keywords import keywords
from kprof.options.programs import OracleOptions

Source = str | Path


@overload
def oracle(candidate: Source, reference: str, *, options: OracleOptions) -> OracleAnswer: ...
@overload
def oracle(
    candidate: list[Source] | list[str] | list[Path], reference: str, *, options: OracleOptions
) -> list[OracleAnswer]: ...
@keywords
def oracle(
    candidate: Source | list[Source] | list[str] | list[Path], reference: str, *, options: OracleOptions
) -> OracleAnswer | list[OracleAnswer]:
    """Check candidates for a kernel: whether they compile and are correct, and their predicted time.

    Results are reproducible.

    A candidate is a file with a Triton function that replaces the function that the case launches; both have the same
    name and arguments. ``CONFIG = {"BLOCK": 1024, "num_warps": 8}`` in the file sets knobs of the case. The case is
    trusted, but candidates are not, and run in a sandbox.

    Args:
        candidate: the candidate's text, or its file as a ``Path``; a list returns answers in the same order.
        reference: a bundled kernel's name or a file with a ``KERNEL``, which is imported without restrictions;
            ``NAME@CASE`` selects another shape than the first. Its ``checks`` and ``reference`` define correct results.
        options: the GPU, and the limits of candidates.

    Raises:
        KprofError: the case or the GPU does not exist, Triton is missing, candidates cannot be sandboxed on this
            system, or running code is forbidden.
    """
    require("the candidate", "compiled and run in the interpreter")
    texts = [_text(one) for one in (candidate if isinstance(candidate, list) else [candidate])]
    kernel, _, shape = reference.partition("@")
    path = Path(kernel)
    head = {
        "kernel": str(path.absolute()) if path.suffix == ".py" else kernel,
        "case": shape or None,
        "arch": gpu_of(options),
        "any_python": options.any_python,
        "seed": options.seed,
    }
    limits = {"seconds": options.timeout, "memory": options.memory << 20, "network": options.allow_network}
    found = _judge_all(texts, head, limits, options.jobs or os.cpu_count() or 1)
    return found if isinstance(candidate, list) else found[0]


def gpu_of(options: OracleOptions) -> str:
    """Return the GPU that candidates are judged for.

    Raises:
        KprofError: several GPUs are named.
    """
    return options.one_gpu("kprof oracle") or DEFAULT_GPU


def _judge_all(
    texts: Sequence[str], head: Mapping[str, Any], limits: Mapping[str, Any], jobs: int
) -> list[OracleAnswer]:
    from kprof.api.live.judges import Judges

    waiting: queue.SimpleQueue[int] = queue.SimpleQueue()
    for index in range(len(texts)):
        waiting.put(index)
    answers: dict[int, OracleAnswer] = {}
    failures: list[KprofError] = []

    def work() -> None:
        try:
            with Judges(head, limits) as judges:
                while not failures:
                    try:
                        index = waiting.get_nowait()
                    except queue.Empty:
                        return
                    answers[index] = judges.judge(texts[index])
        except KprofError as error:
            failures.append(error)
        except OSError as error:
            failures.append(KprofError(f"no process or folder for candidates: {error.strerror or error}"))

    threads = [threading.Thread(target=work, name=f"kprof-oracle-{n}") for n in range(min(jobs, len(texts)))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if failures:
        raise failures[0]
    return [answers[index] for index in range(len(texts))]


def _text(source: Source) -> str:
    if isinstance(source, str):
        return source
    from kprof.inputs.boundary import read_text

    return read_text(source)


def summary_of(names: Iterable[str], answers: Sequence[OracleAnswer]) -> str:
    """Return the number of ok candidates, the fastest one by prediction and the first failure, in one line.

    Args:
        names: names of the candidates' files.
        answers: the candidates' verdicts, in the same order.
    """
    from kprof.output.quantities import duration

    known = list(zip(names, answers, strict=True))
    timed = [(one.kernel.time.us, name) for name, one in known if one.ok and one.kernel and one.kernel.time]
    failed = [
        f"{name}: {one.status}" + (f": {one.reasons[0]}" if one.reasons else "") for name, one in known if not one.ok
    ]
    words = [f"{len(known) - len(failed)} of {len(known)} candidates ok"]
    if timed:
        us, name = min(timed)
        words.append(f"the fastest is {name}, {duration(us)} (model)")
    return "; ".join([*words, *failed[:1]])


def document_of(case: str, arch: str, names: Iterable[str], answers: Sequence[OracleAnswer]) -> str:
    """Return the answers as ``kprof oracle`` writes them (``kprof.oracle/1``); ``names`` are the candidates' files."""
    listed = [{"file": name, **answer.document} for name, answer in zip(names, answers, strict=True)]
    return json.dumps({"schema": "kprof.oracle/1", "case": case, "arch": arch, "answers": listed}, indent=2)
