"""Text of a pull request that offers tuned files to a server."""

from collections.abc import Sequence

from kprof.output.quantities import duration, interval
from kprof.reporters._markdown_cells import cell
from kprof_servers.served.document import NeededFile, PredictedConfig, ServerConfigs


def pull_request(found: ServerConfigs, files: Sequence[NeededFile]) -> str:
    """Return Markdown that lists the compiled configurations, and the predicted or measured times."""
    lines = [
        f"# Tuned configurations of {found.architecture} on {found.gpu}",
        "",
        f"For {found.server} {found.version}, weights in {found.weights}, tp {found.tp}"
        + (f", ep {found.ep}" if found.ep > 1 else "")
        + f". {_measured(found)} Each configuration was compiled for "
        f"{found.arch} from the server's own kernel by kprof {found.kprof}; times are {_times(found)}.",
        "",
        *_doubtful(files),
        *(f"- {note}" for note in found.notes),
        "",
        "| file | based on | rows | runs today | proposed | spills |"
        if found.measured_on
        else "| file | based on | rows | runs today, predicted | proposed, predicted | spills |",
        "|---|---|---|---|---|---|",
    ]
    for file in files:
        for batch in file.ranked:
            best = batch.best
            if best is None:
                continue
            runs = "does not compile" if batch.runs is None else _time(batch.runs)
            said = " (cannot be distinguished)" if batch.tie else " (slower: measure both)" if batch.slower else ""
            cells = (file.name, file.basis, f"{batch.rows:,}", runs, _time(best) + said, str(best.vgpr_spills))
            lines.append("| " + " | ".join(cell(each) for each in cells) + " |")
    lines += ["", "`runners_up.json` has the next configurations of each batch size, so that they can be measured.", ""]
    return "\n".join(lines)


def _measured(found: ServerConfigs) -> str:
    if not found.measured_on:
        return "**Nothing here was measured.**"
    return f"**The short list of each batch was measured on {found.measured_on}**, and results compared with torch's."


def _times(found: ServerConfigs) -> str:
    return "measured, or predictions of its model where it says so" if found.measured_on else "predictions of its model"


def _doubtful(files: Sequence[NeededFile]) -> list[str]:
    """Return a warning if some proposals are predicted to be slower than the current configurations; else nothing."""
    batches = [batch for file in files for batch in file.ranked]
    slower = sum(batch.slower for batch in batches)
    if not slower:
        return []
    said = f"**{slower} of {len(batches)} proposals are predicted to be slower than what runs today.**"
    why = "They are what tuned files for other shapes have, which is right more often than the model alone."
    return [f"{said} {why} Here the two disagree: measure these first.", ""]


def _time(one: PredictedConfig) -> str:
    if one.measured_us is not None:
        return duration(one.measured_us)
    if one.failure:
        return f"not measured ({one.failure[:80]}), predicted {duration(one.time_us)}"
    return f"{duration(one.time_us)} ({interval(one.low_us, one.high_us)})"
