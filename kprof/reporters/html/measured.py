"""What was measured of a kernel, as the template wants it."""

from typing import Any

from msgspec import UNSET

from kprof.document import KernelReport
from kprof.reporters.html.parts import Cutter
from kprof.reporters.measured_text import fact_words, loop_rows, loop_words, match_words, quantity, standings

_ROWS = 200


def measured_view(kernel: KernelReport, cut: Cutter) -> dict[str, Any] | None:
    """Words and numbers as text; ``None`` where nothing was measured."""
    measured = kernel.measured
    if measured is UNSET:
        return None
    return {
        "gpu": measured.gpu,
        "standings": standings(measured),
        "matches": [match_words(match) for match in measured.matches],
        "comparisons": [
            {
                "title": one.title,
                "measured": quantity(one.measured, one.unit),
                "modelled": quantity(one.modelled, one.unit),
                "ratio": "" if one.ratio is None else f"{one.ratio:.2f}",
                "words": f"{one.standing}: {one.words}",
            }
            for one in measured.comparisons
        ],
        "loops": [
            {"words": loop_words(loop), "rows": loop_rows(loop)} for loop in cut("traced loops", measured.loops, _ROWS)
        ],
        "judgements": cut("judged findings", measured.judgements, _ROWS),
        "facts": [{"title": fact.title, "words": fact_words(fact)} for fact in cut("facts", measured.facts, _ROWS)],
        "notes": cut("notes of the measurement", measured.notes, _ROWS),
    }
