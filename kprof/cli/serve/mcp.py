"""``kprof serve mcp``: serve kprof's queries as tools for coding agents."""

from kprof.cli._options import takes_options
from kprof.options.tools import AgentOptions
from kprof.output.sink import output_begins
from kprof.output.writing import told_by_hand
from kprof.reporters.outputs import Outputs

HELP = "Serve kprof's queries to coding agents (Model Context Protocol, on standard input and output)."


@takes_options()
def command(options: AgentOptions, outputs: Outputs) -> None:
    """Serve kprof's queries as tools: analyze, compare, advise, rank, occupancy, explain_rule, kernels, capture.

    No code of a target runs unless --allow-run is given. The agent starts this command itself; see docs/agents.md.
    """
    from kprof.api.live.serving import serve

    # Standard output belongs to the agent, so display options do not apply.
    del outputs
    output_begins()
    told_by_hand("an agent", "docs/agents.md")
    serve(options)
