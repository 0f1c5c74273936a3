"""Write Python code: a list of ``triton.Config`` for ``@triton.autotune``.

AMD's own options (``waves_per_eu``, ``matrix_instr_nonkdim``, ``kpack``) are listed among the kernel's arguments, where
Triton's AMD backend reads them.
"""

from typing import Any

from kprof.tuning.config_code import config_code
from kprof.tuning.formats.interface import ProblemResult, TunedResults, WrittenFile


class _Triton:
    name = "triton"

    def write(self, results: TunedResults) -> list[WrittenFile]:
        """Return one module: ``CONFIGS`` has each short-listed configuration once, ``BEST`` the best one by problem."""
        what = f"measured on {results.device}" if results.device else "predicted, not measured"
        lines = [
            f'"""Configurations of {results.kernel} for {results.arch}, fastest first: {what}.',
            "",
            f"Compiled with Triton {results.triton}; with another version, registers and times differ.",
            '"""',
            "",
            "import triton",
            "",
            "CONFIGS = [",
        ]
        seen: dict[str, str] = {}
        for one in results.tuned:
            for scored in one.ranked:
                code = config_code(scored.config)
                seen.setdefault(code, _times(one, scored))
        lines += [f"    {code},  # {comment}" for code, comment in seen.items()]
        lines += ["]", "", "BEST = {"]
        for one in results.tuned:
            key = tuple(sorted((str(n), v) for n, v in one.shape.items()))
            lines.append(f"    {key!r}: CONFIGS[{list(seen).index(config_code(one.best))}],")
        lines += ["}", ""]
        return [WrittenFile(f"{_file(results.kernel)}_configs.py", "\n".join(lines))]


def _file(kernel: str) -> str:
    return "".join(c if c.isalnum() else "_" for c in kernel)


def _times(one: ProblemResult, scored: Any) -> str:
    sizes = " ".join(f"{n}={v}" for n, v in one.shape.items() if isinstance(v, int) and not isinstance(v, bool))
    if scored.measured_ms is not None:
        return f"{sizes}: {1000 * scored.measured_ms:.4g} us measured".replace("\n", " ")
    if scored.time_us is None:
        return f"{sizes}: {scored.cost:.4g} cycles per element of {scored.axis} predicted, no time".replace("\n", " ")
    return f"{sizes}: {scored.time_us:.4g} us predicted".replace("\n", " ")


WRITER = _Triton()
