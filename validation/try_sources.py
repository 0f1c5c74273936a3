"""Check the statements of the five source documents row by row, and write docs/validation/sources.md.

``validation/sources.toml`` has a command for each group of facts, tools, variables, tables and numbers, and for each of
them a pattern that the output must contain. Each group also has a control, the same command on another input, whose
output must not contain the pattern. Each command runs once, in this process. The exit code is 1 if a pattern is missing
or matches its control. ``validation/source_times.py`` creates the rows of published times. The checkout must not be
changed during the run, because compile workers only serve an unchanged kprof.

    .venv/bin/python validation/try_sources.py            # run and write
    .venv/bin/python validation/try_sources.py --check    # run and compare only
"""

import argparse
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from validation.source_inputs import make_files
from validation.source_rows import LACKS, ROOT, STATES, TABLE, TITLES, Entry, Outputs, Row, entries
from validation.source_times import aiter_table, predicted

PAGE = ROOT / "docs/validation/sources.md"


@dataclass(frozen=True)
class Tried:
    """A row after its command and its control have run.

    Attributes:
        entry: The row of the table.
        row: The row of the page.
        problem: What is wrong with it, or ``None``.
    """

    entry: Entry
    row: Row
    problem: str | None


def tried(folder: Path, table: Path = TABLE) -> Iterator[Tried]:
    """Run the commands and the controls of a table."""
    outputs = Outputs(folder)
    for entry in entries(table):
        printed = outputs.find(entry.run, entry.pattern) if entry.run else ""
        yield Tried(entry, replace(entry.row, printed=printed or ""), outputs.problem(entry))


def page(rows: list[Row], found: list[Tried]) -> str:
    """Return the text of the page."""
    lines = [
        "# What the source documents describe, tried",
        "",
        "kprof grew out of five public documents. Each system, tool, variable, table and number in them has a row",
        "here: the command that shows it, what that printed, and whether it works.",
        "`validation/try_sources.py` runs every",
        "command and writes this page; a command that prints something else fails it. Times are predictions without",
        "a GPU beside the published ones: `works` means inside the predicted range, `partly` within a factor of two of",
        "it. Differences come both from what was measured and from the model; each row has its reason. Times of",
        "`--condition flushed` exclude the events that it adds, because the published times are of a device graph.",
        "",
        *_controls(found),
        "",
        *_counts(rows),
    ]
    for key, title in TITLES.items():
        lines += ["", f"## {title}", "", "| what | command | printed | | why |", "|---|---|---|---|---|"]
        for row in rows:
            if row.document == key:
                cells = (row.what, f"`{row.command}`" if row.command else "", row.printed, row.state, row.why)
                lines.append(f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in cells)} |")
        if key == "attention":
            lines += aiter_table()
    return "\n".join(lines) + "\n"


def _controls(found: list[Tried]) -> list[str]:
    entries = [one.entry for one in found if one.entry.run]
    without = [entry for entry in entries if not entry.control]
    controls = {entry.control for entry in entries if entry.control}
    lines = [
        f"Each of the {len(entries)} rows that quote a command has a control: the same command on another kernel,",
        "case, architecture, file or value, whose output must not contain what the row quotes.",
        "`validation/sources.toml`",
        f"has {len(controls)} of them; {len(without)} rows have none.",
    ]
    return lines + [f"- {entry.row.what}: {entry.no_control}" for entry in without]


def _counts(rows: list[Row]) -> list[str]:
    counts = Counter((row.document, row.state) for row in rows)
    lines = ["| document | rows | works | partly | not |", "|---|---|---|---|---|"]
    for key, title in TITLES.items():
        each = [counts[key, state] for state in STATES]
        lines.append(f"| {title} | {sum(each)} | {' | '.join(map(str, each))} |")
    total = [sum(counts[key, state] for key in TITLES) for state in STATES]
    lines.append(f"| all | {len(rows)} | {' | '.join(map(str, total))} |")
    lacks = Counter(row.lacks for row in rows if row.state != "works")
    words = ", ".join(f"{lacks[key]} lack {what}" for key, what in LACKS.items())
    return [*lines, "", f"Of the {sum(lacks.values())} rows that work partly or not, {words}."]


def main() -> int:
    """Run the commands, and write the page or only compare."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="compare only")
    parser.add_argument("--no-times", action="store_true", help="leave the published times out")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        make_files(folder)
        found = list(tried(folder))
        rows = [one.row for one in found] + ([] if options.no_times else list(predicted(folder)))
    failed = [one.problem for one in found if one.problem is not None]
    for problem in failed:
        print(problem)
    text = page(rows, found)
    print(f"{len(rows)} rows, {len(failed)} do not print what they should")
    print(text.partition("\n## ")[0])
    if not options.check and not options.no_times and not failed:
        PAGE.write_text(text, encoding="utf-8")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
