"""``kprof serve lsp``: show findings, costs of lines and better configurations in an editor."""

from kprof.cli._options import takes_options
from kprof.options.tools import EditorOptions
from kprof.output.sink import output_begins
from kprof.output.writing import told_by_hand
from kprof.reporters.outputs import Outputs

HELP = "Serve your editor (Language Server Protocol): findings on save, costs of lines, faster configurations."


@takes_options()
def command(options: EditorOptions, outputs: Outputs) -> None:
    """Serve an editor on standard input and output. The editor starts this command; see docs/editor.md. No GPU is used.

    A Python file with a KERNEL is imported and compiled when it is saved: findings become diagnostics, hovering a line
    shows its share of the predicted time, its instructions and spills, and a code action searches for a faster
    configuration and pastes it. For a program without a KERNEL, a code action runs it and analyses its launches.
    """
    from kprof.api.live.serving import serve_editor

    # Standard output belongs to the editor, so display options do not apply.
    del outputs
    output_begins()
    told_by_hand("an editor", "docs/editor.md")
    serve_editor(options)
