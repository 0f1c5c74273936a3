"""``kprof.oracle``: whether a candidate for a kernel compiles, is right, and how long it would take; no GPU is used."""

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
    """Judge candidates for a kernel. Equal questions have equal answers; the case is trusted, a candidate is not.

    A candidate is a file with the Triton function that the case launches, by its name and with its arguments, which
    takes its place. ``CONFIG = {"BLOCK": 1024, "num_warps": 8}`` in it sets knobs of the case.

    Args:
        candidate: its text, or its file as a ``Path``; a list of them is answered in its order.
        reference: a bundled kernel's name or a file with a ``KERNEL``, which is imported with all rights;
            ``NAME@CASE`` for another of its shapes than the first. Its ``checks`` and ``reference`` say what is right.
        options: for which GPU, and what candidates may take.

    Raises:
        KprofError: there is no such case or GPU, Triton is missing, or candidates cannot be contained on this system
            or may not run.
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
    found = _all(texts, head, limits, options.jobs or os.cpu_count() or 1)
    return found if isinstance(candidate, list) else found[0]


def gpu_of(options: OracleOptions) -> str:
    """The GPU that candidates are judged for.

    Raises:
        KprofError: several are named.
    """
    return options.one_gpu("kprof oracle") or DEFAULT_GPU


def _all(texts: Sequence[str], head: Mapping[str, Any], limits: Mapping[str, Any], jobs: int) -> list[OracleAnswer]:
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
    """One line: how many candidates are ok, which is the fastest of them by the model, and why the first other is not.

    Args:
        names: of the candidates' files.
        answers: what is known of them, in this order.
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
    """Answers as ``kprof oracle`` writes them, JSON of schema ``kprof.oracle/1``; ``names`` are those of the files."""
    listed = [{"file": name, **answer.document} for name, answer in zip(names, answers, strict=True)]
    return json.dumps({"schema": "kprof.oracle/1", "case": case, "arch": arch, "answers": listed}, indent=2)
