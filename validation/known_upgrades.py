"""Explain Triton upgrades with published times by ``kprof bisect``: docs/validation/upgrades.md.

    nice python validation/known_upgrades.py [NAME ...]
    python validation/known_upgrades.py --page

The facts and their sources are in validation/known_upgrades.toml, the programs in validation/upgrades. Their packages
must be installed, and the environment variables with the folders that the file names must be set. Each result is stored
in docs/validation/upgrades.json immediately. ``--page`` only writes the page.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
FACTS = ROOT / "validation" / "known_upgrades.toml"
RESULTS = ROOT / "docs" / "validation" / "upgrades.json"
PAGE = ROOT / "docs" / "validation" / "upgrades.md"
SAME = 1.03
"""Times whose ratio is at most this factor count as equal, published or predicted."""
NEAR = 1.4
"""A predicted change within this factor of the published one counts as near."""
LIMIT_S = 600
BUDGET_S = 240
"""Seconds to search for causes and cures; a busy machine needs more than the default."""
PARTS = {"llvm": "LLVM", "before llvm": "Triton's passes", "both": "passes and LLVM"}

HEAD = """# Known upgrades of Triton

Written by `validation/known_upgrades.py` from the published times in `validation/known_upgrades.toml`. Each report's
kernel is launched by a program of `validation/upgrades`, from its public sources, and taken apart by one command
without a GPU:

```
kprof bisect --good 3.6.0 --bad 3.8.0 --arch MI300X --budget 240 -- python experts_mxfp4.py 32 3072 6144 4 1
```

- *Published*, *predicted*: time with the newer release over time with the older one. Where a launch has no predicted
  time, it is the hot loop's iteration (*an iteration*).
- *Sign*: both say slower, faster, or the same (within 3 %). *Near*: within a factor of 1.4 of each other.
- *Cause*: what kprof names as the cause. It counts as *told* if it is what the report names. A report that names
  nothing, and an upgrade after which nothing is worse, are in no count.
- *Cure*: the first fix that kprof compiled and found to mend the code. It is *the report's* if the report turned the
  same knob.
- *Seconds* were taken on two cores with other work on them.

"""

LEFT = """
Where kprof is wrong, or the case is not the report's:

- aiter#4137 and #5409 do not tell what was launched. triton#11249 has 5 and 87 spills for it. Pages of 64 tokens spill
  130 and 131 here. With AITER's shuffled layout of the cache they are 32 and 108, and the prediction is 2.2. Pages of
  16, 544 and 1,056 tokens spill less with 3.7.0 than with 3.6.0.
- sglang#34741: PyPI's 3.6.0 spills 51 registers outside the loops, and 3.7.0 spills 28 with 17 accesses in an iteration
  of the hot loop. That is reported as the regression (exit code 1), but the predicted time falls: the model takes
  scratch accesses in a loop for too cheap. So it does for Primus-Turbo#471 (the report's microbenchmark of both
  tiles with 3.8.0 says 1.6 to 3.5, its training run 5.4).
- aiter#5028 takes the asynchronous copies of 3.8.0 for the cause. kprof finds the kernel slower from 3.6.0 on, where
  `waves_per_eu=1` became a maximum (waves per SIMD 3 to 1), and 1 % of difference with the copies turned off. Neither
  was measured. The fix is the same.
- ROCm/triton#970 with 3.7.1 and three shapes of aiter#2434 changed by less than 10 %, which the model does not tell
  apart: of such an upgrade `kprof bisect` says that nothing is worse, which is right in all four.
"""


def facts() -> dict[str, Any]:
    """Return the published facts."""
    if sys.version_info >= (3, 11):
        import tomllib
    else:
        import tomli as tomllib
    return tomllib.loads(FACTS.read_text(encoding="utf-8"))


def taken_apart(upgrade: Mapping[str, Any]) -> dict[str, Any]:
    """Run the command of one upgrade; return its result."""
    if upgrade["folder"] not in os.environ:
        return {"failed": f"{upgrade['folder']} is not set"}
    program, *arguments = upgrade["run"]
    with tempfile.TemporaryDirectory() as folder:
        result = Path(folder) / "bisect.json"
        releases = ["--good", upgrade["good"], "--bad", upgrade["bad"], "--arch", upgrade["gpu"], "--json", str(result)]
        start = [sys.executable, "-m", "kprof", "bisect", "--budget", str(BUDGET_S), *releases]
        command = [*start, "--", "python", program, *arguments]
        env = {**os.environ, upgrade.get("reads", upgrade["folder"]): os.environ[upgrade["folder"]]}
        began = time.monotonic()
        folder_of_programs = ROOT / "validation" / "upgrades"
        ran = subprocess.run(
            command, cwd=folder_of_programs, env=env, capture_output=True, text=True, timeout=LIMIT_S, check=False
        )
        seconds = round(time.monotonic() - began)
        if not result.is_file():
            return {"failed": (ran.stderr.strip() or "no result").splitlines()[-1], "seconds": seconds}
        document = json.loads(result.read_text(encoding="utf-8"))
    wanted = upgrade.get("kernels")
    kernels = [kernel for kernel in document["kernels"] if wanted is None or kernel["name"] in wanted]
    return {"seconds": seconds, "kernels": [_kept(kernel) for kernel in kernels]}


def _kept(kernel: Mapping[str, Any]) -> dict[str, Any]:
    """Return the parts of a kernel's comparison that the page uses."""
    figures = {name: kernel["figures"].get(name) for name in ("model_us", "hot_cycles", "vgpr_spills", "lds_bytes")}
    why = kernel.get("explanation") or {}
    causes = why.get("causes", [])
    # A switch that restores the old code is a fix as well.
    fixes = [*why.get("cures", []), *(cause for cause in causes if cause.get("cured"))]
    return {
        "name": kernel["name"],
        "status": kernel["status"],
        "figures": figures,
        "part": (why.get("by_stage") or {}).get("part", ""),
        "switches": [name for cause in causes[:1] for name in cause["change"]],
        "cures": [{"change": fix["change"], "speedup": fix.get("speedup")} for fix in fixes],
        "summary": why.get("summary", ""),
    }


def predicted(found: Mapping[str, Any]) -> tuple[float | None, str]:
    """Return the predicted factor, and ``an iteration`` if it is that of the hot loop."""
    for figure, remark in (("model_us", ""), ("hot_cycles", "an iteration")):
        sides = [kernel["figures"][figure] for kernel in found.get("kernels", []) if kernel["figures"][figure]]
        ends = [(values[0], values[-1]) for values in sides if values[0] and values[-1]]
        if ends:
            return sum(new for _, new in ends) / sum(old for old, _ in ends), remark
    return None, ""


def way(factor: float) -> int:
    """Return 1 for slower, -1 for faster, 0 for the same."""
    return 0 if max(factor, 1 / factor) <= SAME else 1 if factor > 1 else -1


def judged(upgrade: Mapping[str, Any], found: Mapping[str, Any]) -> dict[str, Any]:
    """Return the published and predicted factors and which of them agree; ``None`` if they cannot be compared."""
    published = upgrade["after"] / upgrade["before"]
    factor, remark = predicted(found)
    worse = [kernel for kernel in found.get("kernels", []) if kernel["summary"]]
    named = [*worse[0]["switches"], *([PARTS[worse[0]["part"]]] if worse[0]["part"] else [])] if worse else []
    cures = [cure for kernel in worse[:1] for cure in kernel["cures"]]
    part = {"llvm": "LLVM", "passes": "Triton's passes"}.get(upgrade["part"], upgrade["part"])
    turned = {knob for cure in cures for knob in cure["change"]}
    return {
        "published": published,
        "predicted": factor,
        "remark": remark,
        "sign": factor is not None and way(published) == way(factor),
        "near": factor is not None and max(published / factor, factor / published) <= NEAR,
        "named": named,
        "told": part in named if part else None,
        "cures": cures,
        "reports_own": bool(turned & set(upgrade["turned"])) if upgrade["turned"] else None,
    }


def row(upgrade: Mapping[str, Any], found: Mapping[str, Any] | None) -> str:
    """Return a line of the table."""
    link = f"[{upgrade['name']}]({upgrade['report']})"
    start = f"| {link}: {upgrade['what']} | {upgrade['gpu']} | {upgrade['good']} → {upgrade['bad']} "
    if found is None or "failed" in found:
        return f"{start}| {'not run' if found is None else found['failed']} |" + " |" * 7 + "\n"
    one = judged(upgrade, found)
    unit = f"{upgrade['before']:g} → {upgrade['after']:g} {upgrade['unit']}, " if upgrade["unit"] else ""
    shown = "-" if one["predicted"] is None else f"{one['predicted']:.2f} {one['remark']}".strip()
    spills = ", ".join(_ends(kernel["figures"]["vgpr_spills"]) for kernel in found["kernels"][:1])
    cause = ", ".join(f"`{name}`" if name.isupper() else name for name in one["named"]) or "-"
    cause += {True: " (told)", False: " (**not the report's**)", None: ""}[one["told"]]
    cure = ", ".join(f"`{name}={value}`" for name, value in one["cures"][0]["change"].items()) if one["cures"] else "-"
    cure += " (the report's knob among the fixes)" if one["reports_own"] else ""
    cells = [
        f"{unit}{one['published']:.2f}",
        shown,
        spills,
        "yes" if one["sign"] else "**no**",
        "yes" if one["near"] else "**no**",
        cause,
        cure,
        str(found["seconds"]),
    ]
    return f"{start}| {' | '.join(cells)} |\n"


def _ends(values: Sequence[int | None] | None) -> str:
    return f"{values[0]} → {values[-1]}" if values else "?"


def page(data: Mapping[str, Any], kept: Mapping[str, Any]) -> str:
    """Return the page."""
    upgrades = data["upgrade"]
    text = (
        HEAD + "| report | GPU | releases | published | predicted | spills | sign | near | cause | cure | seconds |\n"
    )
    text += "|---|---|---|--:|--:|--:|---|---|---|---|--:|\n"
    text += "".join(row(upgrade, kept.get(upgrade["name"])) for upgrade in upgrades)
    results = [judged(upgrade, kept[upgrade["name"]]) for upgrade in upgrades if upgrade["name"] in kept]
    seconds = [found["seconds"] for found in kept.values() if "seconds" in found]
    text += _counts(results, max(seconds, default=0))
    text += LEFT + "\n## What the reports do not tell\n\n| report | sources | assumed |\n|---|---|---|\n"
    text += "".join(f"| {each['name']} | {each['of']} | {each['assumed']} |\n" for each in upgrades)
    text += "\n## Not rebuilt\n\n| report | published | why |\n|---|---|---|\n"
    return text + "".join(f"| {each['report']} | {each['change']} | {each['why']} |\n" for each in data["not_rebuilt"])


def _counts(results: Sequence[Mapping[str, Any]], seconds: float) -> str:
    slower = [one for one in results if way(one["published"]) == 1]
    told = [one for one in results if one["told"] is not None and one["named"]]
    signs, near = (sum(one[name] for one in results) for name in ("sign", "near"))
    named, cured = (sum(bool(one[name]) for one in slower) for name in ("named", "cures"))
    same = sum(bool(one["told"]) for one in told)
    return f"""
Of {len(results)} upgrades the sign is right in {signs} and the factor near in {near}. Of {len(slower)} that made a
kernel slower, kprof names a half of the compiler or a switch in {named} and a verified cure in {cured}. Where the
report names a cause, too, it is the same in {same} of {len(told)}. The slowest command took {seconds:g} seconds.
"""


def read() -> dict[str, Any]:
    """Return the stored results by name."""
    return dict(json.loads(RESULTS.read_text(encoding="utf-8"))) if RESULTS.is_file() else {}


def main() -> int:
    """Run the upgrades, and write the page."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="NAME", help="an upgrade; default: all that have no result")
    parser.add_argument("--page", action="store_true", help="only write the page")
    options = parser.parse_args()
    data = facts()
    for upgrade in [] if options.page else data["upgrade"]:
        name = upgrade["name"]
        if name in options.names or (not options.names and name not in read()):
            print(name, file=sys.stderr, flush=True)
            found = taken_apart(upgrade)
            RESULTS.write_text(json.dumps({**read(), name: found}, indent=1) + "\n", encoding="utf-8")
    PAGE.write_text(page(data, read()), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
