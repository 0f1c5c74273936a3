"""Compare what kprof reads from FlyDSL's kernels with FlyDSL's own code objects, and write docs/validation/flydsl.md.

    git clone https://github.com/ROCm/FlyDSL
    pip install flydsl==0.3.2                 # the release of that checkout
    python validation/flydsl_kernels.py FlyDSL --seconds 60

Runs unmodified tests of the checkout under ``kprof capture``, without a GPU. In the same process, FlyDSL compiles
each kernel a second time with its own passes: without the debug information that kprof requests, and to a code
object, which the lld inside Triton links. ``llvm-readelf --notes`` prints the resources in the code object, and
FlyDSL's IR contains the dynamic LDS of the launch. Both are read without kprof.
"""

import argparse
import contextlib
import hashlib
import json
import os
import re
import runpy
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "analyzers")]
PAGE = ROOT / "docs/validation/flydsl.md"
RANKING = "## Configurations of AITER's gated delta rule"
"""Heading of the page's section about validation/flydsl_gdr_decode.py, which is kept."""
TESTS = {
    "gfx950": [
        "gemm_a16w16_gfx950",
        "rmsnorm",
        "layernorm",
        "vec_add",
        "softmax_bwd",
        "moe_reduce",
        "fused_rope_cache",
        "swa_gfx950",
        "moe_sorting",
        "softmax",
        "fp8_gemm_rowscale",
        "preshuffle_gemm",
        "flash_attn_fwd",
        "topk_gating_softmax",
        "moe_gemm_2stage",
        "fp4_gemm_4wave",
        "conv3d_implicit",
        "quant",
        "mla_decode",
        "pa",
        "moe_gemm",
    ],
}
_BYTES = re.compile(rb"\\(?:([0-9A-Fa-f]{2})|(.))", re.DOTALL)
_TEXT = re.compile(rb'(?:assembly|bin)\s*=\s*"((?:[^"\\]|\\.)*)"', re.DOTALL)
_LAUNCH = re.compile(r"gpu\.launch_func\b[^\n]*@kernels::@([\w$]+)[^\n]*?dynamic_shared_memory_size (%[\w#]+)")
_FIELD = re.compile(r"^\s*(?:- )?\.(\w+):\s+(\d+)\s*$", re.MULTILINE)
LLD = """#!{python}
import sys
from triton._C.libtriton import amd
words = sys.argv[1:]
output = words[words.index("-o") + 1]
(source,) = [word for word in words if not word.startswith("-") and word != output]
amd.link_hsaco(source, output)
"""


def rocm(folder: Path) -> Path:
    """Create a folder laid out like ROCm's, with Triton's device libraries and a linker that uses Triton's lld."""
    import triton

    bitcode, linker = folder / "amdgcn/bitcode", folder / "llvm/bin/ld.lld"
    for place in (bitcode, linker.parent):
        place.mkdir(parents=True)
    for file in (Path(triton.__file__).parent / "backends/amd/lib").glob("*.bc"):
        (bitcode / file.name).symlink_to(file)
    linker.write_text(LLD.format(python=sys.executable), encoding="utf-8")
    linker.chmod(0o755)
    return folder


def embedded(module: Any) -> bytes:
    """Return the assembly or the code object inside a compiled module."""
    found = _TEXT.search(str(module).encode())
    assert found is not None
    return _BYTES.sub(lambda part: bytes([int(part[1], 16)]) if part[1] else part[2], found[1])


def dynamic_lds(text: str) -> dict[str, int]:
    """Return the dynamic LDS of launches in FlyDSL's IR by kernel, for launches with a constant size."""
    sizes = {}
    for name, value in _LAUNCH.findall(text):
        constant = re.search(rf"^\s*{re.escape(value)} = arith\.constant (\d+)", text, re.MULTILINE)
        if constant is not None:
            sizes[name] = int(constant[1])
    return sizes


@contextlib.contextmanager
def to_code_object(backend: Any) -> Iterator[None]:
    """Compile to a code object and without debug information, as FlyDSL does by default."""
    own = backend.pipeline_fragments

    def fragments(self: Any, **options: Any) -> list[str]:
        return [one.replace("format=isa", "format=fatbin") for one in own(self, **options)]

    backend.pipeline_fragments = fragments
    os.environ["FLYDSL_DEBUG_ENABLE_DEBUG_INFO"] = "0"
    try:
        yield
    finally:
        backend.pipeline_fragments = own
        os.environ["FLYDSL_DEBUG_ENABLE_DEBUG_INFO"] = "1"


def twice(folder: Path) -> None:
    """Make FlyDSL compile each kernel twice, and store the code object under the digest of the assembly."""
    from flydsl.compiler import jit_function
    from flydsl.compiler.backends.rocm import RocmBackend

    recorded = jit_function.MlirCompiler.compile

    def compile_twice(source: Any, **options: Any) -> Any:
        text = str(source)
        made = recorded(source, **options)
        name = hashlib.sha256(embedded(made)).hexdigest()
        with to_code_object(RocmBackend):
            again = recorded(source, **changed(options))
        data = embedded(again)
        (folder / f"{name}.co").write_bytes(data[data.find(b"\x7fELF") :])
        (folder / f"{name}.json").write_text(json.dumps(dynamic_lds(text)), encoding="utf-8")
        return made

    jit_function.MlirCompiler.compile = staticmethod(compile_twice)


def changed(options: dict[str, Any]) -> dict[str, Any]:
    """Return the compile options with FlyDSL's own passes; since 0.4 the passes are in its configuration."""
    import dataclasses

    config = options.get("config")
    if config is None:
        return options
    passes = [one.replace("format=isa", "format=fatbin") for one in config.fragments if "debug-info" not in one]
    return {**options, "config": dataclasses.replace(config, fragments=passes)}


def notes(path: Path) -> dict[str, dict[str, int]]:
    """Return what llvm-readelf prints of the kernels in a code object."""
    done = subprocess.run(["llvm-readelf", "--notes", str(path)], capture_output=True, text=True, check=True)
    found = {}
    for part in re.split(r"^  - ", done.stdout, flags=re.MULTILINE)[1:]:
        name = re.search(r"^    \.name:\s+(\S+)", part, re.MULTILINE)
        if name is not None:
            found[name[1]] = {
                key: int(value)
                for key, value in _FIELD.findall(
                    re.sub(r"\.args:.*?(?=^    \.)", "", part, flags=re.DOTALL | re.MULTILINE)
                )
            }
    return found


def compared(folder: Path, dump: Path, test: str) -> Iterator[dict[str, Any]]:
    """Return the kernels of a capture with kprof's numbers and those of FlyDSL's own code object."""
    import kprof
    from kprof.captures.reader import read

    for kernel in read(folder).kernels:
        text = kernel.text("amdgcn")
        place = dump / hashlib.sha256(text.encode()).hexdigest()
        own = notes(place.with_suffix(".co"))[kernel.name] if place.with_suffix(".co").is_file() else None
        if own is None:
            continue
        (report,) = kprof.analyze(f"{folder}::{kernel.id}").document.kernels
        used = report.resources
        dynamic = json.loads(place.with_suffix(".json").read_text(encoding="utf-8")).get(kernel.name, 0)
        vgprs = -(-used.vgpr // 4) * 4 + used.agpr if used.agpr else used.vgpr
        mine = [vgprs, used.agpr, used.sgpr, used.vgpr_spills, used.sgpr_spills, used.scratch_bytes, used.lds_bytes]
        names = ("vgpr_count", "agpr_count", "sgpr_count", "vgpr_spill_count", "sgpr_spill_count")
        theirs = [own.get(name, 0) for name in names]
        theirs += [own["private_segment_fixed_size"], own["group_segment_fixed_size"] + dynamic]
        yield {
            "test": test,
            "arch": kernel.arch,
            "name": kernel.name,
            "kprof": mine,
            "flydsl": theirs,
            "launches": kernel.launches,
            "us": getattr(report.model, "time_us", None),
            "findings": len(report.findings),
        }


def run(test: str, arch: str, checkout: Path, work: Path, seconds: float) -> tuple[list[dict[str, Any]], str]:
    """Capture one test; return its kernels, or the reason why none was recorded."""
    folder, dump = work / test, work / f"{test}.code"
    dump.mkdir()
    command = [sys.executable, "-m", "kprof", "capture", "--arch", arch, "-o", str(folder), "--"]
    command += [sys.executable, __file__, "--test", str(dump), f"tests/kernels/test_{test}.py"]
    path = os.pathsep.join(
        filter(None, [str(ROOT), str(ROOT / "analyzers"), str(checkout), os.environ.get("PYTHONPATH")])
    )
    environment = {**os.environ, "PYTHONPATH": path, "ROCM_PATH": str(work / "rocm")}
    pipe = subprocess.PIPE
    process = subprocess.Popen(
        command, env=environment, cwd=checkout, stdout=pipe, stderr=subprocess.STDOUT, text=True, start_new_session=True
    )
    try:
        printed, _ = process.communicate(timeout=seconds)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGINT)
        printed, _ = process.communicate()
    (work / f"{test}.log").write_text(printed, encoding="utf-8")
    rows = list(compared(folder, dump, test)) if any((folder / "kernels").iterdir()) else []
    errors = [line[1:].strip() for line in printed.splitlines() if re.match(r"E\s+\w*(Error|Exception)\b", line)]
    skipped = [line.strip("= ") for line in printed.splitlines() if " skipped in " in line]
    return rows, (errors or skipped or [f"no launch within {seconds:g} s"])[0]


def page(rows: list[dict[str, Any]], none: dict[str, str], version: str, commit: str) -> str:
    """Return the page."""
    kernels: dict[tuple[str, str, str], list[dict[str, Any]]] = {}
    for row in rows:
        kernels.setdefault((row["test"], row["arch"], row["name"]), []).append(row)
    equal = sum(row["kprof"] == row["flydsl"] for row in rows)
    timed = sum(row["us"] is not None for row in rows)
    lines = [
        "# FlyDSL's kernels",
        "",
        "Tests of [ROCm/FlyDSL](https://github.com/ROCm/FlyDSL) under `kprof capture`, unmodified and without a GPU.",
        "Each kernel is compiled twice: for the capture, and by FlyDSL's own passes to a code object without debug",
        "information. Compared are VGPRs, AGPRs, SGPRs, spills, scratch and LDS (static and dynamic): kprof's on one",
        "side, on the other what `llvm-readelf --notes` prints of the code object and the dynamic LDS in FlyDSL's IR.",
        "",
        f"FlyDSL {version}, checkout {commit or 'without git'}. `python validation/flydsl_kernels.py` makes this page.",
        "",
        f"- {len(kernels)} kernels in {len(rows)} specialisations: {equal} specialisations equal in all seven numbers.",
        f"- {timed} of the specialisations have a predicted time.",
        "",
        "| test | GPU | kernel | specialisations | launches | equal | VGPRs | LDS |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for (test, arch, name), found in kernels.items():
        same = sum(row["kprof"] == row["flydsl"] for row in found)
        vgprs, lds = sorted({row["kprof"][0] for row in found}), sorted({row["kprof"][6] for row in found})
        launches = sum(row["launches"] for row in found)
        cells = (test, arch, f"`{name}`", len(found), launches, same, _span(vgprs), _span(lds))
        lines.append(f"| {' | '.join(map(str, cells))} |")
    lines += ["", "A test that ran longer than its time limit is compared as far as it came.", ""]
    if none:
        lines += ["Tests without a recorded launch:", "", "| test | reason |", "|---|---|"]
        lines += [f"| {test} | {' '.join(why.split())[:160].replace('|', '/')} |" for test, why in none.items()]
        lines.append("")
    return "\n".join(lines)


def _span(values: list[int]) -> str:
    return f"{values[0]:,}" if len(values) == 1 else f"{values[0]:,} to {values[-1]:,}"


def main() -> None:
    """Run the tests and write the page."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("checkout", type=Path)
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--only", nargs="*")
    asked = parser.parse_args()
    import flydsl

    # A shell ignores Ctrl-C in background jobs, and the tests would inherit this setting.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    commit = subprocess.run(
        ["git", "rev-parse", "--short=12", "HEAD"], cwd=asked.checkout, capture_output=True, text=True, check=False
    )
    rows: list[dict[str, Any]] = []
    none: dict[str, str] = {}
    work = Path(tempfile.mkdtemp())
    rocm(work / "rocm")
    for arch, tests in TESTS.items():
        for test in tests:
            if asked.only and test not in asked.only:
                continue
            found, why = run(test, arch, asked.checkout.resolve(), work, asked.seconds)
            rows += found
            if not found:
                none[test] = why
            same = sum(row["kprof"] == row["flydsl"] for row in found)
            print(f"{test}: {same} of {len(found)} equal", "" if found else why, flush=True)
            for row in found:
                if row["kprof"] != row["flydsl"]:
                    print("  differs:", row["name"], row["kprof"], row["flydsl"], flush=True)
            shutil.rmtree(work / f"{test}.code")
            _, heading, ranking = PAGE.read_text(encoding="utf-8").partition(RANKING)
            made = page(rows, none, flydsl.__version__, commit.stdout.strip())
            PAGE.write_text(made + "\n" * bool(heading) + heading + ranking, encoding="utf-8")


if __name__ == "__main__":
    if sys.argv[1:2] == ["--test"]:
        twice(Path(sys.argv[2]))
        sys.argv = ["pytest", "-q", "-x", "-p", "no:cacheprovider", *sys.argv[3:]]
        runpy.run_module("pytest", run_name="__main__")
    else:
        main()
