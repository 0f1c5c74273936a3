"""The same rows predicted from the code of other Tritons: how much the compiler moves, not how good the model is.

``python -m benchmarks.model --only tritonblas,mm,tables,attention --keep`` with another Triton's Python adds its
figures to ``docs/validation/model_tritons.json``; the page of the main run shows them beside its own.
"""

import json
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from benchmarks.model.data import Row, Rows
from benchmarks.model.layout import cell

NAME = "model_tritons.json"
_EXACT = re.compile(r"\d+\.\d+\.\d+\S*")
_KEYS = (
    ("n", ("problems",), "{:d}"),
    ("not compiled", ("failed",), "{:d}"),
    ("Spearman", ("clean_spearman", "spearman"), "{:.2f}"),
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


def another(rows: Sequence[Row]) -> str:
    """What to know of rows in use that name another version of Triton than the installed one; empty without any.

    Versions that are only known roughly (``~3.0``, ``3.4-3.8``) do not count, nor does the last part of a version.
    """
    mine = version()
    used = (row for row in rows if not isinstance(rows, Rows) or id(row) in rows.used)
    named = Counter(row.triton for row in used if _EXACT.fullmatch(row.triton))
    others = {name: n for name, n in named.items() if name.split(".")[:2] != mine.split(".")[:2]}
    if not others:
        return ""
    known = ", ".join(f"{n} with {name}" for name, n in sorted(others.items()))
    return (
        f"Compiled with Triton {mine}, but of the rows in use {known} were measured. Another version makes other code "
        "of the same kernel: run this with theirs to judge the model."
    )


def keep(folder: Path, summaries: Mapping[str, Mapping[str, Any]]) -> None:
    """Add this Triton's figures to the file."""
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
