"""The results of sweeps in ``validation/fuzz/results.json``, and the tables of ``docs/validation/damage.md``."""

import json
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

from validation.fuzz.damaging import OUTCOMES, STRUCTURAL
from validation.fuzz.target import ROOT

if TYPE_CHECKING:
    from validation.fuzz.sweep import Tally

FILE = ROOT / "validation" / "fuzz" / "results.json"
PAGE = ROOT / "docs" / "validation" / "damage.md"
BEGIN, END = "<!-- begin: validation.fuzz.sweep -->", "<!-- end: validation.fuzz.sweep -->"


def record(name: str, seed: int, first: int, tally: "Tally") -> None:
    """Add a run; one of the same reader, seed and first number is replaced."""
    known = runs()
    run = {
        "reader": name,
        "seed": seed,
        "first": first,
        "count": tally.count,
        "outcomes": {one: tally.outcomes[one] for one in OUTCOMES if tally.outcomes[one]},
        "slowest_s": round(tally.slowest_s, 2),
        "peak_mib": tally.peak_mib,
        "places": {place: numbers[:3] for place, numbers in tally.places.items()},
    }
    kept = [one for one in known if (one["reader"], one["seed"], one["first"]) != (name, seed, first)]
    kept.append(run)
    kept.sort(key=lambda one: (one["reader"], one["seed"], one["first"]))
    FILE.write_text("[\n" + ",\n".join(f" {json.dumps(one)}" for one in kept) + "\n]\n")


def runs(path: Path = FILE) -> list[dict[str, Any]]:
    """All runs that were recorded."""
    found: list[dict[str, Any]] = json.loads(path.read_text()) if path.exists() else []
    return found


def table(known: list[dict[str, Any]]) -> str:
    """A line a reader, with its seeds."""
    failures = OUTCOMES[2:]
    lines = [
        f"| reader | seeds | inputs | read | refused | {' | '.join(failures)} | slowest | memory |",
        "|---|---|---" + "|---:" * (4 + len(failures)) + "|",
    ]
    total: Counter[str] = Counter()
    for name in dict.fromkeys(one["reader"] for one in known):
        mine = [one for one in known if one["reader"] == name]
        outcomes: Counter[str] = Counter()
        for one in mine:
            outcomes.update(one["outcomes"])
        total += outcomes
        lines.append(_line(name, ", ".join(str(one["seed"]) for one in mine), outcomes, mine))
    return "\n".join([*lines, _line("all", "", total, known)])


def structural_inputs(known: list[dict[str, Any]]) -> str:
    """A sentence with the number of inputs that the structural mutators made."""
    count = sum(one["count"] for one in known if one["seed"] >= STRUCTURAL)
    return f"`validation/fuzz/structural.py` made {count:,} of these inputs, with seeds from {STRUCTURAL} on."


def _line(name: str, seeds: str, outcomes: "Counter[str]", mine: list[dict[str, Any]]) -> str:
    counts = " | ".join(f"{outcomes[one]:,}" for one in OUTCOMES)
    slowest, peak = max(one["slowest_s"] for one in mine), max(one["peak_mib"] for one in mine)
    return f"| {name} | {seeds} | {outcomes.total():,} | {counts} | {slowest:.1f} s | {peak} MiB |"


def page(text: str, known: list[dict[str, Any]]) -> str:
    """The page with the table between its marks made again, and the sum of structural inputs below it."""
    before, _, rest = text.partition(BEGIN)
    _, _, after = rest.partition(END)
    return f"{before}{BEGIN}\n{table(known)}\n\n{structural_inputs(known)}\n{END}{after}"


def write_page() -> None:
    """Make the page's table again from what is recorded."""
    PAGE.write_text(page(PAGE.read_text(), runs()))
