"""A self-contained page of a predicted training or inference step: changes to make, and calls by name and module."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from kprof.reporters.html.parts import environment
from kprof.reporters.profile_text import cells, change_cells, facts, heading, verdict
from kprof.version import __version__

if TYPE_CHECKING:
    from kprof_analyzers.whole_step.document import ProfileDocument, ProfiledRow

_ROWS = 400


def profile_page(
    shown: "Sequence[tuple[ProfileDocument, Mapping[str, Sequence[ProfiledRow]]]]", pages: Mapping[str, str]
) -> str:
    """Render the HTML page of a profiled program.

    Args:
        shown: the document of each GPU, with its rows for each way of grouping them.
        pages: by Triton kernel, the file of its own page, in the same folder.
    """
    first = shown[0][0]
    fits = all(document.fits for document, _ in shown)
    summary = "; ".join(verdict(document) for document, _ in shown)
    page: str = (
        environment()
        .get_template("profile.html")
        .render(
            document={
                "kprof": __version__,
                "schema": first.schema,
                "verdict": {"status": "ok" if fits else "regression", "summary": summary},
            },
            program=" ".join(first.program),
            gpus=[_gpu_view(document, tables, pages) for document, tables in shown],
        )
    )
    return page if page.endswith("\n") else page + "\n"


def _gpu_view(
    document: "ProfileDocument", tables: "Mapping[str, Sequence[ProfiledRow]]", pages: Mapping[str, str]
) -> dict[str, Any]:
    return {
        "gpu": document.gpu,
        "facts": facts(document),
        "changes": [change_cells(one) for one in document.changes],
        "tables": [_table_view(by, rows, pages) for by, rows in tables.items()],
        "notes": [*document.notes, *(f"no time for {words}" for words in document.unknown)],
    }


def _table_view(by: str, rows: "Sequence[ProfiledRow]", pages: Mapping[str, str]) -> dict[str, Any]:
    return {
        "by": by,
        "left": max(0, len(rows) - _ROWS),
        "rows": [
            {
                "cells": cells(row),
                "name": heading(row, by),
                "page": pages.get(row.name, "") if row.kind == "triton" else "",
                "words": "  ".join(filter(None, (row.finding, row.why))),
            }
            for row in rows[:_ROWS]
        ],
    }
