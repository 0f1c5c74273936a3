"""Measure the contribution of each effect: evaluate families again with one effect at a time left out.

After the effects, each constant that one architecture has of its own is replaced by the value for other
architectures. An effect applies to all architectures, while an architecture's own constant must improve the results
there.
"""

import multiprocessing
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import Any

from validation.benchmarks.model.compiling import Facts
from validation.benchmarks.model.data import Row
from validation.benchmarks.model.evaluate import Model, judge
from validation.benchmarks.model.layout import aligned, cell
from validation.benchmarks.model.problem import Family, Problem
from validation.benchmarks.model.summary import summary

FEW = 4
"""Families whose problems have fewer configurations have no order that an effect could change."""
EVERY = 12
"""In families of winners, one of this number of problems is evaluated, because there are many and their spaces are
large."""
WINNERS = ("fused_moe", "block_fp8")
"""Families of winners whose problems are evaluated: kernels of their own, with most problems of their GPU."""

TIMED = ("streamk", "retunes", "aiter_bf16", "flydsl")
"""Evaluated families of pairs and of single times: for GPUs or forms without an ordered table."""

Table = Mapping[str, Mapping[str, Any]]
Constants = Mapping[str, Mapping[str, float]]
WITHOUT: Mapping[str, float] = {"matrix_large": 1.0, "matrix_fp16": 1.0}
"""Values used for an architecture about which nothing is known, which amount to no effect."""


@dataclass(frozen=True)
class Ablation:
    """An effect or constants that are left out.

    Attributes:
        name: name of the line in the table.
        effect: effect that is switched off; empty for none.
        constants: by architecture, the values of other architectures that replace its own.
    """

    name: str
    effect: str = ""
    constants: Constants = field(default_factory=dict)


def figures(facts: Facts, chosen: Sequence[Family], rows: list[Row], *, quick: bool, jobs: int) -> dict[str, Table]:
    """Return figures of each family with everything and with each effect left out.

    Args:
        facts: compiled kernels.
        chosen: families; families without an order that could change are skipped.
        rows: rows of the data.
        quick: whether to use only a part of each family.
        jobs: number of predicting processes; more than one only if processes can be forked.
    """
    found: dict[str, Table] = {}
    for family in chosen:
        problems = _problems(family, rows, quick=quick)
        few = family.name not in TIMED and max((len(one.candidates) for one in problems), default=0) < FEW
        if few or not problems:
            continue
        facts.prepare([point for one in problems for candidate in one.candidates for point in candidate.points])
        tasks = [(facts, family, problems, one) for one in _ablations(problems)]
        if jobs > 1 and "fork" in multiprocessing.get_all_start_methods():
            # Facts are large, and forked processes already have them.
            with multiprocessing.get_context("fork").Pool(jobs, _take, (tasks,)) as pool:
                tables = pool.map(_of_task, range(len(tasks)), chunksize=1)
        else:
            tables = [_without(*task) for task in tasks]
        found[family.name] = {one.name: table for (*_, one), table in zip(tasks, tables, strict=True)}
    return found


def _problems(family: Family, rows: list[Row], *, quick: bool) -> list[Problem]:
    if family.question == "order" or family.name in TIMED:
        return family.problems(rows, quick)
    return family.problems(rows, quick)[::EVERY] if family.name in WINNERS else []


def _ablations(problems: Sequence[Problem]) -> Iterator[Ablation]:
    yield Ablation("all effects")
    for effect in _effects():
        yield Ablation(f"without {effect}", effect)
    own = _own(sorted({problem.product for problem in problems}))
    for name in sorted({name for constants in own.values() for name in constants}):
        instead = {arch: {name: constants[name]} for arch, constants in own.items() if name in constants}
        yield Ablation(f"usual {name}", constants=instead)


def _effects() -> list[str]:
    from kprof_analyzers.model import Effects

    return [one.name for one in fields(Effects) if getattr(Effects(), one.name) is True]


def _own(products: Sequence[str]) -> dict[str, dict[str, float]]:
    """Return, by architecture, the values of other architectures that replace the constants of its own."""
    from kprof.hardware.machine import load, usual_model

    usual, archs = {**usual_model(), **WITHOUT}, {arch.name: arch.model for arch in map(load, products)}
    return {
        arch: {name: usual[name] for name, value in own.items() if usual.get(name, value) != value}
        for arch, own in archs.items()
    }


def _without(facts: Facts, family: Family, problems: Sequence[Problem], left_out: Ablation) -> dict[str, Any]:
    from kprof_analyzers.model import Effects

    effects = replace(Effects(), **{left_out.effect: False}) if left_out.effect else None
    return summary(judge(Model(facts, effects, left_out.constants), family, problems))


_TASKS: list[tuple[Facts, Family, Sequence[Problem], Ablation]] = []


def _take(tasks: list[tuple[Facts, Family, Sequence[Problem], Ablation]]) -> None:
    _TASKS[:] = tasks


def _of_task(place: int) -> dict[str, Any]:
    return _without(*_TASKS[place])


def show(tables: Mapping[str, Table]) -> None:
    """Print the tables, one for each family."""
    for name, found in tables.items():
        print(f"\n{name}, each effect left out ({_words(found)})")
        print("\n".join(aligned(*lines(found))))


def _words(found: Table) -> str:
    """Describe the rows that the figures are averaged over."""
    if "clean_spearman" in found["all effects"]:
        return "averages over problems that have an order, clean rows"
    count = found["all effects"]["problems"]
    return f"one problem in {EVERY}: {count}" if "top5_percent" in found["all effects"] else f"all problems: {count}"


def text(found: Table) -> list[str]:
    """Return the text above a family's table on the page."""
    return [f"{_words(found).capitalize()}.", ""] if "top5_percent" in found["all effects"] else []


def lines(found: Table) -> tuple[list[str], list[list[str]]]:
    """Return header and lines of a family's table."""
    keys = next(keys for asked, keys in _COLUMNS.items() if asked in found["all effects"])
    cells = [[name, *(cell(table.get(key)) for _, key in keys)] for name, table in found.items()]
    return ["", *(head for head, _ in keys)], cells


_COLUMNS: Mapping[str, Sequence[tuple[str, str]]] = {
    "clean_spearman": (
        ("Spearman", "clean_spearman"),
        ("top-1", "clean_top1"),
        ("top-5", "clean_top5"),
        ("pairs", "clean_pairs"),
        ("median ratio", "clean_ratio"),
    ),
    "top5_percent": (
        ("in the top 5 %", "top5_percent"),
        ("median percentile", "median_percentile"),
        ("among the first 5", "recall_top5"),
        ("first 20", "recall_top20"),
        ("median time over best", "median_time_over_best"),
    ),
    "gain_spearman": (
        ("sign right", "sign_right"),
        ("gains' Spearman", "gain_spearman"),
        ("within 1.25", "within_1.25"),
        ("in range", "in_range"),
        ("median ratio", "ratio_median"),
    ),
    "spearman": (
        ("Spearman", "spearman"),
        ("p10 ratio", "ratio_p10"),
        ("median", "ratio_median"),
        ("p90", "ratio_p90"),
        ("in range", "in_range"),
    ),
}
"""Map a figure that identifies a family's question to the columns of its table."""
