"""Process that compiles with another Triton (3.4 or later): kprof's own compiling in that Triton's environment.

Started by :mod:`validation.benchmarks.model.environments`. It reads one question, a line of JSON with requests, and
sends each answer as soon as it is finished.
"""

import json
import os
from typing import Any

from kprof.children import own_streams
from kprof.compiler.compile import compile_many
from kprof.compiler.request import CompileOutcome, from_json
from kprof.errors import KprofError


def main() -> None:
    """Serve questions until standard input ends."""
    source, answers = own_streams(2)
    for line in os.fdopen(source.fileno(), "rb", closefd=False):
        question = json.loads(line)
        requests = [from_json(one) for one in question["requests"]]
        last: dict[str, Any] = {"kind": "done"}
        try:
            for outcome in compile_many(requests, question["jobs"], timeout=question["timeout"]):
                send(answers, _answer(outcome))
        except KprofError as error:
            last = {"kind": "failed", "error": error.message, "hint": error.hint}
        send(answers, last)


def _answer(outcome: CompileOutcome) -> dict[str, Any]:
    found: dict[str, Any] = {"kind": "outcome", "index": outcome.index, "status": outcome.status}
    compiled = outcome.compiled
    if compiled is None:
        return found | {"error": outcome.error}
    stages = {name: compiled.text(name) for name in ("ttgir", "amdgcn")}
    found |= {"stages": stages, "metadata": dict(compiled.metadata), "line": compiled.source_line}
    return found | {"seconds": compiled.seconds, "cached": compiled.cached}


def send(answers: Any, message: dict[str, Any]) -> None:
    """Write one complete line, because a pipe may accept less than the whole line at once."""
    data = memoryview(json.dumps(message).encode() + b"\n")
    while data:
        data = data[answers.write(data) :]
