"""Write AITER's JSON files for matrix products, in AITER's new layout.

Each N and K has a file ``<arch>/triton/gemm/<family>/<FAMILY>-N=..-K=...json``; ``DEFAULT.json`` next to it applies to
all other N and K. In a file, ``M_LEQ_x`` applies to up to x rows, with x from a fixed list, and ``any`` to the rest.
Format facts: ROCm/aiter, ``aiter/ops/triton/configs`` and ``utils/gemm_config_utils.py``.
"""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from kprof.errors import KprofError
from kprof.knobs import spellings
from kprof.tuning.formats.interface import ProblemResult, TunedResults, WrittenFile
from kprof.tuning.formats.mapping import OPTIONS, TILES, FormatKey, lost, operand_bytes, translate

BOUNDS = (1, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096, 8192)
"""Row counts that AITER's ``get_gemm_config`` looks up, in ascending order.

Source: ROCm/aiter ``utils/gemm_config_utils.py``, e4048607a5.
"""

KEYS = (
    *TILES,
    *OPTIONS,
    FormatKey("cache_modifier", ("cache_modifier", "CACHE_MODIFIER"), None),
    FormatKey("NUM_KSPLIT", spellings("split"), 1),
    FormatKey("kpack", ("kpack",), optional=True),
)


class _Aiter:
    name = "aiter"

    def write(self, results: TunedResults) -> list[WrittenFile]:
        """Return a file for each N and K, and the default file that AITER needs next to them.

        Raises:
            KprofError: if a problem has no M, N and K, its element type has no family, or a required knob is missing.
        """
        groups: dict[tuple[str, int, int], list[ProblemResult]] = {}
        for one in results.tuned:
            sizes = [one.shape.get(name) for name in "MNK"]
            if not all(isinstance(size, int) for size in sizes):
                raise KprofError(f"AITER's files are for matrix products, and {results.kernel} has no M, N and K")
            groups.setdefault((_family(one.shape), int(sizes[1] or 0), int(sizes[2] or 0)), []).append(one)
        written = []
        for (family, n, k), group in groups.items():
            folder = f"{results.arch}/triton/gemm/{family.lower().replace('-', '_')}"
            buckets, notes = _buckets(group, results)
            text = json.dumps(buckets, indent=2) + "\n"
            written.append(WrittenFile(f"{folder}/{family}-N={n}-K={k}.json", text, notes))
            if all(other.path != f"{folder}/DEFAULT.json" for other in written):
                note = (
                    f"{folder}/DEFAULT.json applies to every other N and K; AITER ignores a folder without this "
                    "file, so keep an existing one"
                )
                written.append(WrittenFile(f"{folder}/DEFAULT.json", text, (note,)))
        return written


def _family(shape: Mapping[str, Any]) -> str:
    size = operand_bytes(shape)
    if size not in {1, 2}:
        raise KprofError(
            f"AITER has no family of matrix products for {shape.get('dtype')}",
            hint="AITER supports 8-bit and 16-bit types",
        )
    return "GEMM-A16W16" if size == 2 else "GEMM-A8W8"


def _buckets(group: Sequence[ProblemResult], results: TunedResults) -> tuple[dict[str, Any], tuple[str, ...]]:
    """Group results into buckets by M. A bucket uses the result of its largest M, which is closest to its bound."""
    by_rows = sorted(group, key=lambda one: one.shape["M"])
    chosen: dict[str, ProblemResult] = {}
    notes: list[str] = []
    for one in by_rows:
        bound = next((b for b in BOUNDS if one.shape["M"] <= b), None)
        if bound is None:
            continue
        if f"M_LEQ_{bound}" in chosen:
            rows, other = one.shape["M"], chosen[f"M_LEQ_{bound}"].shape["M"]
            which = (
                f"M={other} and M={rows} share the bucket M_LEQ_{bound}: the configuration of the larger M is written"
            )
            notes.append(
                f"several problems have M={rows}: the configuration of the last one is written"
                if rows == other
                else which
            )
        chosen[f"M_LEQ_{bound}"] = one
    chosen["any"] = by_rows[-1]
    found = {key: translate(one.best, KEYS, results.keys, "AITER", results.kernel) for key, one in chosen.items()}
    return found, tuple(dict.fromkeys([*notes, *lost(by_rows[-1].best, KEYS, results.keys, "AITER")]))


WRITER = _Aiter()
