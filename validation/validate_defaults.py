"""Compare the shipped configuration of every bundled kernel with the best that a search predicts.

    nice python validation/validate_defaults.py [--compiles 20] [-j 2] [--only gemm,softmax] [--gpu MI300X] [--again]

For each kernel's first case on each GPU: the search of ``kprof advise`` from the shipped configuration, with at most
``--compiles`` configurations. Each row is stored in docs/validation/defaults.json immediately, with Triton and
budget; a run skips stored rows unless ``--again`` is given. ``--page`` only writes docs/validation/defaults.md. The
exit code is 1 if a configuration is predicted to be over 5 % faster and ``REASONS`` does not say why it is not
shipped.
"""

import argparse
import json
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / "analyzers"), str(ROOT / "validation")]

from validate_advice import Start, climbed  # noqa: E402

RESULTS = ROOT / "docs" / "validation" / "defaults.json"
PAGE = ROOT / "docs" / "validation" / "defaults.md"
GPUS = ("MI300X", "MI355X")
LIMIT = 1.05
"""Ratio of the shipped configuration's time to the best one from which a reason is required."""

_SWITCH = "it needs {}=0, a switch of the environment, which no bundled configuration sets"
REASONS: Mapping[tuple[str, str], str] = {
    ("attention_persistent", "MI300X"): "it spills 18 registers, and is less certain than 95 %",
    ("flash_attention", "MI300X"): "AMD published 128 x 64 for this shape",
    ("flash_decoding_int4", "MI300X"): "32 x 32 instructions are behind in two of the seven cases",
    ("gemm", "MI300X"): "AMD published 256 x 256 x 64 for this shape",
    ("gemm_w4a16_splitk", "MI355X"): _SWITCH.format("TRITON_HIP_USE_ASYNC_COPY"),
    ("mlstm_chunkwise", "MI300X"): "it is slower in four of the eight cases, and in their sum",
    ("softmax", "MI300X"): "it reads each row twice, which the model proposes with warm caches alone",
}
"""Map kernel and GPU to the reason why a configuration that is predicted to be over 5 % faster is not shipped."""


class Row(NamedTuple):
    """Search result for a kernel's default case on a GPU.

    Attributes:
        kernel, gpu, case: the searched kernel, GPU and case.
        found: the row of the results.
    """

    kernel: str
    gpu: str
    case: str
    found: Mapping[str, Any]

    @property
    def ratio(self) -> float:
        """Time of the shipped configuration divided by the time of the best one."""
        return float(self.found["shipped_us"] / self.found["best_us"])

    @property
    def reason(self) -> str:
        """Reason why the best configuration is not shipped, or "" if none is known."""
        unsure = "the model does not distinguish the two" if "not told apart" in self.found["gain"] else ""
        return REASONS.get((self.kernel, self.gpu), unsure)

    @property
    def is_unexplained(self) -> bool:
        """Whether the best configuration is over 5 % faster without a known reason."""
        return self.ratio > LIMIT and not self.reason

    def line(self) -> str:
        """The row of the table."""
        found = self.found
        searched = f"{found['compiled'] - 1} of {found['compiles']}"
        cells = [self.kernel, self.case, self.gpu, f"{found['shipped_us']:,.4g}", f"{found['best_us']:,.4g}"]
        cells += [f"{self.ratio:.2f}", _text(found["change"]) or "none", searched, found["triton"]]
        return f"| {' | '.join(cells)} |"


def search(kernel: str, case: str, gpu: str, compiles: int, jobs: int) -> dict[str, Any]:
    """Search from a kernel's shipped configuration; return the row of the results.

    Raises:
        KprofError: the kernel cannot be compiled for the GPU.
    """
    from kprof.compiler.versions import installed

    about = {"case": case, "triton": installed().version, "compiles": compiles}
    found = climbed(Start(kernel, case, {}), gpu, compiles, jobs)
    if isinstance(found, str):
        return {**about, "why": found}
    best = found.best[0] if found.best else found.start
    gain = found.beside_start(best)
    return {
        **about,
        "shipped": dict(found.start.config),
        "shipped_us": found.start.time_us,
        "best_us": best.time_us,
        "change": dict(best.change),
        "gain": "" if gain is None or not best.change else gain.words(),
        "others": [{"us": one.time_us, "change": dict(one.change)} for one in found.best[1:6]],
        "compiled": found.tried,
        "seconds": round(found.seconds),
    }


def measure(kernels: Sequence[str], gpus: Sequence[str], options: argparse.Namespace) -> None:
    """Search missing rows; every row is written immediately."""
    from kprof.errors import KprofError
    from kprof.targets.library import load

    for kernel in kernels:
        for gpu in gpus:
            key = f"{kernel} | {gpu}"
            if key in read() and not options.again:
                continue
            case = next(iter(load(kernel).shapes))
            print(key, file=sys.stderr, flush=True)
            try:
                row = search(kernel, case, gpu, options.compiles, options.jobs)
            except KprofError as error:
                row = {"case": case, "why": error.message}
            # Read the file again, because another run may have written rows in the meantime.
            RESULTS.write_text(json.dumps(dict(sorted({**read(), key: row}.items())), indent=1) + "\n")


def read() -> dict[str, Any]:
    """Return the stored results."""
    return dict(json.loads(RESULTS.read_text())) if RESULTS.is_file() else {}


TITLE = """\
# Shipped configurations against the best that a search predicts

Written by `validation/validate_defaults.py`. Each row is the first case of a bundled kernel with the configuration that
kprof ships for it, and the fastest configuration that the search of `kprof advise` found from there. Times are
predicted microseconds of everything that a call launches; nothing was measured. `searched` is the number of
configurations predicted beside the shipped one, of the most that were allowed; below it the search ended by itself.

"""
COLUMNS = """
| kernel | case | GPU | shipped | best | ratio | change | searched | Triton |
|---|---|---|--:|--:|--:|---|--:|---|
"""


def page(kept: Mapping[str, Any], kernels: Sequence[str]) -> tuple[str, bool]:
    """Return the page, and whether each ratio over 5 % has its reason."""
    rows, failed = [], []
    for key, found in kept.items():
        kernel, gpu = key.split(" | ")
        if found.get("shipped_us") is None or found.get("best_us") is None:
            failed.append(f"| {kernel} | {found['case']} | {gpu} | {found.get('why', 'no predicted time')} |")
        else:
            rows.append(Row(kernel, gpu, found["case"], found))
    missing = [f"{kernel} on {gpu}" for kernel in kernels for gpu in GPUS if f"{kernel} | {gpu}" not in kept]
    over = [row for row in rows if row.ratio > LIMIT]
    facts = {
        "kernels": len(kernels),
        "rows, a kernel on a GPU": len(rows),
        "shipped configuration within 5 % of the best": len(rows) - len(over),
        "over 5 %": len(over),
        "not searched": ", ".join(missing) or "none",
    }
    text = TITLE + "| | |\n|---|---|\n" + "".join(f"| {name} | {value} |\n" for name, value in facts.items())
    text += COLUMNS + "".join(f"{row.line()}\n" for row in rows)
    if over:
        text += "\n## Over 5 %\n\n| kernel | GPU | gain | why it is not shipped |\n|---|---|---|---|\n"
        text += "".join(f"| {r.kernel} | {r.gpu} | {r.found['gain']} | {r.reason or 'not known'} |\n" for r in over)
    if failed:
        text += "\n## Not predicted\n\n| kernel | case | GPU | why |\n|---|---|---|---|\n" + "\n".join(failed) + "\n"
    return text + NOTES, not any(row.is_unexplained for row in rows)


NOTES = """
Where AMD published a configuration for the same shape, it stays until a measurement says otherwise: `gemm` for 8192 x
8192 x 8192 keeps 256 x 256 x 64, `flash_attention` keeps 128 x 64. The model has `flash_attention` `s4096_d128` on an
MI300X 1.12 times as fast with 128 x 32, `num_stages=2` and 16 x 16 instructions (1,179 and 1,049 µs).
Forms of attention beside the plain one: [attention](../kernels/attention.md).
"""


def _text(values: Mapping[str, Any]) -> str:
    return " ".join(f"{name}={value}" for name, value in values.items())


def main() -> int:
    """Run the searches and write the page."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--compiles", type=int, default=20, help="configurations of a search")
    parser.add_argument("--jobs", "-j", type=int, default=0)
    parser.add_argument("--only", default="", help="kernels")
    parser.add_argument("--gpu", choices=GPUS)
    parser.add_argument("--again", action="store_true", help="search also what is there")
    parser.add_argument("--page", action="store_true", help="only write the page")
    options = parser.parse_args()
    from kprof.targets.library import bundled

    kernels = sorted(bundled())
    if not options.page:
        wanted = list(filter(None, options.only.split(","))) or kernels
        measure(wanted, [options.gpu] if options.gpu else GPUS, options)
    text, is_explained = page(read(), kernels)
    PAGE.write_text(text)
    return 0 if is_explained else 1


if __name__ == "__main__":
    raise SystemExit(main())
