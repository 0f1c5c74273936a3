"""Repeat public issues by programs that launch their kernels, and write docs/validation/issues.md.

Usage: ``python validation/record_issues.py [NAME ...]``, with the packages and checkouts that ``validation/issues``
import. With names, only these issues are repeated, and the entries of the others in docs/validation/issues.json are
kept.
"""

import argparse
import importlib
import json
import subprocess
import sys
import tempfile
from itertools import combinations
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
CASES = Path(__file__).with_name("issues")
PAGE = ROOT / "docs" / "validation" / "issues.md"
KEPT = PAGE.with_suffix(".json")
HELPERS = {"checkouts.py", "mxfp4_experts.py", "sglang_extend.py"}
TIME_LIMIT = 1800

HEAD = """# Public issues, repeated

`python validation/record_issues.py` launches each issue's program under `kprof capture`, without a GPU, once with each
of the configurations that the issue compares, and judges it with `kprof analyze`. The programs are the public sources
(SGLang, flash-linear-attention and vLLM as packages, AITER and Primus-Turbo from checkouts) with one function replaced:
the one that chooses the configuration. Sizes are the issue's where it tells them. Triton is the one that is installed
(3.9.0), not the issue's.

- *Cause told*: a finding of the configuration that the issue is about (the first, if nothing else is said) names it.
  *Fix told*: that finding, or what it says to try, names the knob that the issue turned. *Verified*: the finding is
  gone with the issue's fix.
- *Order*: pairs of configurations that the model puts in the measured order. *Within*: measured times inside the
  printed range, where the issue has times of single launches.
- Measured are milliseconds where *within* has numbers, else times relative to one of the configurations. A
  configuration that *does not fit* was told to need more than the GPU has; it is in no pair.

| issue | GPU | configuration: measured, predicted, spills | cause told | fix told | verified | order | within |
|---|---|---|---|---|---|---|---|
"""

LEFT = """
Triton 3.9.0 passes no flag for LLVM's trackers of registers (triton#11763): the case adds it again, in the compiler's
list of flags. What it costs is predicted and told; no knob of a launch turns it, and nothing names it.

Where kprof fails: no rule says that sums over the lanes of four warps cost more than those of one (aiter#4718), and
what `waves_per_eu=4` spills there is predicted to cost more than it does. No rule says that a tile has too few rows
where each workgroup streams the whole cache, so that the cause of #5650's first configuration and of #34461 is seen in
the predicted times alone. What 94 spilled registers cost SGLang's heads of 576 is predicted far too low: the tile that
spills is taken to be the faster one. The persistent kernel of Primus-Turbo#471 gets no time, and none of its constants
is proposed against its spills.

The tile of vllm#49778 needs 275,424 bytes with Triton 3.9.0 where the issue's Triton asked for 165,888: the cause is
the same, the number is not. Three stages of vllm#17744 needed 73,728 bytes in their time, a copy of both tiles for each
stage; 3.9.0 keeps one copy less, 49,152 bytes, which fit. So does 3.4.0, the oldest that kprof takes (vLLM 0.33.0 was
recorded under it): no Triton that kprof runs repeats that failure. vllm#52056 says which tile spills, and gives no
times of kernels.

The knob of aiter#5137 is named, its value is not: KP301 has `waves_per_eu` 8 → 7 as the fourth of five things to try,
and KP306 8 → 2, the wavefronts that LDS allows; the issue went to 4. With 2 and with 4 nothing spills.

The program for vllm#58060 is beside the others, and has not been run to its end.
"""


def launch_all(name: str) -> None:
    """Launch a case with every configuration; called in the recorded process."""
    sys.path[:0] = [str(CASES), str(CASES.parent / "programs")]
    case = importlib.import_module(name)
    for config in case.CONFIGS:
        print(f"launching {config}", flush=True)
        case.launch(config)


def constants(name: str) -> dict[str, Any]:
    """Return the constants of a case's file without executing its imports."""
    import ast

    tree = ast.parse((CASES / f"{name}.py").read_text(encoding="utf-8"))
    found: dict[str, Any] = {"ABOUT": ast.get_docstring(tree)}
    for node in tree.body:
        if isinstance(node, ast.Assign) and len(node.targets) == 1:
            target, value = node.targets[0], node.value
            try:
                values = ast.literal_eval(value)
            except ValueError:
                continue
            if isinstance(target, ast.Tuple):
                found |= {n.id: v for n, v in zip(target.elts, values, strict=True) if isinstance(n, ast.Name)}
            elif isinstance(target, ast.Name):
                found[target.id] = values
    return found


def repeated(name: str) -> dict[str, Any]:
    """Return the result of a case."""
    about = constants(name)
    with tempfile.TemporaryDirectory() as folder:
        start = [sys.executable, "-m", "kprof", "capture", "--arch", about["ARCH"], "-o", f"{folder}/capture", "--"]
        command = [*start, sys.executable, __file__, "--launch", name]
        if "NO_CACHE" in about:
            # This switch changes the code of kernels with equal keys.
            command.insert(command.index("--arch"), "--no-cache")
        ran = subprocess.run(command, capture_output=True, text=True, timeout=TIME_LIMIT, check=False)
        target = f"{folder}/capture::{about['KERNEL']}"
        analyse = [sys.executable, "-m", "kprof", "analyze", "kernel", target, "--arch", about["ARCH"], "--json", "-"]
        run = subprocess.run(analyse, capture_output=True, text=True, timeout=TIME_LIMIT, check=False)
    kernels = json.loads(run.stdout)["kernels"] if run.stdout.startswith("{") else []
    if not kernels:
        lines = (run.stderr + ran.stdout + ran.stderr).splitlines()
        failed = [line for line in lines if "Error" in line] or lines
        return {**about, "failed": failed[-1:]}
    return {**about, "kernels": [_kept(kernel) for kernel in kernels]}


def _kept(kernel: dict[str, Any]) -> dict[str, Any]:
    """Return the parts of a kernel's report that the page uses."""
    model = kernel.get("model") or {}
    return {
        "time_us": model.get("time_us"),
        "low_us": model.get("low_us"),
        "high_us": model.get("high_us"),
        "missing": sorted({name for loop in model.get("loops", []) for name in loop.get("missing", [])}),
        "iteration": [round(loop["cycles_per_iteration"]) for loop in model.get("loops", [])],
        "vgpr_spills": kernel["resources"].get("vgpr_spills"),
        "scratch_bytes": kernel["resources"].get("scratch_bytes"),
        "lds_bytes": kernel["resources"].get("lds_bytes"),
        "findings": {
            finding["rule"]: " ".join([finding["message"], json.dumps(finding.get("advice") or [])])
            for finding in kernel["findings"]
        },
    }


def row(found: dict[str, Any]) -> tuple[str, list[int]]:
    """Return a line of the page, and its counts: cause, cure, verified, pairs in order, pairs."""
    about, configs = found["ABOUT"], found["CONFIGS"]
    if "kernels" not in found or len(found["kernels"]) != len(configs):
        why = "; ".join(found.get("failed", [])) or f"{len(found['kernels'])} kernels for {len(configs)} configurations"
        return f"| {about} | {found['ARCH']} | not repeated: {why} | | | | | |", [0, 0, 0, 0, 0]
    kernels = dict(zip(configs, found["kernels"], strict=True))
    timed = {config: measured for config, measured in configs.items() if measured is not None}
    slow, fast = found.get("PRESENT") or next(iter(configs)), min(timed, key=timed.__getitem__)
    named = [rule for rule in kernels[slow]["findings"] if rule.startswith(tuple(found["CAUSES"]))]
    gone = [rule for rule in named if rule not in kernels[fast]["findings"]]
    cure = any(knob in kernels[slow]["findings"][rule] for rule in named for knob in found["KNOBS"])
    times = {config: kernel["time_us"] for config, kernel in kernels.items()}
    # The issue only says which configuration is slower, so there is no measured order.
    has_times = "NOT_MEASURED" not in found
    pairs = [(a, b) for a, b in combinations(timed, 2) if has_times and timed[a] != timed[b]]
    known = all(times[config] for config in timed)
    right = sum((times[a] - times[b]) * (timed[a] - timed[b]) > 0 for a, b in pairs) if known else 0
    absolute = "MILLISECONDS" in found
    within = sum(kernels[c]["low_us"] <= 1000 * ms <= kernels[c]["high_us"] for c, ms in timed.items() if times[c])
    cells = [
        about,
        found["ARCH"],
        "<br>".join(
            _config(config, measured, kernels[config], has_times=has_times) for config, measured in configs.items()
        ),
        ", ".join(named) or "**no**",
        "yes" if cure else "**no**",
        ", ".join(gone) or "**no**",
        f"{right} of {len(pairs)}",
        f"{within} of {len(timed)}" if absolute else "-",
    ]
    return f"| {' | '.join(cells)} |", [bool(named), cure, bool(gone), right, len(pairs)]


def _config(name: str, measured: float | None, kernel: dict[str, Any], *, has_times: bool) -> str:
    time = kernel["time_us"]
    missing = f" ({', '.join(kernel['missing'])})" if kernel["missing"] else ""
    predicted = f"not known{missing}" if time is None else f"{time:,.4g} µs"
    spills = kernel["vgpr_spills"]
    cost = "does not fit" if measured is None else f"{measured:g}" if has_times else "not measured"
    return f"{name}: {cost}, {predicted}, {'?' if spills is None else spills} spills"


def main() -> None:
    """Repeat the named cases, or all cases without a name."""
    if sys.argv[1:2] == ["--launch"]:
        launch_all(sys.argv[2])
        return
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="NAME", help="an issue in validation/issues; default: all")
    names: list[str] = parser.parse_args().names
    cases = [p.stem for p in sorted(CASES.glob("*.py")) if p.name not in HELPERS]
    kept: dict[str, Any] = json.loads(KEPT.read_text(encoding="utf-8")) if KEPT.is_file() else {}
    if unknown := sorted(set(names) - set(cases)):
        parser.error(f"no such issue in validation/issues: {', '.join(unknown)}")
    for name in cases:
        if name in (names or cases):
            kept[name] = repeated(name)
            print(row(kept[name])[0], flush=True)
            KEPT.write_text(json.dumps(kept, indent=1) + "\n", encoding="utf-8")
    write(kept)


def write(kept: dict[str, Any]) -> None:
    """Write the page."""
    rows = [row(kept[name]) for name in sorted(kept)]
    counts = [sum(column) for column in zip(*(counted for _, counted in rows), strict=True)]
    total = len(rows)
    summary = (
        f"\nOf {total} cases the cause is told in {counts[0]}, the fix in {counts[1]}, and verified in {counts[2]}; "
        f"{counts[3]} of {counts[4]} pairs of configurations are in the measured order.\n"
    )
    PAGE.write_text(HEAD + "\n".join(line for line, _ in rows) + "\n" + summary + LEFT, encoding="utf-8")


if __name__ == "__main__":
    main()
