"""The report's part about published times that our compile of the measured kernel cannot have (:mod:`.least`)."""

from collections.abc import Iterator, Mapping, Sequence
from statistics import median
from typing import TYPE_CHECKING, Any

from validation.benchmarks.model import metrics
from validation.benchmarks.model.compiling import Facts
from validation.benchmarks.model.evaluate import Judged
from validation.benchmarks.model.layout import aligned, markdown
from validation.benchmarks.model.least import FAMILIES
from validation.benchmarks.model.problem import Family

if TYPE_CHECKING:
    from kprof.analysis import KernelFacts

LEAST_US = 5.0
"""Published times of winners below this are not credible."""
_GROUPS = ("under the floor of our code", "spilled registers in a loop", "loads of two bytes", "others")


def group(facts: "KernelFacts", floor: float, measured: float) -> str:
    """Return why a prediction may be far from the published time: the first of four groups that applies."""
    from kprof.inputs.amdgcn import InstructionClass

    if floor > measured:
        return _GROUPS[0]
    members = {n for loop in facts.program.loops for n in loop.instructions}
    inside = [facts.program.instructions[n].opcode for n in members]
    if any(opcode.cls is InstructionClass.SCRATCH for opcode in inside):
        return _GROUPS[1]
    loads = [opcode for opcode in inside if opcode.cls is InstructionClass.VMEM and opcode.is_load]
    return _GROUPS[2] if loads and all((opcode.bytes_per_lane or 4) <= 2 for opcode in loads) else _GROUPS[3]


def figures(facts: Facts, chosen: Sequence[Family], results: Mapping[str, Sequence[Judged]]) -> dict[str, Any]:
    """Return each family's rows by group, and rows below the minimum of families that are shown by row."""
    groups, under = [], []
    for family in chosen:
        if family.name not in FAMILIES or family.name not in results:
            continue
        ratios: dict[str, list[float]] = {name: [] for name in _GROUPS}
        seen = set()
        for judged in results[family.name]:
            for one in judged.scored:
                measured = one.candidate.time_us
                if measured is None or one.candidate.suspect or one.code in seen or measured < LEAST_US:
                    continue
                launches = [found for found in facts.prepare(one.candidate.points) if found is not None]
                if len(launches) != 1:
                    continue
                if family.question == "order":
                    seen.add(one.code)
                name = group(launches[0], one.floor, measured)
                ratios[name].append(one.timed / measured)
                if name == _GROUPS[0] and not family.private:
                    row = {"measured_us": measured, "floor_us": one.floor, "predicted_us": one.us}
                    under.append({"problem": judged.problem.name, "config": _words(one.candidate.config), **row})
        for name, found in ratios.items():
            if found:
                row = {"rows": len(found), "median": median(found), "p90": metrics.quantile(found, 0.9)}
                groups.append({"family": family.name, "group": name, **row})
    return {"groups": groups, "under": under} if groups else {}


def _words(config: Mapping[str, Any]) -> str:
    sides = "x".join(str(config.get(f"BLOCK_{side}", config.get(f"BLOCK_SIZE_{side}", "?"))) for side in "MNK")
    rest = [f"{config['num_warps']} warps"] if "num_warps" in config else []
    rest += [f"{name} {config[name]}" for name in ("waves_per_eu", "kpack", "cache_modifier") if config.get(name)]
    return ", ".join([sides, *rest])


def _tables(found: Mapping[str, Any]) -> Iterator[tuple[list[str], list[list[str]]]]:
    yield (
        ["family", "rows", "n", "predicted / measured", "p90"],
        [
            [one["family"], one["group"], str(one["rows"]), f"{one['median']:.2f}", f"{one['p90']:.2f}"]
            for one in found["groups"]
        ],
    )
    yield (
        ["problem", "configuration", "measured us", "floor us", "predicted us"],
        [
            [one["problem"], one["config"], *(f"{one[key]:.0f}" for key in ("measured_us", "floor_us", "predicted_us"))]
            for one in found["under"]
        ],
    )


def show(found: Mapping[str, Any]) -> None:
    """Print both tables."""
    if not found:
        return
    print("\nWhat our compile of the measured kernels can do at all")
    for header, lines in _tables(found):
        if lines:
            print("\n".join(aligned(header, lines)))


_TEXT = """\
The measured kernels, compiled by us: is it the code that was measured? The floor is what our code's instructions take
when every load is a hit in an idle L2, spilled registers lie in L1, bandwidth has no end, the clock is the data
sheet's, and launch and power cost nothing. A published time below that was another code's, whatever the model says.
The other groups are what our compile has in its loops. Rows below 5 us are left out; each machine code counts once
where configurations are ordered.
"""


def section(found: Mapping[str, Any]) -> list[str]:
    """Return the page's section about the minimum times."""
    if not found:
        return []
    parts = ["## What our compile can do at all", "", _TEXT]
    for header, lines in _tables(found):
        if lines:
            parts += [*markdown(header, lines), ""]
    return parts
