"""The same rows predicted from the code of other Tritons: how much the compiler moves, not how good the model is.

``python -m benchmarks.model --only tritonblas,mm,tables,attention --keep`` with another Triton's Python adds its
figures to ``docs/validation/model_tritons.json``; the page of the main run shows them beside its own.
"""

import json
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from benchmarks.model.data import Row, Rows
from benchmarks.model.evaluate import Judged, Scored, pair_figures
from benchmarks.model.layout import cell, markdown

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
The same published rows, predicted from what other Tritons make of the same kernels. The tritonBLAS rows name
3.6.0: the difference is the compiler's, and what a prediction is worth that is asked of another version than the one
that runs.
"""


def version() -> str:
    """The installed Triton's version."""
    from kprof.compiler.versions import installed

    return installed().version


def releases(text: str) -> tuple[tuple[int, int], tuple[int, int]] | None:
    """First and last release that a row's version may mean, as (major, minor); ``None`` where it names none.

    ``3.6.0``, ``3.6`` and ``~3.5`` name one, ``3.4-3.8 (mixed)`` and ``~3.0-3.2`` all between two.
    """
    # A ROCm release is none of Triton's.
    named = [(int(major), int(minor)) for major, minor in _RELEASE.findall(_ROCM.sub("", text))]
    return (min(named), max(named)) if named else None


def match(text: str, mine: str) -> str:
    """Whether code compiled with a Triton may be what was measured.

    Args:
        text: version that a row names.
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


def another(rows: Sequence[Row]) -> str:
    """What to know of rows in use that another version of Triton was measured with; empty without any.

    The last part of a version does not count.
    """
    mine = version()
    used = (row for row in rows if not isinstance(rows, Rows) or id(row) in rows.made)
    others = Counter(row.triton for row in used if match(row.triton, mine) == "another")
    if not others:
        return ""
    known = ", ".join(f"{n} with {name}" for name, n in sorted(others.items()))
    return (
        f"Compiled with Triton {mine}, but of the rows in use {known} were measured. Another version makes other code "
        "of the same kernel: run this with theirs to judge the model."
    )


def matches(rows: Sequence[Row], mine: str) -> list[dict[str, Any]]:
    """The versions that a family's rows name: text, rows, and whether the compiler's is the one."""
    named = Counter(row.triton for row in rows)
    return [{"triton": text, "rows": n, "match": match(text, mine)} for text, n in named.most_common()]


def section(found: Mapping[str, Sequence[Mapping[str, Any]]], mine: str, titles: Mapping[str, str]) -> list[str]:
    """The part of the page about who compiled what was measured; empty where nothing is known of it."""
    lines = [
        [titles[name], one["triton"] or "-", str(one["rows"]), _MARKS[one["match"]]]
        for name, each in found.items()
        for one in each
    ]
    if not lines:
        return []
    total = sum(one["rows"] for each in found.values() for one in each)
    same = sum(one["rows"] for each in found.values() for one in each if one["match"] == "same")
    off = sum(one["rows"] for each in found.values() for one in each if one["match"] == "another")
    about = (
        f"All rows were compiled with Triton {mine}. Of {total} rows {same} were measured with that release and {off} "
        "with another: figures of those are also what two compilers differ by, see the section on other Tritons. The "
        "rest do not say it, or not exactly."
    )
    return ["## Who compiled what was measured", "", about, "",
            *markdown(["family", "measured with", "rows", "compiled with it"], lines), ""]  # fmt: skip


def times(results: Sequence[Judged]) -> dict[str, list[float]]:
    """Predicted microseconds of each pair's sides, by problem."""
    return {one.problem.name: [side.us for side in one.scored] for one in results if "measured_gain" in one.figures}


def by_own(folder: Path, family: str, results: Sequence[Judged]) -> list[Judged]:
    """Pairs with each side predicted from the code of the Triton that measured it, as far as the file has its times.

    Args:
        folder: with the file that :func:`keep` writes.
        family: its name there.
        results: of this run.
    """
    path = folder / NAME
    kept = json.loads(path.read_text(encoding="utf-8")) if path.is_file() else {}
    found = []
    for judged in results:
        known = {name: one.get(family, {}).get("times", {}).get(judged.problem.name) for name, one in kept.items()}
        known[version()] = [side.us for side in judged.scored]
        sides = [_from_own(side, place, known) for place, side in enumerate(judged.scored)]
        whole = [side for side in sides if side is not None]
        if judged.figures and len(whole) == len(sides):
            found.append(replace(judged, figures=pair_figures(judged.problem, whole, None), scored=whole))
    return found


def _from_own(side: Scored, place: int, known: Mapping[str, Sequence[float] | None]) -> Scored | None:
    """A side with the time that another Triton's code has, its range as wide; ``None`` where that is not known."""
    listed = next((each for name, each in known.items() if each and match(side.candidate.triton, name) == "same"), None)
    if listed is None:
        return None
    factor = listed[place] / side.us
    return replace(side, us=listed[place], low=side.low * factor, high=side.high * factor)


def keep(folder: Path, summaries: Mapping[str, Mapping[str, Any]]) -> None:
    """Add this Triton's figures to the file, and of pairs what :func:`times` gives, as ``times``."""
    path = folder / NAME
    known = json.loads(path.read_text(encoding="utf-8")) if path.is_file() else {}
    known.setdefault(version(), {}).update(summaries)
    path.write_text(json.dumps(dict(sorted(known.items())), indent=1) + "\n", encoding="utf-8")


def table(
    folder: Path, summaries: Mapping[str, Mapping[str, Any]], titles: Mapping[str, str]
) -> tuple[list[str], list[list[str]]] | None:
    """Header and lines, a family after the other; ``None`` without figures of another Triton."""
    path = folder / NAME
    others: dict[str, Mapping[str, Mapping[str, Any]]] = json.loads(path.read_text("utf-8")) if path.is_file() else {}
    others = {**{name: found for name, found in others.items() if name != version()}, version(): summaries}
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
