"""What each effect is worth: families judged again with one effect after the other left out."""

import multiprocessing
from collections.abc import Mapping, Sequence
from dataclasses import fields, replace
from typing import Any

from benchmarks.model.compiling import Facts
from benchmarks.model.data import Row
from benchmarks.model.evaluate import Model, judge
from benchmarks.model.layout import aligned, cell
from benchmarks.model.problem import Family, Problem
from benchmarks.model.summary import summary

FEW = 4
"""Families whose problems have fewer configurations have no order that an effect could change."""
EVERY = 4
"""Of a family of winners, one problem of so many is judged: they are many, and their spaces are large."""
WINNERS = ("fused_moe", "block_fp8")
"""Families of winners whose problems are judged: kernels of their own, with their GPU's most problems."""

Table = Mapping[str, Mapping[str, Any]]


def figures(facts: Facts, chosen: Sequence[Family], rows: list[Row], *, quick: bool, jobs: int) -> dict[str, Table]:
    """Figures of each family with everything and with each effect left out.

    Args:
        facts: compiled kernels.
        chosen: families; those without an order that could change are left out.
        rows: of the data.
        quick: a part of each family.
        jobs: processes that predict; more than one where processes can be forked.
    """
    found: dict[str, Table] = {}
    for family in chosen:
        problems = _problems(family, rows, quick=quick)
        if not problems or max(len(problem.candidates) for problem in problems) < FEW:
            continue
        facts.prepare([point for one in problems for candidate in one.candidates for point in candidate.points])
        tasks = [(facts, family, problems, effect) for effect in ("", *_effects())]
        if jobs > 1 and "fork" in multiprocessing.get_all_start_methods():
            # Facts are large, and forked processes have them already.
            with multiprocessing.get_context("fork").Pool(jobs, _take, (tasks,)) as pool:
                tables = pool.map(_of_task, range(len(tasks)), chunksize=1)
        else:
            tables = [_without(*task) for task in tasks]
        found[family.name] = {
            f"without {effect}" if effect else "all effects": table
            for (*_, effect), table in zip(tasks, tables, strict=True)
        }
    return found


def _problems(family: Family, rows: list[Row], *, quick: bool) -> list[Problem]:
    if family.question == "order":
        return family.problems(rows, quick)
    return family.problems(rows, quick)[::EVERY] if family.name in WINNERS else []


def _effects() -> list[str]:
    from kprof_analyzers.model import Effects

    return [one.name for one in fields(Effects) if getattr(Effects(), one.name) is True]


def _without(facts: Facts, family: Family, problems: Sequence[Problem], effect: str) -> dict[str, Any]:
    from kprof_analyzers.model import Effects

    effects = replace(Effects(), **{effect: False}) if effect else None
    return summary(judge(Model(facts, effects), family, problems))


_TASKS: list[tuple[Facts, Family, Sequence[Problem], str]] = []


def _take(tasks: list[tuple[Facts, Family, Sequence[Problem], str]]) -> None:
    _TASKS[:] = tasks


def _of_task(place: int) -> dict[str, Any]:
    return _without(*_TASKS[place])


def show(tables: Mapping[str, Table]) -> None:
    """Print them, a table for each family."""
    for name, found in tables.items():
        print(f"\n{name}, each effect left out ({_words(found)})")
        print("\n".join(aligned(*lines(found))))


def _words(found: Table) -> str:
    """What the figures are taken over."""
    if _ordered(found):
        return "averages over problems that have an order, clean rows"
    return f"one problem in {EVERY}: {found['all effects']['problems']}"


def text(found: Table) -> list[str]:
    """What stands above a family's table on the page."""
    return [] if _ordered(found) else [f"{_words(found).capitalize()}.", ""]


def _ordered(found: Table) -> bool:
    return "clean_spearman" in found["all effects"]


def lines(found: Table) -> tuple[list[str], list[list[str]]]:
    """Header and lines of a family's table."""
    if _ordered(found):
        keys = [("Spearman", "clean_spearman"), ("top-1", "clean_top1"), ("top-5", "clean_top5")]
        keys += [("pairs", "clean_pairs"), ("median ratio", "clean_ratio")]
    else:
        keys = [("in the top 5 %", "top5_percent"), ("median percentile", "median_percentile")]
        keys += [("among the first 5", "recall_top5"), ("first 20", "recall_top20")]
        keys += [("median time over best", "median_time_over_best")]
    cells = [[name, *(cell(table.get(key)) for _, key in keys)] for name, table in found.items()]
    return ["", *(head for head, _ in keys)], cells
