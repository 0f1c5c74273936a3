"""Compare kprof's occupancy with LLVM's own answer on thousands of compiled kernels, and with a second opinion.

    python validation/check_occupancy_against_llvm.py --python PYTHON_WITH_TRITON [--python ...] [--count 80]

Each ``--python`` is an interpreter with a Triton. Its LLVM compiles two sets of kernels for every architecture:
synthetic kernels with a given number of registers, LDS size and attributes, and kernels written in Triton. Three things
are compared:

register part   kprof's LLVM method with ``; Occupancy:``, from the counts of the code and from the VGPR padding that
                ``amdgpu-waves-per-eu`` must lead to
descriptor      registers that kprof takes from the assembly, with ``; TotalNumVgprs`` and ``; Num*ForWavesPerEU``
whole           kprof's hardware method, for several launches of each kernel, with ``occupancy_oracle.py``

A difference in the register part counts as explained if it vanishes with LLVM's own padded counts, because padding
of SGPRs can overshoot. The exit code is 1 if a difference remains unexplained. ``--record FILE`` stores LLVM's
output for each synthetic kernel, for tests that run without a compiler.
"""

import argparse
import csv
import json
import subprocess
import sys
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE), str(HERE.parent), str(HERE.parent / "analyzers")]

from occupancy_oracle import MACHINES, Sample, padding, resident_workgroups, samples  # noqa: E402

from kprof.hardware.machine import load  # noqa: E402
from kprof.inputs.amdgcn import parse  # noqa: E402
from kprof_analyzers.occupancy import from_registers, occupancy  # noqa: E402
from kprof_analyzers.occupancy.llvm import LlvmDemand, limits  # noqa: E402

FIRST_LLVM_WITH_GFX1250 = 22
# Before this version, waves_per_eu was only a minimum and padded no registers.
TRITON_WITH_MAXIMUM = (3, 6)
TRITON_CONFIGS: list[dict[str, Any]] = [
    {"kernel": "row_sum", "constexprs": {"BLOCK": block}, "options": {"num_warps": warps}}
    for block, warps in ((512, 1), (2048, 4), (16384, 8))
] + [
    {"kernel": "matmul", "constexprs": {"BLOCK_M": m, "BLOCK_N": n, "BLOCK_K": 32}, "options": options}
    for m, n, options in (
        (64, 64, {"num_warps": 4}),
        (128, 128, {"num_warps": 8, "waves_per_eu": 2}),
        (128, 64, {"num_warps": 4, "waves_per_eu": 3}),
        (32, 32, {"num_warps": 1, "num_stages": 3}),
    )
]


@dataclass
class Tally:
    """Numbers of comparisons and differences."""

    llvm: int
    triton: str
    done: Counter[str] = field(default_factory=Counter)
    by_arch: Counter[str] = field(default_factory=Counter)
    explained: list[str] = field(default_factory=list)
    unexplained: list[str] = field(default_factory=list)
    failed: list[str] = field(default_factory=list)
    said: list[tuple[int | str, ...]] = field(default_factory=list)


RECORD = ("llvm", "arch", "vgprs", "sgprs", "lds", "fewest", "most", "lanes", "cu_mode", "occupancy")
"""Columns of ``Tally.said``: registers as LLVM counts them with padding, LDS in bytes, sizes in work-items."""


def main() -> int:
    """Run everything and print the summary."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--python", action="append", required=True, help="interpreter with a Triton; may be repeated")
    parser.add_argument("--count", type=int, default=80, help="synthetic kernels an architecture and LLVM")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--record", type=Path, help="write what LLVM said as CSV")
    parser.add_argument("--arch", help="only these, comma separated")
    parser.add_argument(
        "--no-triton-kernels", action="store_true", help="only the synthetic ones, which compile faster"
    )
    options = parser.parse_args()
    archs = options.arch.split(",") if options.arch else list(MACHINES)
    tallies = []
    for python in options.python:
        tally = check(python, archs, options.count, options.seed, triton_kernels=not options.no_triton_kernels)
        report(tally)
        tallies.append(tally)
    if options.record:
        with options.record.open("w", encoding="utf-8", newline="") as file:
            csv.writer(file, lineterminator="\n").writerows([RECORD, *(row for tally in tallies for row in tally.said)])
    kernels = sum(t.done["kernels"] for t in tallies)
    bad = sum(len(t.unexplained) for t in tallies)
    explained = sum(len(t.explained) for t in tallies)
    print(f"{kernels} kernels on {len(archs)} architectures: {bad} unexplained differences, {explained} explained")
    return 1 if bad or not kernels else 0


def check(python: str, archs: Iterable[str], count: int, seed: int, *, triton_kernels: bool) -> Tally:
    """Compile the kernels with one Triton and compare the results."""
    jobs: dict[int, tuple[dict[str, Any], Sample | None]] = {}
    sample: Sample | None
    for arch in archs:
        for sample in samples(arch, count, seed):
            jobs[len(jobs)] = ({"id": len(jobs), "arch": arch, "ir": sample.ir()}, sample)
        for config in TRITON_CONFIGS if triton_kernels else ():
            jobs[len(jobs)] = ({"id": len(jobs), "arch": arch, **config}, None)
    answers = compiled(python, [job for job, _ in jobs.values()])
    first = next(answers)
    tally = Tally(first["llvm"], first["triton"])
    for answer in answers:
        job, sample = jobs[answer["id"]]
        if tally.llvm < FIRST_LLVM_WITH_GFX1250 and job["arch"] == "gfx1250":
            continue
        if "error" in answer:
            tally.failed.append(f"{job['arch']} {job.get('kernel', sample)}: {answer['error']}")
            continue
        compare(tally, job, sample, answer)
    return tally


def compiled(python: str, jobs: list[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """Yield the worker's answers; if the worker dies, restart it after the job that killed it."""
    left, first = jobs, True
    while left:
        command = [python, "-W", "ignore", str(HERE / "occupancy_worker.py")]
        text = "".join(json.dumps(j) + "\n" for j in left)
        run = subprocess.run(command, input=text, capture_output=True, text=True, check=False)
        lines = [json.loads(line) for line in run.stdout.splitlines()]
        if not lines:
            raise SystemExit(f"{python}: {run.stderr[-2000:]}")
        yield from lines[0 if first else 1 :]
        first = False
        done = len(lines) - 1
        if done < len(left):
            yield {"id": left[done]["id"], "error": f"the compiler died with {run.returncode}"}
        left = left[done + 1 :]


def compare(tally: Tally, job: dict[str, Any], sample: Sample | None, answer: dict[str, Any]) -> None:
    """Make all comparisons for one kernel."""
    arch = load(job["arch"])
    kernel = parse(answer["asm"]).kernels[0]
    said = {name: int(value) for name, value in kernel.comments.items() if str(value).isdigit()}
    size = sample.wavefront if sample else arch.wavefront_size
    warps = job.get("options", {}).get("num_warps", 1)
    where = f"{job['arch']} LLVM {tally.llvm} {sample or (job['kernel'], job['constexprs'], job['options'])}"
    tally.done["kernels"] += 1
    tally.by_arch[job["arch"]] += 1

    demand = from_registers(kernel.registers, arch, lds_bytes=0, num_warps=1)
    expected = {
        "TotalNumVgprs": demand.vgpr_total,
        "NumVGPRsForWavesPerEU": max(demand.vgpr_total, demand.padded_vgpr or 0),
        "NumSGPRsForWavesPerEU": max(demand.sgpr, demand.padded_sgpr or 0),
    }
    for name, ours in expected.items():
        if name in said and said[name] != ours:
            tally.unexplained.append(f"{where}: {name} is {said[name]}, kprof takes {ours}")
        tally.done["descriptor"] += name in said

    asked = sample.waves_per_eu if sample else 0
    if sample is None and tuple(map(int, tally.triton.split(".")[:2])) >= TRITON_WITH_MAXIMUM:
        asked = job["options"].get("waves_per_eu", 0)
    launch: dict[str, Any] = {
        "lds_bytes": sample.lds if sample else 0,
        "workgroup_sizes": sample.sizes if sample else (1, warps * size),
        "wavefront_size": size,
        "cu_mode": sample.cu_mode if sample else False,
    }
    vgprs = max(demand.vgpr_total, padding(job["arch"], size, asked))
    plain = min(limits(arch, LlvmDemand(vgprs, demand.sgpr, **launch), tally.llvm).values())
    padded_counts = said["NumVGPRsForWavesPerEU"], said["NumSGPRsForWavesPerEU"]
    if sample:
        given = sample.lds, *sample.sizes, size, int(sample.cu_mode)
        tally.said.append((tally.llvm, job["arch"], *padded_counts, *given, said["Occupancy"]))
    padded = min(limits(arch, LlvmDemand(*padded_counts, **launch), tally.llvm).values())
    tally.done["register part"] += 1
    if plain != said["Occupancy"]:
        line = f"{where}: Occupancy is {said['Occupancy']}, kprof says {plain} unpadded and {padded} padded"
        (tally.explained if padded == said["Occupancy"] else tally.unexplained).append(line)

    lds_known = (sample.lds if sample else answer["shared"]) or 3000
    for lds in {0, lds_known, lds_known * 2 + 1}:
        for count in {1, warps, 4, 7, 8, 16}:
            whole(tally, where, kernel, (arch, lds, count, size), demand.block)


def whole(tally: Tally, where: str, kernel: Any, launch: tuple[Any, int, int, int], mode: str) -> None:
    """Compare one launch of a kernel with the second opinion."""
    arch, lds, count, size = launch
    registers = kernel.registers
    ours = occupancy(from_registers(registers, arch, lds_bytes=lds, num_warps=count))
    theirs = resident_workgroups(
        arch.name,
        vgprs=registers.next_free_vgpr,
        sgprs=int(kernel.comments["NumSGPRsForWavesPerEU"]),
        lds=lds,
        wavefronts=count,
        size=size,
        wgp=mode == "wgp",
    )
    tally.done["whole"] += 1
    if (ours.workgroups_per_cu, ours.waves_per_simd) != theirs:
        found = (ours.workgroups_per_cu, ours.waves_per_simd)
        tally.unexplained.append(f"{where}: {count} wavefronts, {lds} B LDS: kprof {found}, second opinion {theirs}")


def report(tally: Tally) -> None:
    """Print the results for the kernels of one LLVM."""
    counts = ", ".join(f"{count} {name}" for name, count in tally.done.items())
    print(f"Triton {tally.triton}, LLVM {tally.llvm}: {counts}")
    print("  " + " ".join(f"{arch}:{count}" for arch, count in tally.by_arch.items()))
    for title, lines in (
        ("explained", tally.explained),
        ("UNEXPLAINED", tally.unexplained),
        ("not compiled", tally.failed),
    ):
        if lines:
            print(f"  {title}: {len(lines)}")
            for line in lines[:8]:
                print(f"    {line}")


if __name__ == "__main__":
    sys.exit(main())
