"""Choose the Triton release that compiles each row, and measure the effect of other releases on the same rows.

Each row is compiled with the release that measured it (:class:`Releases`). ``python -m validation.benchmarks.model
--triton 3.4.0 --only tritonblas,mm,tables,attention --keep`` compiles all of them with one release instead and adds the
figures to ``docs/validation/model_tritons.json``; the page of the main run shows them beside its own.
"""

import json
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from validation.benchmarks.model import environments
from validation.benchmarks.model.data import Row
from validation.benchmarks.model.layout import cell, markdown
from validation.benchmarks.model.problem import Family, Problem

USUAL = "3.6.0"
"""Release that compiles rows without a Triton version."""
NAME = "model_tritons.json"
_RELEASE = re.compile(r"(?<![\d.])(\d+)\.(\d+)(?:\.\d+)?")
_ROCM = re.compile(r"ROCm\s*[\d.]+", re.IGNORECASE)
_MARKS = {"same": "yes", "another": "**no**", "perhaps": "perhaps", "not told": "not told"}
_KEYS = (
    ("n", ("problems",), "{:d}"),
    ("not compiled", ("failed",), "{:d}"),
    ("Spearman", ("clean_spearman", "spearman", "gain_spearman"), "{:.2f}"),
    ("top-1", ("clean_top1",), "{:.3f}"),
    ("pairs", ("clean_pairs",), "{:.2f}"),
    ("median ratio", ("clean_ratio", "ratio_median"), "{:.2f}"),
)
TEXT = """\
The same published rows, predicted from what one Triton makes of all of them, and each from its own. The tritonBLAS
rows name 3.6.0: the difference is the compiler's, and what a prediction is worth that is asked of another version than
the one that runs.
"""


def version() -> str:
    """Return the installed Triton's version."""
    from kprof.compiler.versions import installed

    return installed().version


def releases(text: str) -> tuple[tuple[int, int], tuple[int, int]] | None:
    """Return the first and last release that a row's version may mean, as (major, minor); ``None`` if it names none.

    ``3.6.0``, ``3.6`` and ``~3.5`` name one, ``3.4-3.8 (mixed)`` and ``~3.0-3.2`` all between two.
    """
    # The version of a ROCm release is not one of Triton.
    named = [(int(major), int(minor)) for major, minor in _RELEASE.findall(_ROCM.sub("", text))]
    return (min(named), max(named)) if named else None


def match(text: str, mine: str) -> str:
    """Return whether code compiled with a Triton may be the measured code.

    Args:
        text: version in the row.
        mine: version that compiled the code.

    Returns:
        ``same``, ``another``, ``perhaps`` (it names several, of which this is one, or one roughly), or ``not told``.
    """
    known = releases(text)
    own = releases(mine)
    if known is None or own is None:
        return "not told"
    if not known[0] <= own[0] <= known[1]:
        return "another"
    return "perhaps" if known[0] != known[1] or "~" in text else "same"


class Releases:
    """Release that compiles each row: the named one if available, else the usual one.

    Args:
        usual: release for rows that name none.
        forced: release for all rows, regardless of their version.
    """

    def __init__(self, usual: str = USUAL, forced: str = "") -> None:
        self.usual = usual
        self.forced = forced
        self.refused: dict[str, str] = {}

    def of(self, text: str, usual: str = "") -> str:
        """Return the release for a row.

        Args:
            text: version in the row.
            usual: usual release of the row's family, if it has its own.

        Returns:
            A release such as ``3.6.0``; empty (this Python's) if even the usual one is not available.
        """
        fallback = usual or self.usual
        if self.forced:
            return self.forced
        known = releases(text)
        wanted = fallback
        if known is not None and match(text, fallback) == "another":
            wanted = environments.name_of(known[1] if known[1] < environments.numbers_of(fallback) else known[0])
        return next((one for one in (wanted, fallback) if not self._refuses(one)), "")

    def _refuses(self, release: str) -> bool:
        if release == version():
            return False
        if reason := environments.missing(release):
            self.refused[release] = reason
        return bool(reason)

    def assign(self, family: Family) -> Family:
        """Return a family whose problems name the release that compiles each of their launches."""

        def problems(rows: Sequence[Row], quick: bool) -> list[Problem]:
            return [self._assigned(problem, family.triton) for problem in family.problems(rows, quick)]

        return replace(family, problems=problems)

    def _assigned(self, problem: Problem, usual: str) -> Problem:
        # Configurations that were searched besides a winner are compiled with the winner's release.
        told = next((one.triton for one in problem.candidates if one.winner), "")
        candidates = []
        for one in problem.candidates:
            release = self.of(one.triton or told, one.release or usual)
            points = tuple(replace(point, triton="" if release == version() else release) for point in one.points)
            candidates.append(replace(one, points=points))
        return replace(problem, candidates=tuple(candidates))

    def matches(self, problems: Sequence[Problem]) -> list[dict[str, Any]]:
        """Return the versions in measured configurations: text, number, compiling release, and whether they match."""
        measured = (
            (one.triton, one.points[0].triton or version())
            for problem in problems
            for one in problem.candidates
            if one.points and (one.winner or one.valid is not None or one.time_us is not None)
        )
        return [
            {"triton": text, "rows": n, "with": mine, "match": match(text, mine)}
            for (text, mine), n in Counter(measured).most_common()
        ]

    def told(self) -> list[str]:
        """Return one sentence for each release that is not available."""
        return [
            f"Triton {release} cannot be had ({reason.rstrip('.')}): rows measured with it were compiled with "
            f"{self.of(release) or version()}."
            for release, reason in sorted(self.refused.items())
        ]


def section(
    found: Mapping[str, Sequence[Mapping[str, Any]]], titles: Mapping[str, str], refused: Sequence[str] = ()
) -> list[str]:
    """Return the page's section about the measuring and compiling releases; empty if no release is known."""
    lines = [
        [titles[name], one["triton"] or "-", str(one["rows"]), one["with"], _MARKS[one["match"]]]
        for name, each in found.items()
        for one in each
    ]
    if not lines:
        return []
    counts: Counter[str] = Counter()
    for each in found.values():
        for one in each:
            counts[one["match"]] += one["rows"]
    about = (
        f"Each row is compiled with the release that it names, in an environment that kprof makes, where one is named "
        f"and can be had. Of {sum(counts.values())} rows {counts['same']} were compiled with the release that measured "
        f"them, {counts['perhaps']} with one that the row may mean (it names several, or one roughly), and "
        f"{counts['another']} with another; {counts['not told']} do not say theirs. Releases before 3.4, which kprof "
        "itself does not support, hand over their code to it through a driver of the benchmark; a row of 2 stages is "
        "then compiled with 0, which meant a pipeline before 3.2."
    )
    return ["## Who compiled what was measured", "", " ".join([about, *refused]), "",
            *markdown(["family", "measured with", "rows", "compiled with", "that release"], lines), ""]  # fmt: skip


def keep(folder: Path, summaries: Mapping[str, Mapping[str, Any]], release: str) -> None:
    """Add the figures of a release's code to the file."""
    path = folder / NAME
    known = json.loads(path.read_text(encoding="utf-8")) if path.is_file() else {}
    known.setdefault(release, {}).update(summaries)
    path.write_text(json.dumps(dict(sorted(known.items())), indent=1) + "\n", encoding="utf-8")


def table(
    folder: Path, summaries: Mapping[str, Mapping[str, Any]], titles: Mapping[str, str]
) -> tuple[list[str], list[list[str]]] | None:
    """Return header and lines, family by family; ``None`` without figures of another Triton."""
    path = folder / NAME
    others: dict[str, Mapping[str, Mapping[str, Any]]] = json.loads(path.read_text("utf-8")) if path.is_file() else {}
    others = {**others, "its own": summaries}
    families = [name for name in titles if sum(name in found for found in others.values()) > 1]
    if not families:
        return None
    lines = [
        [titles[name], triton, *(_cell(found[name], keys, form) for _, keys, form in _KEYS)]
        for name in families
        for triton, found in sorted(others.items())
        if name in found
    ]
    return ["family", "Triton", *(head for head, _, _ in _KEYS)], lines


def _cell(found: Mapping[str, Any], keys: Sequence[str], form: str) -> str:
    return cell(next((found[key] for key in keys if found.get(key) is not None), None), form)
