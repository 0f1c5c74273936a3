"""Results that others published for the cases of bundled kernels, on their own hardware: ``published.json``.

A row contains ``kernel``, ``case``, ``provider``, ``device``, ``ms`` (milliseconds per call) and ``source``.
If two bundled kernels solve the problem, ``implementation`` names the one that corresponds to the provider.
``ratio_only`` is true if the conditions of the measurement are not known, so that only times of one case are
comparable.
"""

import json
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import Any

from kprof.bench.document import Measurement


def published(kernel: str, measurements: Iterable[Measurement]) -> list[dict[str, Any]]:
    """Return the published results for the measured cases."""
    cases = {m.case for m in measurements}
    return [dict(row) for row in rows(kernel) if row["case"] in cases]


def rows(kernel: str) -> list[dict[str, Any]]:
    """Return all published results for a kernel."""
    return [row for row in _everything() if row["kernel"] == kernel]


@cache
def _everything() -> tuple[dict[str, Any], ...]:
    path = Path(__file__).with_name("published.json")
    return tuple(json.loads(path.read_text(encoding="utf-8"))["results"])
