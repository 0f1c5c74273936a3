"""Self-contained pages with the tables of a view's result."""

from collections.abc import Sequence

from kprof.reporters.grids import Grid


def page(
    summary: str,
    schema: str,
    notes: Sequence[str],
    sections: Sequence[tuple[str, Sequence[Grid]]],
    pictures: Sequence[str],
) -> str:
    """Return a page with the tables and pictures of a view's result.

    Args:
        summary: the verdict.
        schema: schema of the JSON document with the same content.
        notes: remarks about problems while reading.
        sections: tables of each recording, with the recording's name.
        pictures: SVG texts.
    """
    from kprof.reporters.html.parts import environment
    from kprof.version import __version__

    text: str = (
        environment()
        .get_template("view_answer.html")
        .render(
            document={"kprof": __version__, "schema": schema, "verdict": {"status": "ok", "summary": summary}},
            notes=notes,
            sections=sections,
            pictures=pictures,
        )
    )
    return text if text.endswith("\n") else text + "\n"
