"""``kprof.counter_plan``: plan the profiler passes that collect the counters to confirm findings."""

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from kprof.api.result import Result
from kprof.errors import InputError, KprofError, near
from kprof.options.kernels import CounterPlanOptions
from kprof.options.keywords import keywords
from kprof.targets.target import TargetLike

if TYPE_CHECKING:
    import pandas as pd

    from kprof.hardware.machine import Architecture
    from kprof_analyzers.profiles.counters.planning import CollectionPlan, CounterQuestion

_COLUMNS = ("pass", "counter")


@dataclass(frozen=True, eq=False, repr=False)
class CounterPlan(Result):
    """A plan of the counters to collect.

    Attributes:
        plan: ``questions`` (findings or metrics) with the counters that they need, and the profiler ``passes``.
        product: name of the GPU: the product, or the architecture if no product was named.
    """

    plan: "CollectionPlan"
    product: str
    kind: ClassVar[str] = "counters-plan"

    @property
    def document(self) -> dict[str, Any]:
        """The JSON document that ``kprof counters plan --json`` writes."""
        return {
            "schema": "kprof.counters.plan/1",
            "gpu": self.product,
            "arch": self.plan.arch,
            "questions": [asdict(each) for each in self.plan.questions],
            "passes": [list(each.counters) for each in self.plan.passes],
            "blocks": self.plan.blocks,
        }

    @property
    def summary(self) -> str:
        """The number of passes and counters, and the finding or metric that they confirm, in one line."""
        from kprof.reporters.counters_plan_text import verdict

        return verdict(self.plan, self.product)

    def to_frame(self) -> "pd.DataFrame":
        """Return one row per counter: ``pass``, counted from 1, and ``counter``."""
        from kprof.api.frames import plain_frame

        return plain_frame(self._rows(), _COLUMNS)

    def _rows(self) -> Iterator[dict[str, Any]]:
        for number, each in enumerate(self.plan.passes, 1):
            for counter in each.counters:
                yield {"pass": number, "counter": counter}

    def write(self, folder: str | Path) -> list[Path]:
        """Write input files of the profilers: ``rocprofv3.txt``, ``rocprofv3.yaml`` and ``rocprof-compute.sh``.

        Returns:
            The files written.

        Raises:
            KprofError: a file cannot be written.
        """
        from kprof.output.writing import write_output
        from kprof.reporters.counters_plan_text import input_files

        written = []
        for name, content in input_files(self.plan).items():
            path = Path(folder) / name
            try:
                path.parent.mkdir(parents=True, exist_ok=True)
            except OSError as error:
                raise InputError(f"cannot be written: {error.strerror or error}", path=str(folder)) from error
            write_output(str(path), content)
            written.append(path)
        return written


@keywords
def counter_plan(target: TargetLike, *, options: CounterPlanOptions) -> CounterPlan:
    """Plan the counters and profiler passes for a finding, a metric or all findings of a kernel.

    Args:
        target: a rule (``KP301`` or ``lds-bank-conflicts``), a metric of ``kprof counters metrics``, or a kernel as for
            :func:`kprof.analyze`; findings of a kernel that counters cannot confirm are skipped.
        options: the GPU, how the kernel is compiled, and ``output``, the folder for the profilers' input files.

    Raises:
        KprofError: the target is unknown, the kernel cannot be compiled, or kprof has no formulas for the GPU.
    """
    from kprof_analyzers.profiles.counters.planning import plan

    product, arch = _gpu(options)
    found = CounterPlan(plan(_questions(target, options, arch), arch), product)
    if options.output is not None:
        found.write(options.output)
    return found


def _gpu(options: CounterPlanOptions) -> "tuple[str, Architecture]":
    from kprof.hardware import machine
    from kprof.hardware.default import DEFAULT_GPU

    named = options.arch.split(",") if isinstance(options.arch, str) else list(options.arch)
    if len(named) > 1:
        raise KprofError("kprof counters plan accepts one --arch")
    name = named[0] if named and named[0] else DEFAULT_GPU
    product = machine.find_product(name)
    return (product.name, machine.load(product.arch)) if product is not None else (name, machine.load(name))


def _questions(target: TargetLike, options: CounterPlanOptions, arch: "Architecture") -> "list[CounterQuestion]":
    from kprof_analyzers.profiles.counters.catalogue import formulas_of
    from kprof_analyzers.profiles.counters.planning import question
    from kprof_analyzers.rules import known_rules

    rules = {rule.id: rule for rule in known_rules()}
    name = target if isinstance(target, str) else ""
    rule = rules.get(name.upper()) or next((each for each in rules.values() if each.name == name.lower()), None)
    if rule is not None:
        if rule.confirmed_by is None:
            raise InputError(f"profiler counters can neither confirm nor refute {rule.id} {rule.name}")
        return [question(rule.id, rule.name, (*rule.confirmed_by.needs, *rule.confirmed_by.may), arch)]
    formulas = formulas_of(arch)
    if name in formulas:
        return [question(name, formulas[name].title, [name], arch)]
    try:
        found = _findings(target, options)
    except KprofError as error:
        others = [*rules, *(each.name for each in rules.values()), *formulas]
        raise type(error)(f"{error.message}{near(name, others)}", path=error.path, hint=error.hint) from error
    asked = {}
    for one in found:
        decided = rules[one].confirmed_by if one in rules else None
        if decided is not None:
            numbers = (*decided.needs, *decided.may)
            asked[one] = question(one, rules[one].name, numbers, arch)
    return list(asked.values())


def _findings(target: TargetLike, options: CounterPlanOptions) -> list[str]:
    """Return the rule identifiers of a kernel's findings."""
    from kprof.api.analyze import analyze
    from kprof.options.kernels import AnalyzeOptions

    given = asdict(options)
    given.pop("output")
    found = analyze(target, options=AnalyzeOptions(**given))
    return [finding.rule for kernel in found.kernels for finding in kernel.findings]
