"""A comparison on the terminal, as Markdown and as JSON."""

import io
import json
import re
from pathlib import Path

import jsonschema
import msgspec
import pytest
from rich.console import Console

from kprof.api.schema import schema_of
from kprof.diffing.comparing import Input, diff
from kprof.diffing.document import Diff, Explanation, TriedChange
from kprof.diffing.limits import DiffLimits
from kprof.document import KernelReport, LoopFacts, Occupancy, Resources, Specialization
from kprof.findings import Location
from kprof.reporters import diff_markdown, json_document
from kprof.reporters.diff_text import DiffTextReporter

NASTY = "evil|`@everyone`\x1b[31m<b>[red]"


def entry(name: str = "gemm", spills: int = 0, lds: int = 65536, triton: str = "3.9.0") -> KernelReport:
    loop = LoopFacts(".L1", 1, {"/src/gemm.py": (93, 103)}, {"v_add_f32": 90}, spill_accesses=spills // 16, hot=True)
    return KernelReport(
        name=name,
        arch="gfx950",
        triton=triton,
        source=Location("/src/gemm.py", 40),
        specialization=Specialization(constexprs={"BLOCK_M": 256, "note": NASTY}, options={"num_warps": 8}),
        resources=Resources(vgpr_spills=spills, lds_bytes=lds, vgpr_allocated=256, scratch_bytes=2 * spills),
        occupancy=Occupancy(2.0, 8, 1, "vgpr", {}),
        loops=[loop],
        instructions={"v_add_f32": 100},
    )


def three() -> Diff:
    """A kernel that spills with the third Triton, explained."""
    numbers = (("3.4.0", 0, 65536), ("3.6.0", 0, 65536), ("3.9.0", 129, 133088))
    sides = [Input(version, [entry(spills=n, lds=lds, triton=version)]) for version, n, lds in numbers]
    switch = {"TRITON_HIP_USE_ASYNC_COPY": "0"}
    figures = {"vgpr_spills": (0, 129, 0), "loop_spills": (0, 8, 0), "lds_bytes": (65536, 133088, 65536)}
    cause = TriedChange(switch, {"TRITON_HIP_USE_ASYNC_COPY": None}, figures, ["vgpr_spills"], cured=True)
    cure = TriedChange({"num_stages": 1}, {"num_stages": 2}, figures, cured=True, price=["waves per SIMD 2 to 1"])
    why = Explanation(1, 2, "async copy: 0 to 129 VGPRs spilled", [cause], [cure], tried=26, seconds=12.0)
    return diff(sides, DiffLimits(), {0: why})


def text(document: Diff, width: int = 100, verbose: int = 0) -> str:
    stream = io.StringIO()
    DiffTextReporter(Console(file=stream, width=width, highlight=False), verbose).show(document)
    return stream.getvalue()


def test_the_terminal_shows_values_of_all_sides_cause_and_cure() -> None:
    lines = text(three(), 120).splitlines()
    assert lines[0] == "gemm   gfx950   Triton 3.4.0 → 3.6.0 → 3.9.0"
    shown = [" ".join(line.split()) for line in lines]
    assert "error spill accesses per iteration 0 → 0 → 8 line 93-103 hot" in shown
    assert "warning VGPRs spilled 0 → 0 → 129" in shown
    assert "note LDS bytes per workgroup 65,536 → 65,536 → 133,088" in shown
    assert "worse; first 3.6.0 → 3.9.0" in shown
    assert "Why async copy: 0 to 129 VGPRs spilled" in shown
    assert "cause 0 0 65,536 2 256 TRITON_HIP_USE_ASYNC_COPY=0" in shown
    assert "fix 0 0 65,536 2 256 num_stages=1 at the price of: waves per SIMD 2 to 1" in shown
    assert lines[-1].startswith("regression: 1 of 1 kernel worse with 3.9.0; gemm on gfx950, 3.6.0 to 3.9.0")


@pytest.mark.parametrize("width", [60, 80, 160])
def test_tables_keep_to_the_width(width: int) -> None:
    table = text(three(), width).split("\n\n")[1]
    assert all(len(line) <= width for line in table.splitlines())
    assert "129" in table


def test_names_from_elsewhere_do_nothing_to_terminal_or_comment() -> None:
    document = diff([Input("a", [entry(NASTY)]), Input(NASTY, [entry(NASTY, spills=9)])], DiffLimits())
    shown = text(document, verbose=2)
    assert "\x1b" not in shown
    assert "[red]" in shown
    comment = diff_markdown.render(document)
    assert "\x1b" not in comment
    assert "<b>" not in re.sub(r"`[^`]*`", "", comment)
    assert not re.search(r"(?<![&#\w`'])@everyone", re.sub(r"`[^`]*`", "", comment))


def test_many_kernels_are_counted_and_only_the_harmed_shown() -> None:
    names = [f"kernel_{n}" for n in range(60)]
    old = Input("old", [entry(name) for name in names])
    new = Input("new", [entry(name, spills=32 * (n < 25)) for n, name in enumerate(names)])
    shown = text(diff([old, new], DiffLimits()))
    assert "60 kernels: 25 worse, 35 same" in shown
    assert len(re.findall(r"^kernel_\d+", shown, re.MULTILINE)) == 20
    assert "5 more are worse: -v shows them" in shown
    assert len(re.findall(r"^kernel_\d+", text(diff([old, new], DiffLimits()), verbose=1), re.MULTILINE)) == 25


def test_nothing_but_the_verdict_when_all_is_the_same() -> None:
    lines = text(diff([Input("a.json", [entry()]), Input("b.json", [entry()])], DiffLimits())).strip().splitlines()
    assert lines[-1] == "ok: no kernel is worse from a.json to b.json: 1 same"
    assert len(lines) <= 4


def test_the_json_keeps_to_its_schema_and_reads_back() -> None:
    document = three()
    written = json_document.encoded(document)
    jsonschema.validate(json.loads(written), schema_of("diff"))
    assert msgspec.json.decode(written, type=Diff) == document
    published = Path(__file__).parents[2] / "docs/schema/diff-1.json"
    assert json.loads(published.read_text()) == json.loads(json.dumps(schema_of("diff")))


def test_the_comment_has_the_table_and_keeps_to_its_size() -> None:
    comment = diff_markdown.render(three())
    assert comment.startswith("### ❌ kprof: regression")
    assert "| | | warning | VGPRs spilled | 0 → 0 → 129 |  |" in comment
    assert "| cause: `TRITON_HIP_USE_ASYNC_COPY=0` | 0 | 0 | 65,536 | 2 | 256 |  |" in comment
    names = [f"kernel_{n}" for n in range(300)]
    many = diff([Input("a", [entry(n) for n in names]), Input("b", [entry(n, spills=40) for n in names])], DiffLimits())
    short = diff_markdown.render(many, limit=5000)
    assert len(short) <= 5000
    assert re.search(r"\d+ more kernels do not fit here", short)
    assert diff_markdown.render(many).count("`kernel_") > 100
