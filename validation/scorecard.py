"""Compare kernels between Triton releases: predicted times, spills and LDS, and the causes of the largest changes.

    nice python validation/scorecard.py [--only gemm,softmax] [--gpu MI300X] [--again]
    nice python validation/scorecard.py --public [--only liger] [--gpu MI300X] [--again]
    nice python validation/scorecard.py --explain 6
    python validation/scorecard.py --page

Each row is a kernel that the first case of a bundled kernel launches, on one GPU, compiled by each release as
``kprof diff --triton`` does. With ``--public``, the programs of validation/public_kernels.toml are recorded with each
release instead, with the packages and folders that this file names. Each row is stored in
docs/validation/scorecard.json immediately, and a run skips stored rows unless ``--again`` is given. ``--explain N``
explains the N largest changes as ``kprof bisect`` does. ``--page`` only writes docs/validation/scorecard.md.
"""

import argparse
import json
import os
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / "analyzers")]

RESULTS = ROOT / "docs" / "validation" / "scorecard.json"
PAGE = ROOT / "docs" / "validation" / "scorecard.md"
RELEASES = ("3.4.0", "3.5.1", "3.6.0", "3.7.1", "3.8.0", "3.9.0")
GPUS = ("MI300X", "MI355X", "RX9070XT")
FIGURES = ("model_us", "vgpr_spills", "lds_bytes")
STEP = 1.12
"""Ratio of two predicted times from which they count as different, with a certainty of 75 %."""


def public_programs() -> list[dict[str, Any]]:
    """Return the public programs of validation/public_kernels.toml."""
    if sys.version_info >= (3, 11):
        import tomllib
    else:
        import tomli as tomllib
    text = (ROOT / "validation" / "public_kernels.toml").read_text(encoding="utf-8")
    return list(tomllib.loads(text)["program"])


class Step(NamedTuple):
    """Change of a kernel from one release to the next.

    Attributes:
        kernel, gpu, case: kernel, GPU and case of the call.
        launched: the launched kernel of the call.
        old, new: the two releases.
        ratio: the new predicted time over the old one.
        spills: spilled registers with both releases.
    """

    kernel: str
    gpu: str
    case: str
    launched: str
    old: str
    new: str
    ratio: float
    spills: tuple[int, int]

    @property
    def key(self) -> str:
        """Key of its explanation in the results."""
        return f"{self.launched} | {self.gpu} | {self.old} | {self.new}"


def compare(kernel: str, gpu: str) -> dict[str, Any]:
    """Compile the first case of a kernel with each release; return the row of the results."""
    import kprof
    from kprof.errors import KprofError
    from kprof.targets.library import load

    case = next(iter(load(kernel).shapes))
    started = time.monotonic()
    try:
        found = kprof.diff(kernel, arch=[gpu], case=case, triton=list(RELEASES), explain=False)
    except KprofError as error:
        return {"case": case, "why": error.message}
    return {"case": case, **_row(found, started)}


def compare_program(program: Mapping[str, Any], gpu: str) -> dict[str, Any]:
    """Record a public program under each release; return the row of the results."""
    import kprof
    from kprof.errors import KprofError

    if "folder" in program and program["folder"] not in os.environ:
        return {"why": f"{program['folder']} is not set"}
    started = time.monotonic()
    try:
        found = kprof.diff(program=_command(program), arch=[gpu], triton=list(RELEASES), explain=False)
    except KprofError as error:
        return {"why": error.message}
    return _row(found, started)


def _command(program: Mapping[str, Any]) -> list[str]:
    path, *arguments = program["run"]
    return ["python", str(ROOT / "validation" / path), *arguments]


def _row(found: Any, started: float) -> dict[str, Any]:
    """Return figures by kernel; a kernel that is launched with several grids has one entry for each."""
    kernels: dict[str, Any] = {}
    for each in found.kernels:
        name = each.name if each.name not in kernels else f"{each.name} {'x'.join(map(str, each.grid or ()))}"
        kernels[name] = {figure: each.figures.get(figure) for figure in FIGURES}
    problems = [problem for side in found.document.sides for problem in side.problems]
    return {"kernels": kernels, "problems": problems, "seconds": round(time.monotonic() - started, 1)}


def explain(step: Step) -> dict[str, Any]:
    """Explain one change; return the explanation in words."""
    from msgspec import UNSET

    import kprof

    releases = [step.old, step.new]
    public = next((each for each in public_programs() if each["name"] == step.kernel), None)
    if public is None:
        found = kprof.diff(step.kernel, arch=[step.gpu], case=step.case, triton=releases, budget=120)
    else:
        found = kprof.diff(program=_command(public), arch=[step.gpu], triton=releases, budget=120)
    one = next(each for each in found.kernels if each.name == step.launched)
    if one.explanation is UNSET:
        return {"why": "not explained: nothing that counts is worse"}
    why = one.explanation
    part = "" if why.by_stage is UNSET else why.by_stage.part
    through = None if why.by_stage is UNSET else why.by_stage.figures.get("model_us")
    return {"why": why.summary, "part": part, "through_llvm_us": through, "tried": why.tried, "seconds": why.seconds}


def read() -> dict[str, Any]:
    """Return the stored results: ``rows`` of bundled kernels, ``public`` ones, and ``explained``."""
    empty: dict[str, Any] = {"rows": {}, "public": {}, "explained": {}}
    return {**empty, **json.loads(RESULTS.read_text())} if RESULTS.is_file() else empty


def keep(part: str, key: str, found: Mapping[str, Any]) -> None:
    """Add one result to the stored ones."""
    kept = read()
    kept[part] = dict(sorted({**kept[part], key: found}.items()))
    RESULTS.write_text(json.dumps(kept, indent=1) + "\n")


def steps(kept: Mapping[str, Any]) -> list[Step]:
    """Return the changes to slower code that count as different, the largest first."""
    found = []
    for key, row in {**kept["rows"], **kept.get("public", {})}.items():
        kernel, gpu = key.split(" | ")
        for launched, figures in row.get("kernels", {}).items():
            times, spills = figures["model_us"] or [], figures["vgpr_spills"] or []
            known = [index for index, value in enumerate(times) if value is not None]
            for old, new in pairwise(known):
                ratio = times[new] / times[old]
                if ratio >= STEP:
                    both = (spills[old], spills[new])
                    between = (RELEASES[old], RELEASES[new])
                    found.append(Step(kernel, gpu, row.get("case", ""), launched, *between, ratio, both))
    return sorted(found, key=lambda step: (-step.ratio, step.key))


TITLE = """\
# Releases of Triton, kernel by kernel

Written by `validation/scorecard.py`. Each row is a kernel that the first case of a bundled kernel launches, with the
configuration that kprof ships, compiled by each release: predicted microseconds of the launch (caches warm), and in
brackets the registers that are spilled. Nothing was measured. `·`: it does not compile, or the model has no time for
it. Bold: over 12 % slower than with the release before, which the model tells apart with a certainty of 75 %.

"""


SURPRISES = """
## Three surprises

1. **On the RX 9070 XT 3.8.0 is faster than the releases before and after it** (`attention_forward_backward`: 9,917 →
   6,955 → 9,780 µs). 3.7.1 and 3.9.0 put each barrier between two fences over all memory. The machine code then has a
   `global_inv` after each barrier of a loop and waits for all loads (`loadcnt(0)`): with 3.9.0 four of each in an
   iteration of `gemm`. In 3.8.0 the fences have `!mmra` metadata in the LLVM IR, which restricts them to LDS
   (triton#10383). There is no `global_inv`, and loads stay in flight across a barrier (`loadcnt(3)`). In 3.9.0 the
   metadata is gone again.
2. **On the MI355X 3.8.0 halves the time of attention** (`attention_transposed_v`: 959 → 450 µs; `attention_lean` and
   `attention_varlen` likewise). 3.8.0 copies to LDS asynchronously by default. The tiles no longer
   pass through registers, so that two wavefronts fit on a SIMD where one did. The price is LDS, 32,768 → 66,280
   bytes. With `TRITON_HIP_USE_ASYNC_COPY=0` 3.8.0 is predicted to take 975 µs, with one wavefront.
3. **On the MI355X large tiles are slowest with 3.7.1, because they spill** (from 3.6.0 over 3.7.1 to 3.8.0
   `attention_int8`: 842 → 2,992 → 623 µs, 46 → 271 → 1 spilled registers; `gemm_streamk`: 903 → 1,930 → 801 µs;
   `gemm`: 899 → 1,578 → 779 µs). The LLVM IR of 3.6.0 is as slow through the code generator of 3.7.1 (2,594, 2,202
   and 1,887 µs): the change is in LLVM. With 3.7.1, `DISABLE_LLVM_OPT=amdgpu-use-amdgpu-trackers` fixes
   `gemm_streamk`, `BLOCK_N=32` fixes `attention_int8`, and `TRITON_HIP_USE_ASYNC_COPY=1`, the default from 3.8.0 on,
   fixes `gemm`.
"""

PUBLIC_TITLE = """\
Programs of `validation/public_kernels.toml`, recorded under each release. Their sources are not in this repository.

"""


def page(kept: Mapping[str, Any], kernels: Sequence[str]) -> str:
    """Return the page."""
    rows, public = list(_rows(kept["rows"])), list(_rows(kept.get("public", {})))
    slower = steps(kept)
    programs = public_programs()
    wanted = {"rows": kernels, "public": [each["name"] for each in programs]}
    missing = [
        f"{name} on {gpu}"
        for part, names in wanted.items()
        for name in names
        for gpu in GPUS
        if f"{name} | {gpu}" not in kept.get(part, {})
    ]
    failed = {key: row["why"] for part in ("rows", "public") for key, row in kept.get(part, {}).items() if "why" in row}
    facts = {
        "releases": ", ".join(RELEASES),
        "bundled kernels": len(kernels),
        "kernels that they launch": len({name for name, *_ in rows}),
        "kernels of public programs": len({name for name, *_ in public}),
        "rows, a launched kernel on a GPU": len(rows) + len(public),
        "time that the rows took, on two cores with other work": f"{_hours(kept):.1f} hours",
        "steps of over 12 % to slower code": len(slower),
        "steps explained": len(kept["explained"]),
        "not compared": ", ".join(missing) or "none",
    }
    text = TITLE + "| | |\n|---|---|\n" + "".join(f"| {name} | {value} |\n" for name, value in facts.items())
    text += "\n## Why\n\nThe largest steps, taken apart as `kprof bisect` does.\n\n"
    text += "| kernel | GPU | releases | time | spilled | why |\n|---|---|---|--:|--:|---|\n"
    for step in slower:
        why = kept["explained"].get(step.key)
        if why is not None:
            change = f"{step.old} → {step.new}"
            spilled = f"{step.spills[0]} → {step.spills[1]}"
            text += f"| {step.launched} | {step.gpu} | {change} | {step.ratio:.2f}x | {spilled} | {why['why']} |\n"
    text += SURPRISES
    text += "\n## Every bundled kernel\n\n" + _table(rows)
    text += "\n## Public kernels\n\n" + PUBLIC_TITLE + "| program | of | launched |\n|---|---|---|\n"
    text += "".join(f"| {each['name']} | {each['of']} | {each['sizes']} |\n" for each in programs)
    text += "\n" + _table(public)
    if failed:
        text += "\n## Not compared\n\n| kernel on a GPU | why |\n|---|---|\n"
        text += "".join(f"| {key.replace(' | ', ' on ')} | {why} |\n" for key, why in failed.items())
    return text


def _hours(kept: Mapping[str, Any]) -> float:
    return sum(row.get("seconds", 0.0) for part in ("rows", "public") for row in kept.get(part, {}).values()) / 3600


def _table(rows: Sequence[tuple[str, str, list[str]]]) -> str:
    text = f"| kernel | GPU | {' | '.join(RELEASES)} | LDS |\n|---|---|{'--:|' * len(RELEASES)}--:|\n"
    return text + "".join(f"| {launched} | {gpu} | {' | '.join(cells)} |\n" for launched, gpu, cells in rows)


def _changing(values: Sequence[int | None]) -> str:
    """Return the known values in order, without consecutive repetitions: ``65,536 → 136,112``."""
    known = [value for value in values if value is not None]
    return " → ".join(f"{value:,}" for index, value in enumerate(known) if index == 0 or value != known[index - 1])


def _rows(part: Mapping[str, Any]) -> Iterator[tuple[str, str, list[str]]]:
    """Yield each launched kernel with its GPU, a cell for each release, and its bytes of LDS."""
    for key, row in part.items():
        gpu = key.split(" | ")[1]
        for launched, figures in row.get("kernels", {}).items():
            cells: list[str] = []
            before: float | None = None
            times, spills = figures["model_us"], figures["vgpr_spills"]
            for time_us, spilled in zip(times or [None] * len(RELEASES), spills or [], strict=False):
                if time_us is None:
                    cells.append("·" if spilled is None else f"· ({spilled})")
                    continue
                text = f"{time_us:,.4g}" + (f" ({spilled})" if spilled else "")
                cells.append(f"**{text}**" if before is not None and time_us >= STEP * before else text)
                before = time_us
            yield launched, gpu, [*cells, _changing(figures["lds_bytes"] or [])]


def _fill(
    part: str,
    names: Iterable[str],
    gpus: Sequence[str],
    compared: Callable[[str, str], dict[str, Any]],
    *,
    again: bool,
) -> None:
    """Compare kernels without a row, and store each row immediately."""
    for name in names:
        for gpu in gpus:
            key = f"{name} | {gpu}"
            if again or key not in read()[part]:
                print(key, file=sys.stderr, flush=True)
                keep(part, key, compared(name, gpu))


def main() -> int:
    """Compile missing rows and write the page."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default="", help="kernels, or public programs")
    parser.add_argument("--public", action="store_true", help="record the public programs")
    parser.add_argument("--gpu", choices=GPUS)
    parser.add_argument("--again", action="store_true", help="compile also what is there")
    parser.add_argument("--explain", type=int, default=0, metavar="N", help="take the N largest steps apart")
    parser.add_argument("--page", action="store_true", help="only write the page")
    options = parser.parse_args()
    from kprof.targets.library import bundled

    kernels = sorted(bundled())
    gpus = [options.gpu] if options.gpu else GPUS
    only = options.only.split(",") if options.only else []
    if options.public:
        programs = {each["name"]: each for each in public_programs() if not only or each["name"] in only}
        _fill("public", programs, gpus, lambda name, gpu: compare_program(programs[name], gpu), again=options.again)
    elif not (options.page or options.explain):
        _fill("rows", [name for name in kernels if not only or name in only], gpus, compare, again=options.again)
    for step in steps(read())[: options.explain]:
        if options.again or step.key not in read()["explained"]:
            print(step.key, file=sys.stderr, flush=True)
            keep("explained", step.key, explain(step))
    PAGE.write_text(page(read(), kernels), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
