"""Modules that ``mutate.py`` changes, with the tests of each; none of these tests needs Triton."""

from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


@dataclass(frozen=True)
class Chosen:
    """A module, and the tests that run on each of its mutants.

    Attributes:
        module: the module's dotted name.
        tests: files of tests, or one ``module:function:argument`` that raises an error on failure.
        group: group in which the module's mutants are counted.
    """

    module: str
    tests: tuple[str, ...]
    group: str


def _cases(*stems: str) -> tuple[str, ...]:
    return tuple(f"tests.rules.mutants:check:{stem}" for stem in stems)


# Modules that several rules share, including limits, are tested by the cases of these rules.
_SHARED = (
    (
        "kprof_analyzers.rules.narrow_accesses",
        _cases(
            "global_memory.narrow_global_load",
            "global_memory.narrow_global_store",
            "global_memory.reloaded_tile",
            "lds.narrow_lds_access",
        ),
    ),
    (
        "kprof_analyzers.rules.questions",
        _cases(
            "global_memory.narrow_global_load",
            "registers.above_step",
            "registers.spill_in_loop",
            "scheduling.full_drain",
            "matrix.half_rate",
            "matrix.natural_exponential",
            "lds.narrow_lds_access",
            "lds.bank_conflicts",
            "launch.lds_over_limit",
        ),
    ),
)


def rules() -> list[Chosen]:
    """Return every rule with the tests of this rule alone, and the modules that rules share."""
    found = [Chosen(module, tests, "rules") for module, tests in _SHARED]
    for file in sorted((ROOT / "analyzers/kprof_analyzers/rules").glob("*/*.py")):
        if file.stem != "__init__":
            stem = f"{file.parent.name}.{file.stem}"
            found.append(Chosen(f"kprof_analyzers.rules.{stem}", _cases(stem), "rules"))
    return found


_OCCUPANCY = "tests/analyzers/occupancy"
_TIMELINE = "tests/analyzers/profiles/timeline"
_JUDGE = tuple(f"tests/gate/test_{stem}.py" for stem in ("judge", "without_baseline", "baseline"))
_CORE = (
    ("occupancy", "kprof_analyzers.occupancy", (f"{_OCCUPANCY}/test_request.py", f"{_OCCUPANCY}/test_steps.py")),
    ("occupancy", "kprof_analyzers.occupancy.hardware", (f"{_OCCUPANCY}/test_hardware.py",)),
    ("occupancy", "kprof_analyzers.occupancy.llvm", (f"{_OCCUPANCY}/test_llvm.py",)),
    ("occupancy", "kprof_analyzers.occupancy.guide", (f"{_OCCUPANCY}/test_guide.py",)),
    ("occupancy", "kprof_analyzers.occupancy.steps", (f"{_OCCUPANCY}/test_steps.py",)),
    ("occupancy", "kprof_analyzers.occupancy.curve", (f"{_OCCUPANCY}/test_curve.py",)),
    ("occupancy", "kprof_analyzers.occupancy.request", (f"{_OCCUPANCY}/test_request.py",)),
    ("occupancy", "kprof_analyzers.occupancy.problems", (f"{_OCCUPANCY}/test_hardware.py",)),
    ("waits", "kprof_analyzers.scheduling.waits", ("tests/analyzers/test_waits.py",)),
    ("spills", "kprof.inputs.amdgcn.private_memory", ("tests/inputs/amdgcn/test_private_memory.py",)),
    (
        "spills",
        "kprof_analyzers.registers.scratch",
        _cases("registers.scratch_without_spills", "registers.spill_in_loop"),
    ),
    ("breakdown", "kprof_analyzers.profiles.timeline.breakdown", (f"{_TIMELINE}/test_breakdown.py",)),
    ("breakdown", "kprof_analyzers.profiles.timeline.occupation", (f"{_TIMELINE}/test_occupation.py",)),
    ("breakdown", "kprof_analyzers.profiles.timeline.intervals", (f"{_TIMELINE}/test_intervals.py",)),
    ("gate", "kprof.gate.judge", _JUDGE),
    ("gate", "kprof.gate.limits", ("tests/gate/test_limits.py",)),
    ("gate", "kprof.gate.verdict", ("tests/gate/test_verdict.py",)),
    ("gate", "kprof.gate.nearest", ("tests/gate/test_nearest.py", "tests/gate/test_without_baseline.py")),
    ("gate", "kprof.gate.baseline", _JUDGE),
)


def core() -> list[Chosen]:
    """Return the modules behind every answer: occupancy, waits, spills, a trace's breakdown, the gate's verdict."""
    chosen = [Chosen(module, tests, group) for group, module, tests in _CORE]
    spilling = {"spill_in_loop", "spill_outside_loop", "scratch_without_spills"}
    return chosen + [Chosen(c.module, c.tests, "spills") for c in rules() if c.module.rpartition(".")[2] in spilling]


_REST = (
    ("boundary", "kprof.inputs.assignments", "tests/inputs/test_assignments.py"),
    ("boundary", "kprof.inputs.boundary", "tests/inputs/test_boundary.py"),
    ("boundary", "kprof.inputs.csv_records", "tests/inputs/test_csv_records.py"),
    ("boundary", "kprof.inputs.opening", "tests/inputs/test_opening.py"),
    ("boundary", "kprof.inputs.plain_files", "tests/inputs/test_plain_files.py"),
    ("boundary", "kprof.inputs.source_path", "tests/inputs/test_source_path.py"),
    ("boundary", "kprof.inputs.supplied_values", "tests/inputs/test_supplied_values.py"),
    ("boundary", "kprof.inputs.triton_metadata", "tests/inputs/test_triton_metadata.py"),
    ("boundary", "kprof.inputs.rocprof.plausible", "tests/inputs/rocprof/test_plausible.py"),
    ("what goes out", "kprof.output.csv_cells", "tests/output/test_sink.py"),
    ("what goes out", "kprof.output.redacting", "tests/output/test_redacting.py"),
    ("what goes out", "kprof.output.sink", "tests/output/test_sink.py"),
    ("what goes out", "kprof.output.writing", "tests/output/test_writing.py"),
    ("cache", "kprof.cache.content", "tests/cache/test_content.py"),
    ("cache", "kprof.cache.entries", "tests/cache/test_entries.py"),
    ("cache", "kprof.cache.folders", "tests/cache/test_folders.py"),
    ("cache", "kprof.cache.inventory", "tests/cache/test_inventory.py"),
    ("cache", "kprof.cache.keys", "tests/cache/test_keys.py"),
    ("cache", "kprof.cache.limits", "tests/cache/test_limits.py"),
    ("cache", "kprof.cache.location", "tests/cache/test_location.py"),
    ("cache", "kprof.cache.locks", "tests/cache/test_locks.py"),
    ("cache", "kprof.cache.own", "tests/cache/test_own.py"),
    ("rest of the gate", "kprof.gate.captured", "tests/gate/test_captured.py"),
    ("rest of the gate", "kprof.gate.config", "tests/gate/test_config.py"),
    ("rest of the gate", "kprof_servers.lint_document", "tests/servers/test_lint_document.py"),
    (
        "rest of the gate",
        "kprof.gate.cures",
        "tests/gate/test_cure.py tests/gate/test_cures.py tests/gate/test_edits.py",
    ),
    ("rest of the gate", "kprof.gate.launched", "tests/gate/test_launched.py"),
    ("rest of the gate", "kprof.gate.programs", "tests/gate/test_programs.py tests/gate/test_recorded_programs.py"),
    ("rest of the gate", "kprof.gate.rules", "tests/gate/test_rules.py"),
    ("rest of the gate", "kprof.gate.anchors", "tests/gate/test_anchors.py"),
    ("rest of the gate", "kprof.gate.subject", "tests/gate/test_subject.py"),
    ("rest of the gate", "kprof.gate.subjects", "tests/gate/test_subjects.py"),
    ("rest of the gate", "kprof.gate.toml_place", "tests/gate/test_config.py"),
    ("rest of the gate", "kprof.gate.tries", "tests/gate/test_tries.py"),
    ("rest of the gate", "kprof.gate.coverage_gaps", "tests/gate/test_coverage_gaps.py"),
    (
        "rest of the gate",
        "kprof.recording.files_read",
        "tests/recording/test_files_read.py tests/recording/test_files_sought.py",
    ),
    (
        "rest of the gate",
        "kprof.recording.files_sought",
        "tests/recording/test_files_read.py tests/recording/test_files_sought.py",
    ),
    ("what rules share", "kprof_analyzers.rules.about", "tests/rules/test_about.py"),
    ("what rules share", "kprof_analyzers.rules.finding_instructions", "tests/rules/test_finding_instructions.py"),
    ("what rules share", "kprof_analyzers.rules.levers", "tests/rules/test_levers.py"),
    ("containment", "kprof.api.live.containment.call_filter", "tests/containment/test_call_filter.py"),
    ("containment", "kprof.api.live.containment.guarding", "tests/containment/test_guarding.py"),
    ("containment", "kprof.api.live.containment.places", "tests/containment/test_places.py"),
    ("permission", "kprof.importing.permission", "tests/importing/test_permission.py"),
    ("model", "kprof_analyzers.model.queues", "tests/analyzers/model/test_queues.py"),
    ("model", "kprof_analyzers.model.reuse", "tests/analyzers/model/test_reuse.py"),
    ("what is told apart", "kprof_analyzers.model.certainty", "tests/analyzers/model/test_certainty.py"),
    ("what is told apart", "kprof.tuning.candidates", "tests/tuning/test_candidates.py"),
)


def rest() -> list[Chosen]:
    """Return modules of input and output, the cache, the rest of the gate, rules' shared code, and shorter times."""
    return [Chosen(module, tuple(tests.split()), group) for group, module, tests in _REST]


_MEMORY = "analyzers/memory"


def _model(names: str) -> str:
    """Return files of the time model's tests, given their names only."""
    return " ".join(f"analyzers/model/{name}" for name in names.split())


# Group, module, files of tests below ``tests`` without ``test_`` and suffix, and rules whose cases are tests too.
_SAMPLED = (
    ("time model", "kprof_analyzers.model.access_lines", _model("access_lines"), ""),
    ("time model", "kprof_analyzers.model.address_work", _model("address_work"), ""),
    ("time model", "kprof_analyzers.model.arithmetic", _model("arithmetic"), ""),
    ("time model", "kprof_analyzers.model.branches", _model("branches"), ""),
    ("time model", "kprof_analyzers.model.caches_before", _model("conditions"), ""),
    ("time model", "kprof_analyzers.model.comparisons", _model("mask_comparisons masks"), ""),
    ("time model", "kprof_analyzers.model.contention", _model("contention"), ""),
    ("time model", "kprof_analyzers.model.effects", _model("model_effects"), ""),
    ("time model", "kprof_analyzers.model.entries", _model("loop_entries taken trips whiles"), ""),
    ("time model", "kprof_analyzers.model.executed", _model("executed_instructions"), ""),
    ("time model", "kprof_analyzers.model.executions", _model("executions"), ""),
    ("time model", "kprof_analyzers.model.explain", _model("explained_time write_backs"), ""),
    ("time model", "kprof_analyzers.model.fetched", _model("fetched"), ""),
    ("time model", "kprof_analyzers.model.gains", _model("costs_of_findings write_backs"), ""),
    (
        "time model",
        "kprof_analyzers.model.kernel",
        _model("kernel_in_parts kernel_traffic predict simulate sharing matrix_share conditions roofline followed"),
        "",
    ),
    ("time model", "kprof_analyzers.model.launch", _model("launch"), ""),
    ("time model", "kprof_analyzers.model.lds", _model("lds_conflicts"), ""),
    ("time model", "kprof_analyzers.model.machine", _model("model_machine"), ""),
    ("time model", "kprof_analyzers.model.masks", _model("masks"), ""),
    ("time model", "kprof_analyzers.model.memory", _model("memory"), ""),
    ("time model", "kprof_analyzers.model.occupancy_gain", _model("occupancy_gain roofline"), ""),
    ("time model", "kprof_analyzers.model.outline", _model("outline"), ""),
    ("time model", "kprof_analyzers.model.overlaps", _model("overlaps"), ""),
    ("time model", "kprof_analyzers.model.passing", _model("passing"), ""),
    ("time model", "kprof_analyzers.model.per_element", _model("per_element"), ""),
    ("time model", "kprof_analyzers.model.program", _model("translated_operations simulate"), ""),
    ("time model", "kprof_analyzers.model.ranges", _model("ranges"), ""),
    ("time model", "kprof_analyzers.model.remembered", _model("remembered"), ""),
    ("time model", "kprof_analyzers.model.runs", _model("runs matrix_share"), ""),
    ("time model", "kprof_analyzers.model.scalars", _model("scalars"), ""),
    ("time model", "kprof_analyzers.model.setting", _model("simulated_units"), ""),
    ("time model", "kprof_analyzers.model.simulate", _model("simulated_units simulate"), ""),
    ("time model", "kprof_analyzers.model.slow_ways", _model("slow_ways"), ""),
    ("time model", "kprof_analyzers.model.steps", _model("laid_out_steps"), ""),
    ("time model", "kprof_analyzers.model.taken", _model("taken"), ""),
    ("time model", "kprof_analyzers.model.timed", _model("timed"), ""),
    ("time model", "kprof_analyzers.model.traffic", _model("traffic wraps"), ""),
    ("time model", "kprof_analyzers.model.trips", _model("loop_trips executions"), ""),
    ("time model", "kprof_analyzers.model.values", _model("values"), ""),
    ("time model", "kprof_analyzers.model.wave_timeline", _model("wave_timeline"), ""),
    ("time model", "kprof_analyzers.model.whiles", _model("whiles"), ""),
    ("time model", "kprof_analyzers.model.wraps", _model("wraps"), ""),
    ("time model", "kprof_analyzers.model.write_backs", _model("write_backs"), ""),
    ("difference", "kprof.diffing.comparing", "diffing/comparing diffing/predicted_times", ""),
    ("difference", "kprof.diffing.facts", "diffing/facts diffing/predicted_times", ""),
    ("difference", "kprof.diffing.kernels", "diffing/kernels diffing/comparing diffing/predicted_times", ""),
    ("difference", "kprof.diffing.limits", "diffing/limits", ""),
    ("difference", "kprof.diffing.loops", "diffing/loops diffing/pairing", ""),
    ("difference", "kprof.diffing.pairing", "diffing/pairing diffing/comparing", ""),
    (
        "difference",
        "kprof.diffing.rating",
        "diffing/rating diffing/kernels diffing/compare diffing/predicted_times",
        "",
    ),
    ("difference", "kprof.diffing.reading", "diffing/reading", ""),
    ("difference", "kprof.diffing.source_lines", "diffing/source_lines", ""),
    ("what may run", "kprof.api.live.reach", "api/live/reach", ""),
    ("what may run", "kprof.importing.dependencies", "importing/dependencies", ""),
    ("what may run", "kprof.importing.functions", "importing/functions", ""),
    ("what may run", "kprof.importing.loading", "importing/loading", ""),
    ("what may run", "kprof.importing.plain_functions", "importing/plain_functions", ""),
    ("what may run", "kprof.importing.wrappers", "importing/wrappers", ""),
    ("what may run", "kprof.importing.written_functions", "importing/written_text importing/written_functions", ""),
    ("what may run", "kprof.targets.target", "targets/target", ""),
    ("findings", "kprof_analyzers.causes", "analyzers/causes", ""),
    ("findings", "kprof_analyzers.suppressions", "analyzers/suppressions", ""),
    (
        "findings",
        "kprof_analyzers.memory.addressing",
        f"{_MEMORY}/addressing {_MEMORY}/alignment",
        "global_memory.stride_of_512 layouts.transposed_operand",
    ),
    (
        "findings",
        "kprof_analyzers.memory.alignment",
        f"{_MEMORY}/alignment {_MEMORY}/addressing {_MEMORY}/narrowness",
        "",
    ),
    ("findings", "kprof_analyzers.memory.bank_conflicts", f"{_MEMORY}/bank_simulation", ""),
    (
        "findings",
        "kprof_analyzers.memory.dataflow",
        f"{_MEMORY}/dataflow {_MEMORY}/addressing",
        "layouts.double_lds_use layouts.not_pipelined",
    ),
    (
        "findings",
        "kprof_analyzers.memory.linear_layout",
        f"{_MEMORY}/layout_formulas {_MEMORY}/linear_layout",
        "layouts.convert_in_loop lds.bank_conflicts",
    ),
    ("findings", "kprof_analyzers.memory.moving_tiles", f"{_MEMORY}/moving_tiles", ""),
    (
        "findings",
        "kprof_analyzers.memory.narrowness",
        f"{_MEMORY}/narrowness",
        "global_memory.narrow_global_load global_memory.narrow_global_store global_memory.gapped_access",
    ),
    (
        "findings",
        "kprof_analyzers.memory.shared_offsets",
        f"{_MEMORY}/offset_formulas {_MEMORY}/shared_offsets",
        "lds.bank_conflicts layouts.transposed_operand",
    ),
    ("findings", "kprof_analyzers.registers.liveness", "analyzers/registers/liveness", ""),
    ("findings", "kprof_analyzers.registers.pressure", "analyzers/registers/pressure", ""),
    ("right results", "kprof.bench.compare", "bench/compare", ""),
    ("right results", "kprof.bench.values", "bench/values", ""),
)


def sampled() -> list[Chosen]:
    """Return further modules behind predictions, verdicts and permissions; ``--each`` draws some mutants of each."""
    return [
        Chosen(module, (*map(_file, files.split()), *_cases(*stems.split())), group)
        for group, module, files, stems in _SAMPLED
    ]


def _file(name: str) -> str:
    folder, _, stem = name.rpartition("/")
    return f"tests/{folder}/test_{stem}.py"


SETS = {"rules": rules, "core": core, "rest": rest, "sampled": sampled}
"""Sets that ``--set`` accepts; the page has a table for each between ``<!-- NAME -->`` and ``<!-- end -->``."""

WHOLE = ("rules", "core", "rest")
"""Sets of which all mutants run, and at least 90 % in each group must be killed; ``--sample`` draws from these."""

PACKAGES = (
    "kprof.gate",
    "kprof.cache",
    "kprof.api.live.containment",
    "kprof.diffing",
    "kprof.importing",
    "kprof.inputs",
    "kprof_analyzers.lane_execution",
    "kprof_analyzers.model",
    "kprof_analyzers.rules",
)
"""Packages in which each module must have a row or be listed in :data:`WITHOUT_ROW`."""

_READER = "a reader of one format: damaged files are tried on it by the hundred thousand, docs/validation/damage.md"
_COMPILED = "its tests compile kernels"
_LANE = "its arithmetic is compared with numpy's, its counts with Python's ranges and with the TTGIR of bundled kernels"
_SINCE = "its answers are compared with Triton's own keys over commits of AITER: docs/validation/since.md"
WITHOUT_ROW = {
    "kprof_analyzers.lane_execution": _LANE,
    "kprof.inputs.amdgcn.arguments": _LANE,
    "kprof_analyzers.model.code_accesses": "uses addresses that tests compare with a formula for every lane",
    "kprof.api.live.containment.calls": "numbers of calls, which tests/containment/test_call_filter.py tries",
    "kprof.api.live.containment.kernel": "calls of the kernel by number: tests/containment/test_places.py asks it",
    "kprof.diffing.analysis": _COMPILED,
    "kprof.diffing.compiled_sides": _COMPILED,
    "kprof.diffing.document": "declares the document",
    "kprof.diffing.programs": _COMPILED,
    "kprof.diffing.revision": "asks git, in repositories that tests/diffing/test_since.py makes",
    "kprof.diffing.sides": _COMPILED,
    "kprof.diffing.since": _SINCE,
    "kprof.importing.code_graph": _SINCE,
    "kprof.importing.definitions": _SINCE,
    "kprof.importing.launches": _COMPILED,
    "kprof.importing.uses": _COMPILED,
    "kprof.importing.without_gpu": _COMPILED,
    "kprof.gate.first_files": "writes templates: tests/gate/test_first_contact.py uses each of them as a user would",
    "kprof.inputs.completeness": "each fault has a faulty and a sound trace in tests/inputs/test_completeness.py",
    "kprof.inputs.gpu_report": _READER,
    "kprof.inputs.predicted_traces": "one search for a mark, which tests/cli/test_trace.py asks for both ways",
    "kprof.inputs.garbage_collection": "answers are the same without it, and come later",
    "kprof.inputs.llvm_ir": _READER,
    "kprof.inputs.mangled": "what it cannot read stays as it was; what it writes is compared with c++filt",
    "kprof.inputs.model_config": _READER,
    "kprof.inputs.perfetto": _READER,
    "kprof.inputs.protobuf": "its readers are tested on messages written byte by byte",
    "kprof.inputs.tunableop": _READER,
    "kprof.inputs.weight_format": _READER,
    "kprof.inputs.xplane": _READER,
    **{
        f"kprof.inputs.{package}": _READER
        for package in ("amdgcn", "code_object", "mlir", "results", "rocprof", "thread_trace", "torch_profiler")
    },
    "kprof_analyzers.rules.lds_passes": "its test needs Triton's compiler",
    "kprof_analyzers.rules.page": "what reads the pages of the tests' own cases",
    "kprof_analyzers.rules.rule": "the form of a rule; without it no case of any rule can be read",
}
"""Modules, or whole packages, without a row in any table, with the reasons."""
