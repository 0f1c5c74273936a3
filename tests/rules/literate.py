"""Cases in the Markdown files beside this one, see README.md: what is in them, and what a rule says of it."""

import json
import re
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

import msgspec
from msgspec import UNSET

from kprof.analysis import KernelFacts, ModelChange
from kprof.document import LoopPrediction, Prediction, Resources, Specialization
from kprof.hardware.machine import Architecture, Product, find_product, load
from kprof.inputs import amdgcn, mlir
from kprof_analyzers.kernel_facts import loop_facts
from kprof_analyzers.occupancy import OccupancyInput, occupancy
from kprof_analyzers.rules.rule import Rule

HERE = Path(__file__).parent
_BLOCK = re.compile(r"^```(asm|ttgir) (\S+)(.*?)\n(.*?)^```", re.MULTILINE | re.DOTALL)
_KERNEL = """\t.amdgcn_target "amdgcn-amd-amdhsa--{arch}"
\t.text
\t.globl\tk
\t.type\tk,@function
k:
\t.file\t1 "/user" "k.py"
{body}
\ts_endpgm
\t.section\t.rodata,"a",@progbits
\t.amdhsa_kernel k
\t\t.amdhsa_next_free_vgpr 32
\t\t.amdhsa_next_free_sgpr 16
\t.end_amdhsa_kernel
\t.text
.Lfunc_end0:
\t.size\tk, .Lfunc_end0-k
"""


@dataclass(frozen=True)
class Case:
    """One fenced block."""

    file: Path
    number: int
    language: str
    arch: str
    facts: dict[str, int]
    grid: tuple[int, ...] | None
    triton: str | None
    named: dict[str, dict[str, int | str]]
    body: str
    ttgir: str | None
    expected: tuple[str, ...]

    @property
    def fires(self) -> bool:
        """Whether a finding is expected."""
        return any(line.startswith("expect:") for line in self.expected)

    @property
    def name(self) -> str:
        """For pytest."""
        return f"{self.file.stem}-{self.number}"


_BETWEEN = "\nttgir:\n"
_EXPECTED = (
    "without: ",
    "expect: ",
    "message: ",
    "evidence: ",
    "try: ",
    "related: ",
    "fix: ",
    "not checked: ",
    "does not apply: ",
)


@cache
def cases() -> tuple[Case, ...]:
    """Every block of every file."""
    return tuple(_cases())


def _cases():
    for file in sorted(HERE.rglob("*.md")):
        if file.name == "README.md":
            continue
        for number, (language, arch, facts, text) in enumerate(_BLOCK.findall(file.read_text()), 1):
            lines = text.splitlines()
            given = dict(part.split("=") for part in facts.split())
            grid, triton = given.pop("grid", None), given.pop("triton", None)
            named: dict[str, dict[str, int | str]] = {}
            for name, value in given.items():
                if "." in name:
                    group, _, key = name.partition(".")
                    named.setdefault(group, {})[key] = int(value) if value.isdecimal() else value
            body = "\n".join(line for line in lines if not line.startswith(_EXPECTED))
            assembly, _, module = body.partition(_BETWEEN) if language == "asm" else ("", "", body)
            yield Case(
                file=file,
                number=number,
                language=language,
                arch=arch,
                facts={name: int(value) for name, value in given.items() if "." not in name},
                grid=None if grid is None else tuple(map(int, grid.split("x"))),
                triton=triton,
                named=named,
                body=assembly or "\ts_nop 0",
                ttgir=module or None,
                expected=tuple(line for line in lines if line.startswith(_EXPECTED)),
            )


def assembly(body: str) -> Case:
    """A case of gfx942 that is in no file: assembly, and nothing else known."""
    return Case(
        file=HERE,
        number=1,
        language="asm",
        arch="gfx942",
        facts={},
        grid=None,
        triton=None,
        named={},
        body=body,
        ttgir=None,
        expected=(),
    )


def _hardware(case: Case) -> tuple[Architecture, Product | None]:
    """An architecture and the product named, if any, with what the case says otherwise of them."""
    machine, product = load(case.arch), find_product(case.arch)
    rates = {name: int(value) for name, value in case.named.get("rate", {}).items()}
    if product is not None and "product" in case.named:
        product = replace(product, **case.named["product"])
        machine = replace(machine, products={**machine.products, product.name: product})
    return replace(machine, rates={**machine.rates, **rates}), product


def facts_of(case: Case) -> KernelFacts:
    """The facts that a rule gets."""
    machine, product = _hardware(case)
    program = amdgcn.parse(_KERNEL.format(arch=machine.name, body=case.body)).kernels[0]
    lds_bytes, num_warps = case.facts.get("lds_bytes", 0), case.facts.get("num_warps", 4)
    demand = OccupancyInput(
        machine,
        vgpr=case.facts.get("vgpr", 32),
        lds_bytes=lds_bytes,
        num_warps=num_warps,
        padded_vgpr=case.facts.get("padded_vgpr"),
    )
    resources = Resources(
        vgpr=case.facts.get("vgpr"),
        lds_bytes=lds_bytes,
        num_warps=num_warps,
        vgpr_allocated=demand.vgpr_allocated,
        vgpr_spills=case.facts.get("vgpr_spills"),
        sgpr_spills=case.facts.get("sgpr_spills"),
        scratch_bytes=case.facts.get("scratch_bytes"),
        wavefront_size=case.facts.get("wavefront_size", machine.wavefront_size),
    )
    return KernelFacts(
        name="k",
        arch=machine,
        program=program,
        resources=resources,
        occupancy=occupancy(demand) if "vgpr" in case.facts else None,
        product=product,
        grid=case.grid,
        triton=case.triton,
        arguments={name: value for name, value in case.named.get("arg", {}).items() if isinstance(value, int)},
        metadata=case.named.get("metadata", {}),
        specialization=Specialization(
            attributes={name: {"pointer_range": int(bits)} for name, bits in case.named.get("range", {}).items()},
            constexprs=case.named.get("constexpr", {}),
            options=case.named.get("option", {}),
            environment={name: str(value) for name, value in case.named.get("env", {}).items()},
        ),
        loops=loop_facts(program, machine.wavefront_size, machine),
        prediction=prediction(case.named["model"]) if "model" in case.named else None,
        ttgir=None if case.ttgir is None else mlir.parse(case.ttgir),
    )


def prediction(given: dict[str, int | str]) -> Prediction:
    """A prediction: ``time`` and ``light`` in µs, shares in percent by cause (``latency`` is that of memory)."""
    names = {"latency": "memory latency", "bandwidth": "memory bandwidth"}
    numbers = {name: float(value) for name, value in given.items() if name != "loop"}
    time, light = numbers.pop("time", None), numbers.pop("light", None)
    shares = {names.get(cause, cause): percent / 100 for cause, percent in numbers.items()}
    loops = (
        [
            LoopPrediction(
                header=str(given["loop"]),
                trips=8.0,
                trips_known=True,
                trips_from="",
                cycles_per_iteration=1.0,
                causes=shares,
            )
        ]
        if "loop" in given
        else []
    )
    return Prediction(
        time_us=time,
        low_us=time,
        high_us=time,
        cycles=1.0,
        bound="issue",
        shares=shares,
        loops=loops,
        speed_of_light_us=light,
    )


def given(change: ModelChange) -> dict[str, object]:
    """What a change says beyond its defaults."""
    values = {name: getattr(change, name) for name in ModelChange.__dataclass_fields__}
    return {name: value for name, value in values.items() if value != getattr(ModelChange(), name)}


def said(rule: Rule, facts: KernelFacts) -> list[str]:
    """Everything that a rule says of a kernel, as the pages have it."""
    analysis = rule.analyze(facts)
    lines = []
    for finding, change in zip(analysis.findings, analysis.changes, strict=True):
        lines.append(f"expect: {finding.rule} {finding.severity.value} {finding.location or ''}".rstrip())
        lines.append(f"message: {finding.message}")
        lines.append(f"evidence: {json.dumps(msgspec.to_builtins(finding.evidence, str_keys=True))}")
        lines += [] if finding.fix is UNSET else [f"fix: {finding.fix}"]
        lines += [f"related: {place}" for place in finding.related]
        lines += [f"try: {advice.knob} {advice.from_} -> {advice.to}" for advice in finding.advice]
        if change is not None:
            lines.append(f"without: {json.dumps(given(change))}")
    lines += [f"not checked: {each.reason}" for each in analysis.not_checked]
    return lines + [f"does not apply: {each.reason}" for each in analysis.does_not_apply]
