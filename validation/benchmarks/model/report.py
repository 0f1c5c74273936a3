"""Write tables of the results for the terminal and for docs/validation/model.md."""

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from validation.benchmarks.model import (
    ablations,
    att,
    floor,
    goals,
    metrics,
    origami,
    overall,
    overview,
    plot,
    sureness,
    tritons,
)
from validation.benchmarks.model.compiling import Facts
from validation.benchmarks.model.data import Row, Rows
from validation.benchmarks.model.evaluate import Judged, Model
from validation.benchmarks.model.layout import aligned, cell, markdown
from validation.benchmarks.model.problem import Family
from validation.benchmarks.model.real import error
from validation.benchmarks.model.summary import summary

ORDER = (
    ("n", "n", "{:d}"),
    ("Spearman", "spearman", "{:.2f}"),
    ("top-1", "top1", "{:.3f}"),
    ("top-3", "top3", "{:.3f}"),
    ("top-5", "top5", "{:.3f}"),
    ("pairs", "pairs", "{:.2f}"),
    ("ratio p10/med/p90", "ratio", ""),
    ("random top-1", "random_top1", "{:.3f}"),
    ("common top-1", "common_top1", "{:.3f}"),
    ("resource Sp.", "resource_spearman", "{:.2f}"),
    ("resource top-1", "resource_top1", "{:.3f}"),
    ("oracle Sp.", "oracle_spearman", "{:.2f}"),
)
WINNER = (
    ("n", "n", "{:d}"),
    ("percentile", "percentile", "{:.1%}"),
    ("before it", "before", "{:d}"),
    ("before by > 3 %", "near_tie", "{:.1%}"),
    ("its time / best", "within", "{:.2f}"),
    ("common's percentile", "common_percentile", "{:.1%}"),
    ("resource percentile", "resource_percentile", "{:.1%}"),
)
TIME = (
    ("measured us", "measured_us", "{:.2f}"),
    ("predicted us", "predicted_us", "{:.2f}"),
    ("range", "range", ""),
    ("ratio", "ratio", "{:.2f}"),
    ("bound", "bound", "{}"),
    ("roofline us", "roofline_us", "{:.2f}"),
)
ASKED = ("fused_moe_kernel", "_w8a8_block_fp8_matmul")
"""Kernels whose families only use some GPUs and types."""
PAIR = (
    ("measured gain", "measured_gain", "{:.2f}"),
    ("predicted gain", "predicted_gain", "{:.2f}"),
    ("resource gain", "resource_gain", "{:.2f}"),
)
VALIDITY = (
    ("launched", "launched", "{}"),
    ("said to", "said", "{}"),
    ("LDS asked for", "lds", "{}"),
    ("LDS told", "lds_told", "{}"),
)
LOOP = (
    ("traced", "cycles_traced", "{:.0f}"),
    ("simulated", "cycles_simulated", "{:.0f}"),
    ("off", "cycles_off", "{:+.1%}"),
    ("in the published order", "cycles_ordered", "{:.0f}"),
    ("off", "ordered_off", "{:+.1%}"),
)
_TIMED = {"order", "time", "pair", "tile"}
_OVER_ALL = (overall.TABLES, overall.TIMES)
"""Goals that a run of only some of these families does not affect."""
LONG = 40
"""Families with more problems are only summarised."""


def _cell(figures: Mapping[str, Any], key: str, form: str) -> str:
    if key == "range":
        return f"{figures['low_us']:.2f} to {figures['high_us']:.2f}"
    value = figures.get(key)
    if key == "ratio" and isinstance(value, list):
        return "/".join(f"{part:.2f}" for part in value)
    return cell(value, form)


def table(family: Family, results: Sequence[Judged]) -> tuple[list[str], list[list[str]]]:
    """Return header and lines of a family's table."""
    shown = [judged for judged in results if judged.figures]
    if family.question == "order":
        lines = [
            [judged.problem.name, view, *(_cell(judged.figures[view], key, form) for _, key, form in ORDER)]
            for judged in shown
            for view in _views(judged.figures)
        ]
        return ["problem", "rows", *(head for head, _, _ in ORDER)], lines
    columns = {"winner": WINNER, "pair": PAIR, "validity": VALIDITY, "loop": LOOP}.get(family.question, TIME)
    lines = [[judged.problem.name, *(_cell(judged.figures, key, form) for _, key, form in columns)] for judged in shown]
    return ["problem", *(head for head, _, _ in columns)], lines


def _views(figures: Mapping[str, Any]) -> list[str]:
    """Return views that differ from the view before."""
    return ["raw", *(b for a, b in (("raw", "distinct"), ("distinct", "clean")) if figures[a] != figures[b])]


def by_part(results: Sequence[Judged]) -> dict[str, dict[str, Any]]:
    """Return the results of each part of a family that has parts."""
    names = list(dict.fromkeys(judged.problem.part for judged in results if judged.problem.part))
    return {name: summary([judged for judged in results if judged.problem.part == name]) for name in names}


def _words(figures: Mapping[str, Any]) -> str:
    parts = []
    for name, value in figures.items():
        shown = "-" if value is None else f"{value:.3f}" if isinstance(value, float) else str(value)
        parts.append(f"{name.replace('_', ' ')} {shown}")
    return ", ".join(parts)


def heading(family: Family, results: Sequence[Judged]) -> str:
    """Return a family's title with the GPUs of its problems, if it does not name them."""
    names = list(dict.fromkeys(judged.problem.product for judged in results))
    named = [name for name in names if name not in family.title]
    return f"{family.title}, {', '.join(named)}" if named and len(named) == len(names) else family.title


def print_family(family: Family, results: Sequence[Judged]) -> None:
    """Print a family's table and averages."""
    print(f"\n{heading(family, results)}")
    header, lines = table(family, results)
    if len(lines) <= LONG:
        print("\n".join(aligned(header, lines)))
    print(f"{family.name}: {_words(summary(results))}", flush=True)
    for part, found in by_part(results).items():
        print(f"{family.name}, {part}: {_words(found)}", flush=True)


def print_rows(rows: Sequence[Row], *, whole: bool) -> dict[str, int]:
    """Print the numbers of unused rows by reason, with the kernels that have most of them.

    Args:
        rows: rows of the folder.
        whole: whether every family ran; rows that no family used are then printed, too.
    """
    if not isinstance(rows, Rows):
        return {}
    found = Counter(rows.skipped)
    if whole:
        left = (row for row in rows if id(row) not in rows.used)
        found.update((row.kernel, _unused(row)) for row in left)
    reasons: Counter[str] = Counter()
    kernels: dict[str, Counter[str]] = {}
    for (kernel, reason), count in found.items():
        reasons[reason] += count
        kernels.setdefault(reason, Counter())[kernel] += count
    if reasons:
        print(f"\nRows that were not used: {sum(reasons.values())} of {len(rows)}")
    for reason, count in reasons.most_common():
        names = [name for name, _ in kernels[reason].most_common(3)]
        more = f" and {len(kernels[reason]) - 3} more" if len(kernels[reason]) > 3 else ""
        print(f"  {count:5d}  {reason} ({', '.join(names)}{more})")
    for (kernel, knob), count in sorted(rows.without.items()):
        print(f"  {count:5d}  used without the knob {knob} ({kernel})")
    return dict(reasons.most_common())


def _unused(row: Row) -> str:
    if row.kind == "extern":
        return "time of a library"
    if row.kernel in ASKED:
        return "a GPU, type or search of which no family asks"
    if row.kind == "tuned_best" and row.time_us is None:
        return "winner of a kernel that we did not write"
    return "no time" if row.time_us is None else "no family reads this kernel"


def print_goals(
    results: Mapping[str, Sequence[Judged]], how_sure: Mapping[str, Any], seconds: Sequence[float]
) -> list[dict[str, Any]]:
    """Print the goals and whether they are reached."""
    found = [*goals.check(results), *overall.sure(how_sure), *overall.quick(seconds)]
    if found:
        print("\nGoals")
        for one in found:
            print(f"  {'reached' if one['reached'] else 'MISSED ':7} {one['goal']}: {one['value']}")
    return found


BUDGET_MS = 50.0
"""Maximum milliseconds for the simulation of a configuration."""


def print_cost(model: Model, facts: Facts, wall: float) -> dict[str, Any]:
    """Print the processor time of predictions with its budget, and the seconds for compiling."""
    ms = sorted(1000 * seconds for seconds in model.seconds)
    found = {
        "predictions": len(ms),
        "mean_ms": sum(ms) / len(ms) if ms else 0.0,
        "median_ms": metrics.quantile(ms, 0.5) if ms else 0.0,
        "p90_ms": metrics.quantile(ms, 0.9) if ms else 0.0,
        "longest_ms": ms[-1] if ms else 0.0,
        "share_within_budget": sum(one <= BUDGET_MS for one in ms) / len(ms) if ms else 0.0,
        "compiled": facts.compiled,
        "compile_seconds": facts.compile_seconds,
        "failed": len(facts.failures),
        "wall_seconds": wall,
    }
    print(f"\nCost: {_words(found)}")
    for failure in list(facts.failures.values())[:5]:
        print(f"  not compiled: {failure[:160]}")
    return found


def write(
    folder: Path, chosen: Sequence[Family], results: Mapping[str, Sequence[Judged]], extra: Mapping[str, Any]
) -> None:
    """Write ``model.md`` from ``model_text.md``, the tables and ``failures.md``, and ``model.json`` and ``model.svg``.

    Single measured times of the private data are not written, but only figures for each problem. Times in the
    published tables of :mod:`validation.benchmarks.model.families.tables` are written.
    """
    here = Path(__file__).parent
    parts = [(here / "model_text.md").read_text(encoding="utf-8").rstrip(), ""]
    parts += _goals(extra["goals"])
    real = extra.get("real", {})
    figures = {name: summary(judged) for name, judged in results.items()}
    beside = extra.get("origami", {})
    parts += overview.section(chosen, figures, sureness.covered(extra.get("sureness", {})), beside)
    for family in chosen:
        parts += _section(folder, family, results[family.name], real.get(family.name))
    parts += sureness.section(extra.get("sureness", {}))
    parts += floor.section(extra.get("floor", {}))
    parts += att.section()
    titles = {f.name: heading(f, results[f.name]) for f in chosen}
    kept = folder / error.NAME
    sample = {} if real or not kept.is_file() else json.loads(kept.read_text(encoding="utf-8"))
    parts += error.section(real or sample, titles)
    parts += tritons.section(extra.get("tritons", {}), titles, extra.get("refused", ()))
    if other := tritons.table(folder, figures, titles):
        parts += ["## Other Tritons", "", tritons.TEXT, *markdown(*other), ""]
    for name, found in extra.get("ablations", {}).items():
        parts += [f"## Ablations: {name}", "", *ablations.text(found), *markdown(*ablations.lines(found)), ""]
    if left := extra.get("rows"):
        parts += [
            "## Rows that were not used",
            "",
            *markdown(["why", "rows"], [[k, str(n)] for k, n in left.items()]),
            "",
        ]
    parts += ["## Cost", "", f"{_words(extra['cost'])}.", ""]
    parts += [(here / "failures.md").read_text(encoding="utf-8").rstrip(), ""]
    (folder / "model.md").write_text("\n".join(parts), encoding="utf-8")
    if beside:
        (folder / origami.PAGE).write_text(origami.page(chosen, beside, figures), encoding="utf-8")
    data = _data(chosen, results)
    (folder / "model.json").write_text(json.dumps({**data, **extra}, indent=1) + "\n", encoding="utf-8")


def update(
    folder: Path,
    chosen: Sequence[Family],
    results: Mapping[str, Sequence[Judged]],
    made: str,
    extra: Mapping[str, Any] | None = None,
) -> None:
    """Replace the sections of some families in the page; new sections go before the first section that is no family's.

    The first tables and the goals combine these families' new figures with the others' old ones. Numbers of unused rows
    remain those of the last complete run. The section on ranges and ties is replaced if every family in it ran.

    Args:
        folder: folder of the page.
        chosen: families that were run.
        results: results of the families.
        made: commit of the figures, named in each section.
        extra: the model's certainty on these families (``sureness``), their real kernels (``real``), and all
            families of the page in order (``families``).
    """
    sure, real = (extra or {}).get("sureness"), (extra or {}).get("real", {})
    path = folder / "model.md"
    whole = folder / "model.json"
    data = json.loads(whole.read_text(encoding="utf-8"))
    first, *rest = path.read_text(encoding="utf-8").split("\n## ")
    for family in chosen:
        found = results[family.name]
        lines = _section(folder, family, found, real.get(family.name))
        note = f"These figures are of commit {made}, not of the run that wrote the whole page."
        text = _noted(lines, note)
        names = [one.partition("\n")[0] for one in rest]
        if heading(family, found) in names:
            rest[names.index(heading(family, found))] = text
        else:
            rest.insert(names.index(AFTER), text)
    if sure and {one["family"] for one in data["sureness"]["coverage"]} <= {one["family"] for one in sure["coverage"]}:
        data["sureness"] = dict(sure)
        place = next(n for n, one in enumerate(rest) if one.partition("\n")[0] == AFTER)
        rest[place] = _noted(sureness.section(sure), note=f"These figures are of commit {made}.")
    data |= {name: found | {"commit": made} for name, found in _data(chosen, results).items()}
    timed = {family.name for family in (extra or {}).get("families", chosen) if family.question in _TIMED}
    reached = [one for one in goals.check(results) if timed <= {*results} or not one["goal"].startswith(_OVER_ALL)]
    data["goals"] = _renewed(data["goals"], reached)
    _put(rest, _goals(data["goals"]), before=heading(chosen[0], results[chosen[0].name]))
    shown = [family for family in (extra or {}).get("families", chosen) if family.name in data]
    summaries = {family.name: data[family.name]["summary"] for family in shown}
    table = overview.section(shown, summaries, sureness.covered(data.get("sureness", {})), data.get("origami", {}))
    _put(rest, table, after="Goals")
    path.write_text("\n## ".join(_with_texts([first, *rest])), encoding="utf-8")
    whole.write_text(json.dumps(data, indent=1) + "\n", encoding="utf-8")


def _with_texts(sections: list[str]) -> list[str]:
    """Return the page's sections with the current hand-written ones: head, constants, failures."""
    here = Path(__file__).parent
    head, *others = (here / "model_text.md").read_text(encoding="utf-8").rstrip().split("\n## ")
    others.append((here / "failures.md").read_text(encoding="utf-8").removeprefix("## ").rstrip())
    by_name = {text.partition("\n")[0]: text for text in others}
    found = [by_name.get(one.partition("\n")[0], one) for one in sections[1:]]
    return [head, *(one.rstrip("\n") + "\n" for one in found[:-1]), *found[-1:]]


def _goals(found: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return the page's section about the goals."""
    lines = [[one["goal"], str(one["value"]), "yes" if one["reached"] else "**no**"] for one in found]
    return ["## Goals", "", *markdown(["goal", "found", "reached"], lines), ""]


def _renewed(known: Sequence[Mapping[str, Any]], found: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """Return the goals with those of this run replaced, and its own appended; text in brackets depends on the run."""
    new = {one["goal"].partition(" (")[0]: one for one in found}
    old = {one["goal"].partition(" (")[0]: one for one in known}
    return [new.get(name, one) for name, one in old.items()] + [new[name] for name in new if name not in old]


def _put(sections: list[str], lines: Sequence[str], *, before: str = "", after: str = "") -> None:
    """Replace a section of the page, or insert it next to another."""
    text = "\n".join(lines).removeprefix("## ")
    names = [one.partition("\n")[0] for one in sections]
    if (name := text.partition("\n")[0]) in names:
        sections[names.index(name)] = text
    else:
        sections.insert(names.index(after) + 1 if after else names.index(before), text)


def _noted(lines: Sequence[str], note: str) -> str:
    """Return a section with a note under its heading, in the page's format."""
    return "\n".join([*lines[:2], note, "", *lines[2:]]).removeprefix("## ")


AFTER = "How sure it is"
"""The first section that does not belong to a family."""


def _section(folder: Path, family: Family, found: Sequence[Judged], real: Mapping[str, Any] | None = None) -> list[str]:
    """Return a family's section of the page."""
    header, lines = table(family, found)
    parts = [f"## {heading(family, found)}", ""]
    whole = False
    if real is not None and (said := error.words(real)):
        parts += [f"{said}.", ""]
        whole = bool(real["packages"]) and len(set(real["problems"])) == 1
    if not whole:
        parts += [f"Ours differs: {family.differs}.", ""]
    parts += [family.note, "", f"{_condition(found)}.", ""]
    if len(lines) <= LONG and not family.private:
        parts += [*markdown(header, lines), ""]
    parts += [f"Over all: {_words(summary(found))}.", ""]
    for part, figures in by_part(found).items():
        parts += [f"{part.capitalize()}: {_words(figures)}.", ""]
    if family.name == "tables":
        (folder / "model.svg").write_text(plot.scatter(found), encoding="utf-8")
        parts += ["![Predicted against measured](model.svg)", ""]
    return parts


def _condition(found: Sequence[Judged]) -> str:
    """Return the condition under which a family's launches are predicted, as a sentence without its full stop."""
    named = dict.fromkeys(p.condition.name for j in found for c in j.problem.candidates for p in c.points)
    return f"Condition: {', '.join(named)}, without events"


def _data(chosen: Sequence[Family], results: Mapping[str, Sequence[Judged]]) -> dict[str, dict[str, Any]]:
    """Return figures of families, without single times of the private data."""
    data: dict[str, dict[str, Any]] = {
        name: {"summary": summary(judged), "problems": {one.problem.name: one.figures for one in judged}}
        for name, judged in results.items()
    }
    for family in chosen:
        if family.private:
            data.get(family.name, {}).pop("problems", None)
    return data
