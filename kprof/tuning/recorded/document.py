"""The JSON document of a recorded kernel's advice."""

from dataclasses import asdict
from typing import Any

from kprof.tuning.recorded.advise import AdvisedKernel
from kprof.tuning.trials.document import document


def document_of(kernel: AdvisedKernel) -> dict[str, Any]:
    """Convert one kernel to JSON values: ``kprof.advice/1`` with the facts about its launch."""
    own = {} if kernel.trials is None else document(kernel.trials)
    return {
        **own,
        "schema": "kprof.advice/1",
        "kernel": kernel.name,
        "target": kernel.target,
        "launches": kernel.launches,
        "how": kernel.how,
        "answer": None if kernel.answer is None else asdict(kernel.answer),
        "error": kernel.error,
    }
