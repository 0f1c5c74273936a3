"""What others published for the cases of bundled kernels, on their own hardware: ``published.json``.

A row has ``kernel``, ``case``, ``provider``, ``device``, ``ms`` (milliseconds a call) and ``source``.
``implementation`` names the bundled kernel of the same form where the provider is one of two forms of a kernel.
``ratio_only`` is true where conditions of the measurement are not known: only the times of one case compare.
"""

import json
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import Any

from kprof.bench.document import Measurement


def published(kernel: str, measurements: Iterable[Measurement]) -> list[dict[str, Any]]:
    """What others published for the cases that were measured."""
    cases = {m.case for m in measurements}
    return [dict(row) for row in rows(kernel) if row["case"] in cases]


def rows(kernel: str) -> list[dict[str, Any]]:
    """Everything that was published for a kernel."""
    return [row for row in _everything() if row["kernel"] == kernel]


@cache
def _everything() -> tuple[dict[str, Any], ...]:
    path = Path(__file__).with_name("published.json")
    return tuple(json.loads(path.read_text(encoding="utf-8"))["results"])
