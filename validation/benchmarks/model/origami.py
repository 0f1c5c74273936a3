"""Evaluate AMD's analytical model of matrix products on the same rows (``--origami FOLDER``).

Origami (``rocm-origami`` on PyPI, MIT) predicts cycles of a product from its sizes, tile, matrix instruction and GPU.
It does not use the compiled program, so it knows neither wavefronts nor stages, spills, layouts or the compiler. Its
wheel is built from source and needs HIP's headers; the project does not depend on it.

Settings, for each configuration: the tile; the deepest matrix instruction of the data type that is as wide as
``matrix_instr_nonkdim`` says, else the one that Origami recommends; ``waves_per_eu`` as the occupancy, as its own
selector does, 1 where Triton chooses; ``GROUP_M`` as the order of workgroups; operands as they lie in memory, rows
first unless the row says otherwise, weights of 8 bits columns first; the cache hints that it asks for. The GPU: compute
units, LDS, L2 of an XCD and the clock of kprof's hardware files.
"""

import json
import sys
from collections.abc import Mapping, Sequence
from importlib import import_module
from pathlib import Path
from statistics import mean, median
from typing import Any

from validation.benchmarks.model import metrics
from validation.benchmarks.model.evaluate import NOT_TIMED, Judged, sign_right
from validation.benchmarks.model.problem import Candidate, Family, Problem

PAGE = "origami.md"
KEPT = "model_origami.json"
"""Figures of the last run with Origami, which only depend on the rows and not on a compiler."""
TYPES = {"bf16": "bf16", "fp16": "f16", "fp8": "f8", "fp32": "f32", "int8": "i8"}
VERSION = "0.0.3"
HINTS = ((0, 0), (0, 4), (4, 0))
"""Cache hints of operands that are read once: Origami only accepts the hints that it would choose itself."""


class Origami:
    """The library, called for one product and one tile at a time."""

    def __init__(self) -> None:
        self._library = import_module("origami")
        self._gpus: dict[str, Any] = {}

    def us(self, problem: Problem, config: Mapping[str, Any]) -> float | None:
        """Return predicted microseconds; ``None`` for an unsupported product, type, GPU or configuration."""
        if len(problem.sides) != 1 or problem.rate not in TYPES:
            return None
        m, n, k, batch, _ = problem.sides[0]
        tile = [config.get(f"BLOCK_{side}") or config.get(f"BLOCK_SIZE_{side}") for side in "MNK"]
        gpu = self._gpu(problem.product)
        if gpu is None or not all(isinstance(side, int) for side in tile):
            return None
        library = self._library
        kind = self._type(problem)
        asked = library.problem_t()
        asked.size, asked.batch = library.dim3_t(m, n, k), batch
        layout = str(config.get("layout") or ("NT" if problem.rate == "fp8" else "NN"))
        asked.a_transpose, asked.b_transpose = (getattr(library.transpose_t, side) for side in layout)
        asked.a_dtype = asked.b_dtype = asked.mi_dtype = kind
        asked.c_dtype = asked.d_dtype = library.string_to_datatype("bf16" if problem.rate != "fp16" else "f16")
        chosen = library.config_t()
        chosen.mt = library.dim3_t(*tile)
        chosen.mi = self._instruction(gpu, kind, int(config.get("matrix_instr_nonkdim") or 0))
        chosen.occupancy = int(config.get("waves_per_eu") or 1)
        chosen.workgroup_mapping = int(config.get("GROUP_M") or config.get("GROUP_SIZE_M") or 1)
        for chosen.cache_hints_a, chosen.cache_hints_b in HINTS:
            cycles = float(library.compute_total_latency(asked, gpu, chosen, gpu.N_CU))
            if cycles < sys.float_info.max:
                return cycles / (gpu.compute_clock_ghz * 1e3)
        return None

    def _type(self, problem: Problem) -> Any:
        from kprof.hardware.machine import find_product

        found = find_product(problem.product)
        if problem.rate == "fp8" and found is not None and found.arch == "gfx942":
            return self._library.data_type_t.Float8_fnuz
        return self._library.string_to_datatype(TYPES[problem.rate])

    def _instruction(self, gpu: Any, kind: Any, width: int) -> Any:
        fitting = [one for one in gpu.get_valid_matrix_instructions(kind) if one.m == one.n == width]
        return max(fitting, key=lambda one: one.k) if fitting else gpu.get_recommended_matrix_instruction(kind)

    def _gpu(self, product: str) -> Any:
        from kprof.hardware.machine import find_product, load_gpu

        if product not in self._gpus:
            found = find_product(product)
            arch = None if found is None else getattr(self._library.architecture_t, found.arch, None)
            if found is None or arch is None or found.clock_mhz is None:
                self._gpus[product] = None
            else:
                machine, _ = load_gpu(product)
                l2 = found.memory["l2"].size_bytes
                clock = int(found.clock_mhz * 1000)
                self._gpus[product] = self._library.get_hardware_for_arch(
                    arch, found.compute_units, machine.lds.bytes_per_workgroup, l2, clock
                )
        return self._gpus[product]


def figures(family: Family, problems: Sequence[Problem], model: Origami) -> dict[str, Any]:
    """Return Origami's figures of a family, named as ours in ``docs/validation/model.json``; empty if unsupported."""
    found: list[tuple[Problem, list[tuple[Candidate, float]]]] = []
    for problem in problems:
        times = [(one, model.us(problem, one.config)) for one in problem.candidates]
        known = [(one, us) for one, us in times if us is not None]
        if len(known) == len(times):
            found.append((problem, known))
    if not found:
        return {}
    summary = {"problems": len(found), "of": len(problems)}
    asked = "time" if family.question == "tile" else family.question
    return summary | {"order": _order, "time": _time, "pair": _pair, "winner": _winner}[asked](found)


Known = Sequence[tuple[Problem, list[tuple[Candidate, float]]]]


def _order(found: Known) -> dict[str, Any]:
    rows = [([us for _, us in known], [one.time_us or 0.0 for one, _ in known]) for _, known in found]
    orders = [metrics.spearman(metrics.tied(predicted), measured) for predicted, measured in rows]
    pairs = [metrics.pair_accuracy(metrics.tied(predicted), measured) for predicted, measured in rows]
    return {
        "raw_spearman": mean(one or 0.0 for one in orders),
        "raw_top1": mean(metrics.top_efficiency(metrics.tied(predicted), measured) for predicted, measured in rows),
        "raw_top3": mean(metrics.top_efficiency(metrics.tied(predicted), measured, 3) for predicted, measured in rows),
        "raw_pairs": mean(one for one in pairs if one is not None),
        "raw_ratio": median(p / m for predicted, measured in rows for p, m in zip(predicted, measured, strict=True)),
    }


def _time(found: Known) -> dict[str, Any]:
    predicted = [known[0][1] for _, known in found]
    measured = [known[0][0].time_us or 0.0 for _, known in found]
    return {
        "spearman": metrics.spearman(predicted, measured),
        "ratio_median": metrics.ratio_spread(predicted, measured)[1],
    }


def _pair(found: Known) -> dict[str, Any]:
    gains = [
        (before[1] / after[1], (before[0].time_us or 0.0) / (after[0].time_us or 1.0))
        for _, known in found
        if len(known) == 2
        for before, after in [known]
    ]
    signs = [sign for sign in (sign_right(*gain) for gain in gains) if sign is not None]
    return {
        "sign_right": mean(signs),
        "gain_spearman": metrics.spearman([one for one, _ in gains], [other for _, other in gains]),
    }


def _winner(found: Known) -> dict[str, Any]:
    shares = [
        metrics.percentile(winner, [us for one, us in known if not one.winner])
        for _, known in found
        for winner in [us for one, us in known if one.winner][:1]
    ]
    return {"median_percentile": median(shares), "top5_percent": mean(share <= 0.05 for share in shares)}


NAMES = {
    "raw_spearman": "Spearman in a problem, mean", "raw_top1": "speed of the first choice",
    "raw_top3": "speed of the best of three", "raw_pairs": "pairs right", "raw_ratio": "predicted over measured",
    "spearman": "Spearman over the rows", "ratio_median": "predicted over measured",
    "sign_right": "sign of the gain right", "gain_spearman": "Spearman of the gains",
    "median_percentile": "share of the space before the winner, median", "top5_percent": "winner in the first 5 %",
}  # fmt: skip


def beside(chosen: Sequence[Family], results: Mapping[str, Sequence[Judged]], folder: str) -> dict[str, dict[str, Any]]:
    """Return Origami's figures of the families that it supports.

    Args:
        chosen: families.
        results: results of the families.
        folder: folder that the library is installed in.

    Raises:
        SystemExit: the library is not installed there.
    """
    sys.path.append(folder)
    try:
        model = Origami()
    except ImportError as error:
        raise SystemExit(f"--origami {folder}: no Origami in it: {error}") from None
    finally:
        sys.path.remove(folder)
    found = {
        family.name: figures(family, [judged.problem for judged in results[family.name]], model)
        for family in chosen
        if family.question not in NOT_TIMED
    }
    return {name: values for name, values in found.items() if values}


def shown(
    chosen: Sequence[Family], results: Mapping[str, Sequence[Judged]], library: str, folder: Path, *, write: bool
) -> dict[str, dict[str, Any]]:
    """Return Origami's figures: computed now, else those of the last run that had it; empty without such a run.

    Args:
        chosen: families.
        results: results of the families.
        library: the folder that it is installed in; empty to use the stored figures.
        folder: folder of the pages, where figures are stored.
        write: whether to store the figures.
    """
    path = folder / KEPT
    if library:
        found = beside(chosen, results, library)
        if write:
            path.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
        return found
    kept: dict[str, dict[str, Any]] = json.loads(path.read_text(encoding="utf-8")) if path.is_file() else {}
    return kept


def page(
    chosen: Sequence[Family], found: Mapping[str, Mapping[str, Any]], ours: Mapping[str, Mapping[str, Any]]
) -> str:
    """Return the page with a row per family and figure.

    Args:
        chosen: families.
        found: Origami's figures of some families.
        ours: summaries of all families.
    """
    lines = []
    left_out = [family.title for family in chosen if family.name not in found]
    for family in (one for one in chosen if one.name in found):
        values, summary = found[family.name], ours.get(family.name, {})
        count = f"{values['problems']} of {values['of']}"
        for key, title in NAMES.items():
            if key in values:
                mine = summary.get(key)
                cells = (_number(mine), _number(values[key]))
                lines.append(f"| {family.title} | {count} | {title} | {cells[0]} | {cells[1]} |")
                count = ""
    rows = "\n".join(lines)
    missing = ", ".join(left_out)
    settings = (__doc__ or "").partition("Settings, ")[2].strip()
    return f"""# Beside Origami

Written by `python -m validation.benchmarks.model --origami FOLDER --write`. Origami is AMD's analytical model of matrix
products, which hipBLASLt and tritonBLAS choose tiles with (`rocm-origami` {VERSION} of PyPI, MIT, built from source).
It sees sizes, tile and GPU, and no program. The figures of kprof are those of [the model's page](model.md), over all
problems of a family; Origami's are over those that it takes. Measured are the same published times.

| family | problems that it takes | figure | kprof | Origami |
|---|--:|---|--:|--:|
{rows}

Families that it takes no problem of: {missing}.

Settings, {settings}
"""


def _number(value: float | None) -> str:
    return "-" if value is None else f"{value:.2f}"
