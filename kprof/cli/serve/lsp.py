"""``kprof serve lsp``: findings, costs of lines and better configurations in your editor."""

from kprof.cli._options import takes_options
from kprof.options.tools import EditorOptions
from kprof.output.sink import output_begins
from kprof.output.writing import told_by_hand
from kprof.reporters.outputs import Outputs

HELP = "Serve your editor (Language Server Protocol): findings on save, what a line costs, faster configurations."


@takes_options()
def command(options: EditorOptions, outputs: Outputs) -> None:
    """Serve an editor on standard input and output. It starts this command itself; see docs/editor.md. No GPU is used.

    A Python file with a KERNEL is imported and compiled when it is saved: findings become diagnostics, hovering a line
    tells its share of the predicted time, its instructions and spills, and an action looks for a faster configuration
    and pastes it. For a program without a KERNEL an action runs it and shows the same of what it launches.
    """
    from kprof.api.live.serving import serve_editor

    # Standard output is the editor's: there is nothing to show less or more of.
    del outputs
    output_begins()
    told_by_hand("an editor", "docs/editor.md")
    serve_editor(options)
