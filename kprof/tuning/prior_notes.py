"""Report how a prior changed an autotuner's candidates: in the capture, if the program is recorded, and in a log."""

import logging
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from kprof.tuning.ranking import CandidateRanking

LOG = "kprof.priors"
"""Name of the logger that every report goes to, with level ``INFO``."""
_SHOWN = 8


@dataclass(frozen=True)
class PriorReport:
    """Effect of a prior on the candidates of one autotuner.

    Attributes:
        name: the autotuned kernel or operation.
        target: architecture or product of the predictions.
        ranking: the ranking.
        labels: a text for each candidate.
        kept: candidates that the autotuner times, in their order.
        added: candidates that the autotuner did not have.
    """

    name: str
    target: str
    ranking: CandidateRanking
    labels: Sequence[str]
    kept: Sequence[int]
    added: Sequence[int] = ()

    def publish(self) -> None:
        """Add the report to the capture of this process, if it is recorded, and to the log."""
        logging.getLogger(LOG).info("%s", self.words())
        if (note := recorder_note()) is not None:
            note(self.words())

    def words(self) -> str:
        """Return the report as one line."""
        ranking, kept = self.ranking, self.kept
        new = f", {len(self.added)} of them added" if self.added else ""
        shown = "; ".join(self._candidate(place) for place in kept[:_SHOWN])
        more = f"; and {len(kept) - _SHOWN} more" if len(kept) > _SHOWN else ""
        total = f"{len(self.labels)} candidates{new}"
        parts = [f"prior for {self.name} ({self.target}): {total}; to time, in this order: {shown}{more}"]
        slower = sum(place not in kept for place in ranking.order)
        if slower:
            parts.append(f"{slower} predicted to be slower")
        if ranking.unlaunchable:
            reason = next(iter(ranking.unlaunchable.values()))
            parts.append(f"{len(ranking.unlaunchable)} cannot be launched ({reason})")
        if ranking.unknown:
            reason = next(iter(ranking.unknown.values()))
            parts.append(f"{len(ranking.unknown)} without a prediction ({reason})")
        return "; ".join(parts)

    def _candidate(self, place: int) -> str:
        cost = self.ranking.costs.get(place)
        unit = "µs" if self.ranking.unit == "us" else "cycles per element"
        predicted = "no prediction" if cost is None else f"{cost:.3g} {unit}"
        return f"{self.labels[place]} = {predicted}{' (added)' if place in self.added else ''}"


def recorder_note() -> Callable[[str], None] | None:
    """Return the function that adds a note to the capture of this process; ``None`` if it is not recorded."""
    session = sys.modules.get("kprof.recording.session")
    return None if session is None else session.note_function()


def label(knobs: Mapping[str, Any]) -> str:
    """Return knobs as text: ``BLOCK_M=128 num_warps=8``."""
    return " ".join(f"{name}={value}" for name, value in knobs.items())
