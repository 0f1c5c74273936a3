"""A judge for tests, imported by workers: time from the length of the code. It can be told to die, fail or wait."""

import json
import os
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any


def judge(compiled: Any, argument: Mapping[str, Any]) -> dict[str, Any]:
    """See :class:`kprof.tuning.work.Judge`. Each call is noted in the file that ``STUB_JUDGE_LOG`` names."""
    request = compiled.request
    note = os.environ.get("STUB_JUDGE_LOG")
    if note:
        with Path(note).open("a") as file:
            file.write(json.dumps([request.label, os.getppid(), compiled.cached]) + "\n")
    most = int(os.environ.get("STUB_JUDGE_MOST", "0"))
    if note and most and len(Path(note).read_text().splitlines()) > most:
        # Until the search is ended from outside.
        time.sleep(300)
    time.sleep(float(os.environ.get("STUB_JUDGE_WAIT", "0")))
    if os.environ.get("STUB_JUDGE_DIES", "never") in request.label:
        os.abort()
    if os.environ.get("STUB_JUDGE_FAILS", "never") in request.label:
        raise ZeroDivisionError("of no use")
    return {
        "status": "ok",
        "isa": str(hash(compiled.amdgcn)),
        "resources": {"lds_bytes": compiled.lds_bytes, "num_warps": compiled.metadata["num_warps"]},
        "time_us": float(len(compiled.amdgcn)),
        "low_us": 0.9 * len(compiled.amdgcn),
        "high_us": 1.1 * len(compiled.amdgcn),
        "bound": "instructions",
        "assumptions": ["every instruction takes a nanosecond"],
        "seconds": compiled.seconds,
        "cached": compiled.cached,
    }
