"""Write the YAML file of ROCm's tune_gemm: one line per size with its configuration, as for ``--gemm_size_file``.

``rowMajorA`` and ``rowMajorB`` are ``T`` for row-major operands and ``N`` for others. Element types and bias are
command-line options of tune_gemm, so they are written as comments here. Format facts: ROCm/triton,
``python/perf-kernels/tools/tune_gemm``.
"""

from typing import Any

from kprof.errors import KprofError
from kprof.knobs import spellings
from kprof.tuning.formats.interface import ProblemResult, TunedResults, WrittenFile
from kprof.tuning.formats.mapping import OPTIONS, TILES, FormatKey, lost, translate

KEYS = (*TILES, FormatKey("SPLIT_K", spellings("split"), 1), *OPTIONS, FormatKey("kpack", ("kpack",), 1))
_SIZES = ("M", "N", "K")
_LAYOUTS = {"rowMajorA": "trans_a", "rowMajorB": "trans_b"}
_NAME = "tune_gemm"


class _TuneGemm:
    name = _NAME

    def write(self, results: TunedResults) -> list[WrittenFile]:
        """Return one file with all sizes.

        Raises:
            KprofError: if a problem is not a matrix product, or a required knob is missing.
        """
        how = f"measured on {results.device}" if results.device else f"predicted, Triton {results.triton}"
        lines = [f"# {results.kernel} on {results.arch}: {how}"]
        notes: dict[str, None] = {}
        for one in results.tuned:
            entry = {**_sizes(one, results.kernel), **translate(one.best, KEYS, results.keys, _NAME, results.kernel)}
            # A flow mapping of plain keys, numbers and letters is valid YAML, and is how tune_gemm itself writes it.
            lines.append(f"- {entry!r} # {_comment(one)}")
            notes.update(dict.fromkeys(lost(one.best, KEYS, results.keys, _NAME)))
        return [WrittenFile("gemm_config.yaml", "\n".join(lines) + "\n", tuple(notes))]


def _sizes(one: ProblemResult, kernel: str) -> dict[str, Any]:
    shape = one.shape
    if not all(isinstance(shape.get(name), int) for name in _SIZES):
        raise KprofError(f"{_NAME} has sizes M, N and K, which {kernel} does not have")
    layouts = {name: "N" if shape.get(flag) else "T" for name, flag in _LAYOUTS.items()}
    return {**{name: shape[name] for name in _SIZES}, **layouts}


def _comment(one: ProblemResult) -> str:
    best = one.ranked[0]
    us = best.time_us if best.measured_ms is None else 1000 * best.measured_ms
    if us is None:
        return f"{best.cost:.4g} cycles per element of {best.axis}, no time known"
    work = 2.0 * one.shape["M"] * one.shape["N"] * one.shape["K"]
    other = " ".join(f"{n}={v}" for n, v in one.shape.items() if n in {"dtype", "out", "bias"})
    return f"TFLOPS: {work / us / 1e6:.2f} time(us): {us:.2f} {other}".rstrip()


WRITER = _TuneGemm()
