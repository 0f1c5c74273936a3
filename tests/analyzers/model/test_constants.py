"""No fitted number hides in the model's code: each stands in kprof/hardware with what it was fitted on.

A number in the code must be a fact of its format, a bound on work, or a unit; anything else is listed here with the
reason why it may stay, and everything else is a figure of ``[model]`` in the hardware files.
"""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from kprof.hardware.figures import figures
from kprof.hardware.machine import architectures, load

MODEL = Path(__file__).parents[3] / "analyzers" / "kprof_analyzers" / "model"
PLAIN = {0, 1, 2, 100, 1000}
"""Counting, halves and doubles, percent and thousands."""
ALLOWED: dict[str, tuple[tuple[float, ...], str]] = {
    "arithmetic.BINARY": ((64,), "bits of the widest integer"),
    "arithmetic.PURE": ((3,), "operands of a choice"),
    "branches._MOST_BRANCHES": ((200,), "bound on work"),
    "certainty.ENOUGH": ((0.75,), "how sure two launches have to be to be called different: a choice, in no time"),
    "certainty.certainty": ((0.5,), "equal times: as likely as not"),
    "ranges.own_table": ((3, 11), "a version of Python"),
    "entries._MOST_ENTRIES": ((64,), "bound on work"),
    "executions._WORTH": ((0.125,), "which code is told of: in no time"),
    "explain._speed_of_light": ((4,), "Triton's own number of wavefronts, where the code does not tell"),
    "explain._spilled": ((4,), "Triton's own number of wavefronts, where the code does not tell"),
    "explain._kept_scratch": ((20,), "bytes of a MiB, as a power of two"),
    "explain._notes": ((1.05,), "from where the power limit is told of: in no time"),
    "gains._MOST": ((12,), "bound on work"),
    "gains._relaunched": ((4,), "Triton's own number of wavefronts, where the code does not tell"),
    "kernel._STEPS": ((9000,), "bound on work"),
    "kernel._MOST_ITERATIONS": ((8,), "bound on work"),
    "kernel._FEWEST_ITERATIONS": ((4,), "bound on work"),
    "kernel.build": ((4,), "Triton's own number of wavefronts, where the code does not tell"),
    "kernel._iterations": ((0.4999,), "rounds up, but for whole numbers"),
    "kernel._mean_of_second_half": ((3, 0.05), "when a loop has settled: ends the simulation of it"),
    "launch._sampled": ((16,), "launches whose workgroups are kept"),
    "launch._consecutive": ((16,), "launches whose workgroups are kept"),
    "launch._GOLDEN": ((0.6180339887498949,), "places of samples that repeat with no period: the golden ratio less 1"),
    "launch._MOST_TOGETHER": ((1024,), "bound on work"),
    "launch._SAMPLES": ((512,), "bound on work"),
    "comparisons._STRAYED": ((256,), "bound on work"),
    "comparisons.MaskReader._strayed": ((3,), "iterations from which on a third value can differ"),
    "comparisons._DEPTH": ((40,), "bound on work"),
    "comparisons._ITERATIONS": ((64,), "bound on work"),
    "machine._ISSUE": ((32,), "lanes of a SIMD of RDNA; its use is told as an assumption"),
    "machine.machine_of": ((128,), "data sheets' bytes a cycle, where the architecture has no rate"),
    "memory.spilled_bytes": ((4,), "bytes of a register"),
    "outline._LOOP_WEIGHT": ((16,), "which path is the longest: in no time by itself"),
    "remembered._MOST": ((8,), "bound on memory"),
    "remembered.ways_of": ((4,), "bound on memory"),
    "occupancy_gain.roofline": ((4,), "Triton's own number of wavefronts, where the code does not tell"),
    "program.PARTS": ((8,), "how finely shares are told apart: of latencies"),
    "program.DELAY": ((3,), "place of a field"),
    "program.WHICH": ((4,), "place of a field"),
    "program._FAR": ((32,), "more instructions than any result takes"),
    "program._WIDE": ((8,), "bytes of two registers"),
    "program.Translator._other": ((64,), "cycles that s_sleep counts in"),
    "program.Translator._valu": ((16, 128), "data sheets' rates, where the architecture has none"),
    "program.Translator._matrix": (
        (32, 4, 3),
        "passes are of four cycles; an instruction that the tables lack is one of 32",
    ),
    "program.Translator.lds_of": (
        (4, 8, 64),
        "bytes of a register, bits of a byte, accesses that the tables' cycles are for",
    ),
    "program.Translator.memory_of": ((4,), "bytes of a register"),
    "program._number": ((127,), "largest operand of s_sleep"),
    "program._DENSE": ((4,), "operands of a product"),
    "program._touched": ((3,), "place of an operand"),
    "ranges.SCRATCH": ((0.1,), "which range a prediction has: in no time"),
    "ranges.LATENCY": ((0.2,), "which range a prediction has: in no time"),
    "runs._LARGE": ((32,), "rows of the large matrix instructions"),
    "scalars._DEPTH": ((180,), "bound on work"),
    "scalars._LOWER_HALF": ((44,), "bits of made-up addresses"),
    "scalars._APART": ((1000003,), "keeps made-up addresses apart"),
    "scalars._EXTENTS": ((20, 21), "made-up extents"),
    "scalars.Evaluator.bounds": ((3,), "bounds of a loop"),
    "simulate.(BEGIN, END, SPLIT)": ((10, 11, 12), "numbers of kinds"),
    "slow_ways._POLYNOMIAL_BELOW": ((0.625,), "from where the device library's tanh takes its other path"),
    "slow_ways._USUAL": ((16.0,), "values are assumed to be below; its use is told as an assumption"),
    "slow_ways._WORDS": ((6,), "words of 2/pi that a reduction multiplies by: recognises it"),
    "steps.split_barriers": ((3,), "instructions of Triton's conditional barrier"),
    "traffic._MOSTLY": ((0.9,), "of samples that differ, from where the launch's others are taken to differ"),
    "traffic._MIN_WINDOWS": ((1.5,), "of what a cache holds, from where on its steady state is looked at"),
    "traffic._LITTLE": ((0.05,), "of bytes with unknown addresses, up to where a footprint counts as known"),
    "trips.ASSUMED": ((16,), "told as an assumption, with its own range"),
    "trips._NEARLY": ((0.9,), "of samples, for which loop a program's is"),
    "trips._unrolled": ((0.2, 4, 8, 16), "tells powers of two apart"),
    "trips._flops": ((3,), "operands of a product"),
    "wave_timeline._PIPE_OF": ((3,), "number of a row"),
    "wave_timeline._MEMORY_PIPE": ((4,), "number of a row"),
    "wave_timeline._CLOCK_US": ((0.001,), "unit of the trace format"),
    "whiles._MOST_ITERATIONS": ((96,), "bound on work"),
    "write_backs.write_backs": ((4,), "Triton's own number of wavefronts, where the code does not tell"),
}
"""Function or constant to its numbers, and why they are not figures of the hardware files."""


def literals(path: Path) -> Iterator[tuple[str, float, int]]:
    """Numbers of a module that are not plain: where (function or constant), value and line."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    for top in tree.body:
        yield from _inside(top, path.stem + "." + _name(top))


def _name(node: ast.stmt) -> str:
    if isinstance(node, ast.Assign | ast.AnnAssign):
        target = node.targets[0] if isinstance(node, ast.Assign) else node.target
        return ast.unparse(target)
    return getattr(node, "name", "")


def _inside(node: ast.AST, where: str) -> Iterator[tuple[str, float, int]]:
    if isinstance(node, ast.ClassDef):
        for inner in node.body:
            yield from _inside(inner, f"{where}.{_name(inner)}".rstrip("."))
        return
    # Digits to round to and places of a list are no quantities.
    if isinstance(node, ast.Subscript):
        yield from _inside(node.value, where)
        return
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in {"round", "range"}:
        for argument in node.args[: 1 if node.func.id == "round" else 0]:
            yield from _inside(argument, where)
        return
    if isinstance(node, ast.Constant):
        if isinstance(node.value, int | float) and not isinstance(node.value, bool) and node.value not in PLAIN:
            yield where, node.value, node.lineno
        return
    for inner in ast.iter_child_nodes(node):
        yield from _inside(inner, where)


def test_every_number_of_the_model_is_listed():
    """One that is neither in the hardware files nor listed here with a reason may have been fitted in silence."""
    found: dict[str, set[float]] = {}
    for path in sorted(MODEL.glob("*.py")):
        for where, value, _ in literals(path):
            found.setdefault(where, set()).add(value)
    unlisted = {where: values - set(ALLOWED.get(where, ((), ""))[0]) for where, values in found.items()}
    assert {where: values for where, values in unlisted.items() if values} == {}
    gone = {where: set(values) - found.get(where, set()) for where, (values, _) in ALLOWED.items()}
    assert {where: values for where, values in gone.items() if values} == {}, "no longer there: take it off the list"


def test_a_hidden_number_is_found(tmp_path):
    """In a function, a default, a method and a constant; digits, places and plain numbers are no finding."""
    path = tmp_path / "some.py"
    path.write_text(
        "SHARE = 0.37\n\n\ndef cost(bytes_, rate=27.5):\n    return round(bytes_[3] * 0.8 + 2 * 100, 4) / rate\n\n\n"
        "class Way:\n    def take(self):\n        return max(self.a, 16.0)\n"
    )
    assert list(literals(path)) == [
        ("some.SHARE", 0.37, 1),
        ("some.cost", 27.5, 4),
        ("some.cost", 0.8, 5),
        ("some.Way.take", 16.0, 10),
    ]


@pytest.mark.parametrize("name", architectures())
def test_every_figure_of_the_model_says_what_it_rests_on(name):
    """Fitted or taken over or without a source at all, it says so; the common ones reach every architecture."""
    arch = load(name)
    known = {figure.key.removeprefix("model."): figure for figure in figures(arch) if figure.key.startswith("model.")}
    assert set(arch.model) == set(known)
    assert {"short_run", "short_run_most", "overlap", "lds_queue", "l1_sustained"} <= set(known)
    for key, figure in known.items():
        kinds = {arch.sources[source].kind for source in figure.sources}
        assert kinds <= {"fitted", "weak", "none"}, key
        assert not figure.firm, key
