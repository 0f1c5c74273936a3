"""On the page that is mailed: source beside TTGIR and instructions, and findings that lead to their instructions."""

import re
from pathlib import Path

import pytest

import kprof
from kprof.details import CodeBlock, CodeLine, Details, IrLine
from kprof.reporters.html.findings import links_of
from kprof.reporters.html.listing import code_listing, ir_listing
from kprof.reporters.html.smaller import smaller
from kprof_analyzers.details.listing import SourceText, source_beside_code
from kprof_analyzers.pipeline import facts_of as facts_of_loaded
from kprof_analyzers.rules import rules
from kprof_analyzers.rules.finding_instructions import instructions_of, subject_of
from tests.rules.literate import cases, facts_of

FIRING = [case for case in cases() if case.fires and case.language == "asm"]


class _Kernel:
    """What the links need of a document."""

    def __init__(self, findings):
        self.findings = findings


@pytest.mark.parametrize("case", FIRING, ids=lambda case: case.name)
def test_every_rules_finding_lands_on_its_instructions(case):
    """Each anchor is on the page once, and is the very instruction."""
    rule = next(r for r in rules() if type(r).__module__.endswith(f".{case.file.parent.name}.{case.file.stem}"))
    facts = facts_of(case)
    findings = rule.analyze(facts).findings
    landings = [instructions_of(facts.program, subject_of(finding)) for finding in findings]
    _, blocks = source_beside_code(facts, None, SourceText())
    links = links_of(_Kernel(findings), Details(blocks=blocks, landings=landings), "k1")
    page = str(code_listing(blocks, "k1", {at for found in landings for at in found}))
    for finding, landed in zip(findings, landings, strict=True):
        assert links.instructions[id(finding)] == landed[:200]
        for at in landed[:200]:
            (text,) = re.findall(rf'<em id="k1-i{at}">(.*?)</em>', page, re.DOTALL)
            shown = re.sub(r"<[^>]*>", "", text)
            assert facts.program.instructions[at].opcode.name.split("_e32")[0] in shown


def test_what_the_page_leaves_out_is_no_link():
    """Instructions that a small page has no room for have no anchor, so nothing leads to one."""

    class Finding:
        pass

    finding = Finding()
    blocks = [
        CodeBlock("a", "", 0, [CodeLine("s_nop 0", "other", position=0), CodeLine("s_nop 1", "other", position=1)])
    ]
    whole = Details(blocks=blocks, landings=[[0, 1]])
    assert links_of(_Kernel([finding]), whole, "k1").instructions == {id(finding): [0, 1]}
    for less in smaller(whole):
        shown = {line.position for block in less.blocks for line in block.code}
        found = links_of(_Kernel([finding]), less, "k1").instructions.get(id(finding), [])
        assert set(found) <= shown


def test_ir_lines_are_text_with_their_source_lines():
    lines = [IrLine(1, "a < b", (0, 7)), IrLine(2, "c", (0, 7)), IrLine(3, "d")]
    assert str(ir_listing(lines)) == ('<span data-l="0-7" data-n="7">    1  a &lt; b\n    2  c\n</span>    3  d\n')


@pytest.mark.triton
def test_the_page_of_a_compiled_kernel(tmp_path):
    """Source, TTGIR and instructions of one line have one mark; a finding's link leads into the instructions."""
    found = kprof.analyze("flash_attention", arch="gfx942", config={"BLOCK_N": 32})
    page = found.to_html()
    (one,) = found.programs
    source = next(number for number, text in enumerate(one.loaded.stages["ttgir"].splitlines()) if "tt.dot" in text)
    assert source
    marks = re.findall(r'<pre class="pane isa ir".*?</pre>', page, re.DOTALL)
    assert len(marks) == 1
    line = re.search(r'<span data-l="(\d+-\d+)"[^>]*>[^<]*tt\.dot', marks[0])
    assert line
    # The source's row, and the products among the instructions.
    assert f'<tr id="k1-{line[1]}" data-l="{line[1]}"' in page
    assert re.search(rf'<span[^>]* data-l="{line[1]}"[^>]*>[^§]*?v_mfma', page.partition('class="pane isa" ')[2])
    for anchor in re.findall(r'class="go" href="#(k1-i\d+)"', page):
        assert f'<em id="{anchor}">' in page
    assert 'class="go"' in page
    facts = facts_of_loaded(one.loaded)[0]
    assert {int(at) for at in re.findall(r'<em id="k1-i(\d+)"', page)} <= set(range(len(facts.program.instructions)))


def test_more_room_shows_more(tmp_path):
    """``max_size`` is the way to what a page of 1 MB leaves out."""
    assembly = Path(__file__).parents[1] / "artifacts" / "gfx942" / "matmul.triton-3.9.0.amdgcn"
    found = kprof.analyze(*[assembly] * 3, arch="gfx942")
    small, whole = found.to_html(0.06), found.to_html(0)
    assert len(small) < 70_000 < len(whole)
    assert "<code>--max-size 0</code> shows all" in small or "to keep the page small" in small
    assert "to keep the page small" not in whole
    assert whole.count('<section class="kernel"') == 3
