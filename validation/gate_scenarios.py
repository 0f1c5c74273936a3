"""Run pull-request scenarios through ``kprof check`` and compare its exit codes with those that a reviewer would want.

Each scenario accepts a baseline, changes a file, and checks again. A false green is an exit code 0 when a failure was
expected; a false red is a failure when 0 was expected. Needs Triton, but no GPU.

    .venv/bin/python validation/gate_scenarios.py [--only TEXT] [--markdown FILE]
"""

# ruff: noqa: E501 - a scenario is a row of a table

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

Edit = Callable[[Path], None]
GREEN, RED, UNSURE, NOT_GREEN = (0,), (1,), (2,), (1, 2)

KERNEL = """\
import os
import triton
import triton.language as tl


@triton.jit
def kern(x_ptr, y_ptr, n, BLOCK: tl.constexpr, REP: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    acc = tl.zeros((BLOCK,), tl.float32)
    for k in range(0, n, BLOCK):
        x = tl.load(x_ptr + k + i)
        acc += x
    tl.store(y_ptr + i, acc)
"""
SETTINGS = """\
arch = ["gfx942"]
baseline = "kprof-baseline.json"

[budget]
max_vgpr_spills = 0

[[kernel]]
target = "k.py::kern"
signature = "*fp32:16,*fp32:16,i32:16"
constexpr = { BLOCK = 1024, REP = 1 }
"""
LOAD = "x = tl.load(x_ptr + k + i)"
GAPPED = KERNEL.replace(LOAD, "x = tl.load(x_ptr + (k + i) * 7)")
HELPER = "import triton, triton.language as tl\n@triton.jit\ndef ld(p, o):\n    return tl.load(p + o)\n"
WITH_HELPER = KERNEL.replace("import os", "import os\nfrom h import ld").replace(
    "tl.load(x_ptr + k + i)", "ld(x_ptr, k + i)"
)
TUNED = KERNEL.replace(
    "@triton.jit",
    '@triton.autotune(configs=[triton.Config({"BLOCK": 512, "REP": 1}), triton.Config({"BLOCK": 1024, "REP": 1})], '
    'key=["n"])\n@triton.jit',
)
TUNED_SETTINGS = SETTINGS.replace("constexpr = { BLOCK = 1024, REP = 1 }", "all_configs = true")
HEURISTIC = KERNEL.replace("@triton.jit", '@triton.heuristics({"REP": lambda a: 1})\n@triton.jit').replace(
    "(x_ptr + k + i)", "(x_ptr + (k + i) * REP)"
)
STRIDE = KERNEL.replace(LOAD, "x = tl.load(x_ptr + (k + i) * S)").replace(
    "@triton.jit", 'S = tl.constexpr(int(os.environ.get("STRIDE", "1")))\n\n\n@triton.jit'
)
OPTIONAL = KERNEL + "\ntry:\n    import fastlib\n    kern = fastlib.kern\nexcept ImportError:\n    pass\n"
SPEC = (
    KERNEL
    + """

@triton.jit
def scale(y_ptr, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y_ptr + i, tl.load(y_ptr + i) * 2)


from kprof.kernel_spec import Kernel, Launch, Part, Tensor

DTYPE, N, GRID = "fp32", 65536, 4096


def launch(shape, config):
    tensor = Tensor(DTYPE, (GRID * 1024 + N,))
    return Launch({"x_ptr": tensor, "y_ptr": tensor, "n": N, "BLOCK": config["BLOCK"], "REP": 1}, (GRID,))


def launch_scale(shape, config):
    return Launch({"y_ptr": Tensor(DTYPE, (GRID * 1024,)), "BLOCK": config["BLOCK"]}, (GRID,))


PARTS = {}
KERNEL = Kernel(name="k", entry=kern, summary="s", launch=launch, shapes={"one": {"N": 1}}, config={"BLOCK": 1024}, parts=PARTS)
"""
)
SPEC_SETTINGS = 'arch = ["MI300X"]\nbaseline = "kprof-baseline.json"\n\n[[kernel]]\ntarget = "k.py"\n'
BASE = {"k.py": KERNEL, "kprof.toml": SETTINGS}
KNOWN = {"k.py": GAPPED, "kprof.toml": SETTINGS}
LAUNCHED = {"k.py": SPEC, "kprof.toml": SPEC_SETTINGS}
ONE_PART = {**LAUNCHED, "k.py": SPEC.replace("PARTS = {}", 'PARTS = {"scale": Part(scale, launch_scale)}')}


@dataclass(frozen=True)
class Scenario:
    """A change, and the expected verdict of the gate.

    Attributes:
        name: description of the change.
        wanted: acceptable exit codes.
        edit: the change, given the repository's folder.
        files: contents of the repository before the change.
        variables: environment variables of the check.
        folder: folder below the repository in which the check runs.
    """

    name: str
    wanted: Sequence[int]
    edit: Edit
    files: Mapping[str, str] = field(default_factory=lambda: BASE)
    variables: Mapping[str, str] = field(default_factory=dict)
    folder: str = "."


def write(name: str, text: str) -> Edit:
    """Return an edit that writes a file."""

    def edit(root: Path) -> None:
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_bytes(text.encode())

    return edit


def swap(name: str, *pairs: str) -> Edit:
    """Return an edit that replaces texts of a file, each of which must occur."""

    def edit(root: Path) -> None:
        text = (root / name).read_bytes().decode()
        for old, new in zip(pairs[::2], pairs[1::2], strict=True):
            if old not in text:
                raise ValueError(f"{name} has no {old!r}")
            text = text.replace(old, new)
        (root / name).write_bytes(text.encode())

    return edit


def both(*edits: Edit) -> Edit:
    """Return an edit that makes several edits, one after the other."""

    def edit(root: Path) -> None:
        for one in edits:
            one(root)

    return edit


def crlf(root: Path) -> None:
    """Convert the line ends of all files to those of Windows."""
    for name in ("k.py", "kprof.toml", "kprof-baseline.json"):
        (root / name).write_bytes((root / name).read_bytes().replace(b"\n", b"\r\n"))


def conflict(root: Path) -> None:
    """Leave conflict markers in the baseline."""
    path = root / "kprof-baseline.json"
    path.write_text(path.read_text() + "\n<<<<<<< HEAD\n=======\n>>>>>>> x\n")


def repeated(root: Path) -> None:
    """Duplicate the kernel's entry in the baseline, as a bad merge does; the second entry is worse."""
    path = root / "kprof-baseline.json"
    text = path.read_text()
    kernels = json.dumps(json.loads(text)["kernels"]).replace('"vgpr_allocated": 1', '"vgpr_allocated": 9')
    path.write_text(text.replace('{\n  "kernels"', f'{{\n  "kernels": {kernels},\n  "kernels"', 1))
    write("k.py", GAPPED)(root)


def nothing(_root: Path) -> None:
    """Change nothing."""


def rename(root: Path) -> None:
    """Rename the kernel's file, and its path in the settings."""
    (root / "k.py").rename(root / "k2.py")
    swap("kprof.toml", "k.py", "k2.py")(root)


def slower(name: str, *pairs: str, files: Mapping[str, str] = LAUNCHED) -> Scenario:
    """Return a scenario whose change makes a kernel with a known launch slower."""
    return Scenario(f"slower: {name}", NOT_GREEN, swap("k.py", *pairs), files)


def bad_setting(name: str, old: str, new: str) -> Scenario:
    """Return a scenario with a mistake in the settings and a regression, which the mistake must not hide."""
    return Scenario(f"settings: {name}", UNSURE, both(swap("kprof.toml", old, new), write("k.py", GAPPED)))


def ignoring(name: str, comment: str) -> Scenario:
    """Return a scenario with a comment that must not suppress the finding."""
    return Scenario(f"ignore: {name}", RED, write("k.py", GAPPED.replace("* 7)", f"* 7)  # kprof: ignore{comment}")))


SCENARIOS = (
    Scenario("no change", GREEN, nothing),
    Scenario("gapped load", RED, write("k.py", GAPPED)),
    Scenario("40 times the iterations, sizes unknown", NOT_GREEN, swap("k.py", "range(0, n,", "range(0, n * 40,")),
    Scenario("kernel renamed and gapped", NOT_GREEN, both(write("k.py", GAPPED.replace("def kern", "def kern2")), swap("kprof.toml", "::kern", "::kern2"))),
    Scenario("baseline deleted", UNSURE, lambda root: (root / "kprof-baseline.json").unlink()),
    Scenario("conflict markers in the baseline", UNSURE, conflict),
    Scenario("line ends of Windows", GREEN, crlf, KNOWN),
    Scenario("byte order mark in the settings", (0, 2), write("kprof.toml", "\ufeff" + SETTINGS)),
    Scenario("line of a known finding reformatted", GREEN, swap("k.py", "x = tl.load(x_ptr + (k + i) * 7)", "x = tl.load(\n            x_ptr + (k + i) * 7,\n        )"), KNOWN),
    ignoring("without a reason", "[KP101]"),
    ignoring("all rules", "[*] x"),
    ignoring("another rule", "[KP301] because"),
    Scenario("ignore: inside a string", RED, write("k.py", GAPPED.replace("x = tl.load(x_ptr", '"""# kprof: ignore[KP101,KP102,KP103,KP104] because"""; x = tl.load(x_ptr'))),
    bad_setting("budget's name", "max_vgpr_spills", "max_vgpr_spill"),
    bad_setting("budget's table", "[budget]", "[budgets]"),
    bad_setting("kernels' table", "[[kernel]]", "[[kernels]]"),
    bad_setting("arch's name", 'arch = ["gfx942"]', 'archs = ["gfx942"]'),
    # The space makes the comment invalid, so the regression is reported.
    Scenario("settings: space after the architecture", NOT_GREEN, both(swap("kprof.toml", '"gfx942"]', '"gfx942 "]'), write("k.py", GAPPED))),
    bad_setting("constexpr's name", "constexpr =", "constexprs ="),
    bad_setting("baseline's name", "baseline =", "base_line ="),
    bad_setting("budget as text", "max_vgpr_spills = 0", 'max_vgpr_spills = "0"'),
    bad_setting("negative budget", "max_vgpr_spills = 0", "max_vgpr_spills = -1"),
    bad_setting("fail_on", "baseline = ", 'fail_on = "warn"\nbaseline = '),
    # An empty list is a valid setting: the finding still fails, and the verdict says that no metric is watched.
    Scenario("settings: nothing watched", NOT_GREEN, both(swap("kprof.toml", "baseline = ", "watch = []\nbaseline = "), write("k.py", GAPPED))),
    Scenario("environment chooses the stride", RED, nothing, {**BASE, "k.py": STRIDE}, {"STRIDE": "7"}),
    Scenario("optional module appears", RED, write("fastlib.py", GAPPED), {**BASE, "k.py": OPTIONAL}),
    Scenario("optional package appears", RED, write("fastlib/__init__.py", GAPPED), {**BASE, "k.py": OPTIONAL}),
    Scenario("import error", UNSURE, swap("k.py", "import os", "import nonexistent_mod")),
    Scenario("syntax error", NOT_GREEN, swap("k.py", "import os", "def (")),
    Scenario("kernel taken out of the settings", UNSURE, write("kprof.toml", SETTINGS.partition("[[kernel]]")[0] + '[[kernel]]\ntarget = "softmax"\n')),
    Scenario("other tile and gapped", NOT_GREEN, both(write("k.py", GAPPED), swap("kprof.toml", "BLOCK = 1024", "BLOCK = 2048"))),
    Scenario("entry of the baseline repeated", NOT_GREEN, repeated),
    Scenario("run in a folder below", GREEN, nothing, {**BASE, "sub/x.txt": ""}, folder="sub"),
    Scenario("nested settings in a repository of several", RED, write("pkg/k.py", GAPPED), {"pkg/k.py": KERNEL, "pkg/kprof.toml": SETTINGS, "kprof.toml": SETTINGS.replace("k.py", "pkg/k.py")}),
    Scenario("autotuner: one configuration replaced", (0, 1, 2), swap("k.py", '"BLOCK": 512, "REP": 1}', '"BLOCK": 65536, "REP": 1}'), {"k.py": TUNED, "kprof.toml": TUNED_SETTINGS}),
    Scenario("autotuner: other order", GREEN, swap("k.py", '"BLOCK": 512,', '"BLOCK": 1,', '"BLOCK": 1024,', '"BLOCK": 512,', '"BLOCK": 1,', '"BLOCK": 1024,'), {"k.py": TUNED, "kprof.toml": TUNED_SETTINGS}),
    Scenario("autotuner: body gapped", RED, swap("k.py", "x_ptr + k + i", "x_ptr + (k + i) * 7"), {"k.py": TUNED, "kprof.toml": TUNED_SETTINGS}),
    Scenario("heuristic changed", NOT_GREEN, swap("k.py", "lambda a: 1", "lambda a: 7"), {"k.py": HEURISTIC, "kprof.toml": SETTINGS.replace(", REP = 1", "")}),
    Scenario("file renamed and gapped", NOT_GREEN, both(rename, write("k2.py", GAPPED))),
    Scenario("file renamed", (0, 2), rename),
    Scenario("type widened and gapped", NOT_GREEN, both(write("k.py", GAPPED), swap("kprof.toml", '"*fp32:16,*fp32:16', '"*fp64:16,*fp32:16'))),
    Scenario("alignment lost", NOT_GREEN, swap("kprof.toml", '"*fp32:16,*fp32:16,i32:16"', '"*fp32,*fp32,i32"')),
    Scenario("argument renamed and gapped", NOT_GREEN, write("k.py", GAPPED.replace("x_ptr", "inp"))),
    Scenario("helper gapped", RED, swap("h.py", "p + o)", "p + o * 7)"), {**BASE, "k.py": WITH_HELPER, "h.py": HELPER}),
    Scenario("LLVM's optimisations off", (0, 1, 2), nothing, variables={"DISABLE_LLVM_OPT": "1"}),
    Scenario("budget of time exceeded", RED, swap("kprof.toml", "[[kernel]]", "[budget]\nmax_time_us = 0.001\n\n[[kernel]]"), LAUNCHED),
    Scenario("no change, launch known", GREEN, nothing, LAUNCHED),
    slower("by trips", "range(0, n, BLOCK)", "range(0, n * 40, BLOCK)"),
    slower("by traffic", LOAD, LOAD + " + tl.load(x_ptr + k + i + n) + tl.load(x_ptr + k + i + 2 * n)"),
    Scenario("slower: by a helper", NOT_GREEN, swap("h.py", "return tl.load(p + o)", "return tl.load(p + o) + tl.load(p + o + 8192) + tl.load(p + o + 16384)"), {**LAUNCHED, "h.py": HELPER, "k.py": SPEC.replace("import os", "import os\nfrom h import ld").replace("tl.load(x_ptr + k + i)", "ld(x_ptr, k + i)")}),
    slower("by a launch more", "PARTS = {}", 'PARTS = {"scale": Part(scale, launch_scale)}'),
    slower("by a smaller grid", "(GRID,))\n\n\ndef launch_scale", "(8,))\n\n\ndef launch_scale", "range(0, n, BLOCK)", "range(0, n * 512, BLOCK)"),
    slower("by dtype", 'DTYPE, N, GRID = "fp32"', 'DTYPE, N, GRID = "fp64"', "acc += x", "acc += x.to(tl.float32)"),
    slower("by masks", "k + i)", "k + i, mask=(k + i) % 7 != 0, other=0)", "acc += x", "acc += tl.where(x > 0, tl.exp(tl.sin(x)), tl.log(tl.cos(x)))"),
    Scenario("slower: in a part", NOT_GREEN, swap("k.py", "tl.load(y_ptr + i) * 2", "tl.load(y_ptr + i * 64 % 65536) * 2 + tl.load(y_ptr + i * 128 % 65536)"), ONE_PART),
    Scenario("faster: fewer iterations", GREEN, swap("k.py", "range(0, n, BLOCK)", "range(0, n // 8, BLOCK)"), LAUNCHED),
    Scenario("faster: a part takes less", GREEN, swap("k.py", "tl.load(y_ptr + i) * 2", "i * 2.0"), ONE_PART),
    Scenario("equal: comments and names", GREEN, swap("k.py", "acc += x", "acc += x  # the sum"), LAUNCHED),
    Scenario("equal: one more addition", GREEN, swap("k.py", "acc += x", "acc += x + 1.0"), LAUNCHED),
    Scenario("equal: parts", GREEN, nothing, ONE_PART),
)  # fmt: skip


def check(folder: Path, cache: Path, variables: Mapping[str, str], *options: str) -> tuple[int, str]:
    """Return exit code and last line of a check."""
    environment = {**os.environ, "XDG_CACHE_HOME": str(cache), "NO_COLOR": "1", **variables}
    command = [sys.executable, "-m", "kprof", "check", *options]
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    lines = (done.stdout.strip() or done.stderr.strip()).splitlines()
    return done.returncode, lines[-1] if lines else ""


def run(scenario: Scenario, place: Path, accepted: dict[str, Path]) -> tuple[int, str]:
    """Run a scenario; repositories with equal initial files share the accepted baseline."""
    key = json.dumps(dict(scenario.files), sort_keys=True)
    if key not in accepted:
        root = place / f"base{len(accepted)}"
        (root / ".git").mkdir(parents=True)
        for name, text in scenario.files.items():
            write(name, text)(root)
        for settings in root.rglob("kprof.toml"):
            code, line = check(settings.parent, place / "cache", {}, "--update-baseline")
            if code:
                raise RuntimeError(f"{scenario.name}: no baseline: {line}")
        accepted[key] = root
    root = place / "now"
    shutil.rmtree(root, ignore_errors=True)
    shutil.copytree(accepted[key], root, ignore=shutil.ignore_patterns("__pycache__"))
    scenario.edit(root)
    folder = root / ("pkg" if (root / "pkg").is_dir() else scenario.folder)
    return check(folder, place / "cache", scenario.variables)


def main() -> int:
    """Run the requested scenarios."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--only", default="", help="scenarios whose name contains this")
    parser.add_argument("--markdown", type=Path, help="write a table of the outcomes")
    options = parser.parse_args()
    rows, green, red, other = [], 0, 0, 0
    accepted: dict[str, Path] = {}
    with tempfile.TemporaryDirectory() as folder:
        for scenario in SCENARIOS:
            if options.only not in scenario.name:
                continue
            code, line = run(scenario, Path(folder), accepted)
            right = code in scenario.wanted
            green += not right and code == 0
            red += not right and code != 0 and 0 in scenario.wanted
            other += not right and code != 0 and 0 not in scenario.wanted
            wanted = " or ".join(map(str, scenario.wanted))
            print(f"{'ok  ' if right else 'FAIL'} {scenario.name}: {code}, wanted {wanted}: {line[:160]}", flush=True)
            rows.append(f"| {scenario.name} | {wanted} | {code} |")
    total = f"{len(rows)} scenarios: {green} false greens, {red} false reds, {other} failures with another code"
    print(total)
    if options.markdown is not None:
        table = "\n".join(["| change | wanted | exit code |", "|---|---|---|", *rows])
        options.markdown.write_text(f"{total}.\n\n{table}\n", encoding="utf-8")
    return bool(green or red or other)


if __name__ == "__main__":
    sys.exit(main())
