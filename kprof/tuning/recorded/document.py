"""What is written of a recorded kernel."""

from dataclasses import asdict
from typing import Any

from kprof.tuning.recorded.advise import AdvisedKernel
from kprof.tuning.trials.document import document


def document_of(kernel: AdvisedKernel) -> dict[str, Any]:
    """One kernel as JSON can hold it: ``kprof.advice/1`` with what is known of its launch."""
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
