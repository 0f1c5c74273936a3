"""Run every rule on the whole kernel collection and count the findings.

    python validation/survey_rules.py [--arch gfx90a,gfx942,gfx950] [--all-cases] [--kernels gemm,softmax]
                                   [--config num_stages=1] [--env AMDGCN_USE_BUFFER_OPS=0] [--rule KP101] [-j 2]

Prints a row per rule with the kernels that it reports for each architecture, or with ``--rule`` every finding of
that rule. The exit code is 1 if a rule crashed or reports more than half of all kernels. One product represents each
architecture, so that rules about the launch can be checked. ``--config`` and ``--env`` set other knobs than the
defaults, because good kernels do not trigger some rules; kernels without such a knob are skipped.
"""

import argparse
import sys
import traceback
from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / "analyzers")]
PRODUCTS = {"gfx90a": "MI250X", "gfx942": "MI300X", "gfx950": "MI355X"}


def jobs(architectures: list[str], names: list[str], options: Any, *, all_cases: bool) -> Iterator[Any]:
    """Yield every kernel and part of the collection on every architecture: the first case, or all of them."""
    from dataclasses import replace

    from kprof.errors import KprofError
    from kprof.hardware.machine import load
    from kprof.targets import library as kernel_library
    from kprof.targets.jobs import jobs_of

    for name in names or kernel_library.bundled():
        whole = kernel_library.load(name)
        for kernel in (whole, *(whole.part(part) for part in whole.parts)):
            for case in list(kernel.shapes) if all_cases else list(kernel.shapes)[:1]:
                for arch in architectures:
                    try:
                        yield from jobs_of(kernel, load(arch), replace(options, case=case))
                    except KprofError as error:
                        print(f"left out: {kernel.name} {case} {arch}: {error.message}", file=sys.stderr)


def survey(wanted: list[Any], workers: int) -> Iterator[tuple[str, str, Any, list[str]]]:
    """Yield kernel, architecture, findings and crashes of each compiled kernel."""
    from dataclasses import replace

    from kprof.compiler.compile import compile_many
    from kprof.errors import KprofError
    from kprof.hardware.machine import find_product
    from kprof.targets.jobs import loaded
    from kprof_analyzers.pipeline import facts_of
    from kprof_analyzers.rules import rules

    for outcome in compile_many([job.request for job in wanted], workers):
        job = wanted[outcome.index]
        arch = job.machine.name
        try:
            kernel = replace(loaded(job, outcome.result()), product=find_product(PRODUCTS.get(arch, "")))
        except KprofError as error:
            print(f"left out: {job.name} {arch}: {error.message[:160]}", file=sys.stderr)
            continue
        facts, _notes = facts_of(kernel)
        findings, crashes = [], []
        for rule in rules():
            try:
                findings.extend(rule.analyze(facts).findings)
            except Exception:  # noqa: BLE001 - a crash of a rule is what the survey looks for
                crashes.append(f"{rule.id} on {job.name} {arch}\n{traceback.format_exc()}")
        yield job.name, arch, findings, crashes


def table(fired: dict[str, dict[str, set[str]]], kernels: dict[str, set[str]]) -> list[str]:
    """Print a row per rule; return the rules that report more than half of all kernels."""
    from kprof_analyzers.rules import rules

    total = sum(len(names) for names in kernels.values())
    print(f"{'rule':38} " + " ".join(f"{arch:>12}" for arch in kernels) + f" {'share':>7}")
    often = []
    for rule in rules():
        counts = [len(fired[rule.id][arch]) for arch in kernels]
        share = sum(counts) / max(1, total)
        cells = " ".join(f"{n:5} of {len(kernels[arch]):3}" for n, arch in zip(counts, kernels, strict=True))
        print(f"{rule.id} {rule.name:32} {cells} {100 * share:5.0f} %")
        if share > 0.5:
            often.append(rule.id)
    return often


def main() -> int:
    """Run and print the survey."""
    from kprof.inputs.assignments import assignments
    from kprof.options.groups import CompileOptions

    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--arch", default=",".join(PRODUCTS))
    parser.add_argument("--all-cases", action="store_true")
    parser.add_argument("--kernels", default="", help="only these, comma separated")
    parser.add_argument("--config", default="", help="knobs on top of each kernel's own: K=V,...")
    parser.add_argument("--env", default="", help="Triton's environment switches: K=V,...")
    parser.add_argument("--rule", help="print every finding of this rule instead")
    parser.add_argument("-j", "--jobs", type=int, default=2)
    arguments = parser.parse_args()
    architectures = arguments.arch.split(",")
    kernels: dict[str, set[str]] = {arch: set() for arch in architectures}
    fired: dict[str, dict[str, set[str]]] = defaultdict(lambda: defaultdict(set))
    crashed: list[str] = []
    severities: Counter[str] = Counter()
    environment = {name: str(value) for name, value in assignments([arguments.env], "--env").items()}
    options = CompileOptions(config=assignments([arguments.config], "--config"), env=environment)
    names = [name for name in arguments.kernels.split(",") if name]
    wanted = list(jobs(architectures, names, options, all_cases=arguments.all_cases))
    for name, arch, findings, crashes in survey(wanted, arguments.jobs):
        kernels[arch].add(name)
        crashed += crashes
        for finding in findings:
            fired[finding.rule][arch].add(name)
            severities[finding.severity.value] += 1
            if arguments.rule in {finding.rule, "all"}:
                place = f"{Path(finding.location.file).name}:{finding.location.line}" if finding.location else "-"
                print(f"{finding.rule} {arch} {name} {place} {finding.severity.value}: {finding.message}", flush=True)
    often = table(fired, kernels)
    print(", ".join(f"{n} {severity}s" for severity, n in severities.most_common()))
    for crash in crashed:
        print(crash)
    for rule in often:
        print(f"{rule} fires on more than half of all kernels")
    return 1 if crashed or often else 0


if __name__ == "__main__":
    sys.exit(main())
