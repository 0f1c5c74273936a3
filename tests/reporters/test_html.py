"""The page: whole HTML with nothing from outside, hostile text stays text, and its size has a limit."""

import base64
import hashlib
import re
from html.parser import HTMLParser

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from kprof.details import CodeBlock, CodeLine, Curve, CurveStep, Details, Picture, SourceFile, SourceLine
from kprof.document import (
    KernelReport,
    LoopFacts,
    LoopPrediction,
    NextStep,
    Occupancy,
    PassChange,
    Prediction,
    Report,
    Resources,
    Specialization,
    Suppressed,
    Verdict,
    WaitDistance,
)
from kprof.findings import Advice, Finding, Location, Severity
from kprof.reporters._ci_findings import RuleHelp
from kprof.reporters.html import LIMIT, HtmlReporter
from kprof.reporters.html.findings import as_html, explanation, what_to_try
from kprof.reporters.html.smaller import size, smaller

HOSTILE = "</script><script>alert(1)</script>\"'><img src=x onerror=alert(2)>{{ 7*7 }}\u202e\x00"
RULE = RuleHelp(
    "KP301",
    "spill-in-loop",
    Severity.ERROR,
    "Registers <spill>.\n\n## Why it matters\nIt is `slow`:\n\n- one\n- two & three\n\n"
    "## What to try\nA smaller `BLOCK_M`.",
)
_VOID = {"meta", "img", "link", "br", "hr", "path", "circle"}


class Page(HTMLParser):
    """A page taken apart: tags must nest, and everything that names something else is kept."""

    def __init__(self, text):
        super().__init__(convert_charrefs=True)
        self.open, self.ids, self.links, self.addresses, self.tags = [], [], [], [], []
        self.text, self.scripts, self.styles = [], [], []
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag, attrs):
        """Remember what the element names."""
        self.tags.append(tag)
        if tag not in _VOID:
            self.open.append(tag)
        for name, value in attrs:
            assert not name.startswith("on"), (tag, name)
            if name == "id":
                self.ids.append(value)
            elif name in {"href", "src"}:
                (self.links if value.startswith("#") else self.addresses).append(value)

    def handle_endtag(self, tag):
        """Elements end in the order in which they began."""
        if tag in _VOID:
            return
        assert self.open, tag
        assert self.open.pop() == tag

    def handle_data(self, data):
        """Text, by where it stands."""
        where = self.open[-1] if self.open else ""
        (self.scripts if where == "script" else self.styles if where == "style" else self.text).append(data)

    @property
    def words(self):
        """Everything to be read."""
        return " ".join(" ".join(self.text).split())


def kernel(name="add", text="plain", **more):
    """A kernel with something in each field of the document."""
    place = Location(file=f"/src/{text}.py", line=12)
    finding = Finding(
        rule="KP301",
        name="spill-in-loop",
        severity=Severity.ERROR,
        message=f"120 VGPRs spilled {text}",
        location=place,
        related=[place],
        evidence={"lines": {text: 3}, "what": [text]},
        advice=[Advice(knob=text, from_=text, to=text, verified={"spills": (5, 0)}, note=text)],
    )
    fields = {
        "product": text,
        "triton": text,
        "source": place,
        "specialization": Specialization(
            signature={text: "*fp16"}, constexprs={"B": text}, options={"num_warps": 4}, environment={text: text}
        ),
        "launch": {"grid": [1, 2, 3], text: text},
        "resources": Resources(
            vgpr=100, sgpr=30, vgpr_allocated=104, vgpr_spills=120, scratch_bytes=None, lds_bytes=32768,
            lds_limit_bytes=65536, num_warps=4, wavefront_size=64,
        ),
        "occupancy": Occupancy(
            waves_per_simd=2, max_waves_per_simd=8, workgroups_per_cu=2, limiter="lds", limits={"lds": 2, "vgpr": 4},
            next_step=NextStep(resource="lds", reduce_by=1024, waves_per_simd=3),
        ),
        "loops": [
            LoopFacts(
                header=text, depth=1, lines={f"/src/{text}.py": (10, 14)}, instructions={"ds_read_b64": 3}, hot=True,
                wait_distances=[WaitDistance(wait="vmcnt(0)", waits_for=text, cycles=12, line=12)],
            )
        ],
        "model": Prediction(
            time_us=100.0, low_us=60.0, high_us=220.0, cycles=2e5, bound="scratch",
            shares={"scratch": 0.7, "matrix": 0.3}, speed_of_light_us=20.0, speed_of_light_percent=20.0,
            loops=[LoopPrediction(text, 4.0, False, text, 500.0, causes={"scratch": 400.0, "lds": 100.0})],
            traffic={"hbm": 5e8}, workgroups=64, clock_mhz=2100, assumptions=[text], notes=[text],
        ),
        "findings": [finding],
        "suppressed": [Suppressed(finding=finding, reason=text)],
        "notes": [text],
        "passes": [PassChange(order=3, pass_=text, stage="ttgir", changed={text: (None, 4)})],
        "coverage": 1.0,
    }  # fmt: skip
    return KernelReport(name=name, arch="gfx942", **{**fields, **more})


def details(text="plain", instructions=40):
    """Source beside instructions, with a loop, and pictures."""
    line = SourceLine(12, f"x = tl.load(p)  # {text}", instructions, 0.6, {"scratch": 0.5, "lds": 0.1}, 3, None)
    code = [
        CodeLine(f"v_add_f32 v{n}, v1, v2 {text}", "valu", (0, 12), 0.6 / instructions) for n in range(instructions)
    ]
    picture = Picture(text, f"<svg xmlns='http://www.w3.org/2000/svg'><title>{text}</title></svg>", text)
    steps = [CurveStep(1, 64, 8, False), CurveStep(65, 128, 4, True), CurveStep(129, 512, 1, False)]
    return Details(
        files=[SourceFile(f"/src/{text}.py", [SourceLine(11, text), line]), SourceFile("/other.py", [], hidden=text)],
        blocks=[CodeBlock(text, "", 0, code[:5]), CodeBlock(".L2", ".L2", 1, code[5:])],
        control_flow=picture,
        layouts=[picture],
        curves=[Curve("vgpr", 100, steps), Curve("lds", 32768, steps[1:2])],
        notes=[text],
    )


def report(*kernels, summary="1 kernel analysed", notes=()):
    """The document of some kernels."""
    return Report(kprof="0.1", kernels=list(kernels), verdict=Verdict("ok", summary), notes=list(notes))


def test_the_first_screen_says_what_holds_the_kernel_back():
    """Verdict, cause, worst finding with its line, limits, time with its range, what to try."""
    text = HtmlReporter({0: details()}, [RULE]).render(report(kernel()))
    page = Page(text)
    for words in (
        "), 70 % of it on register spills.",
        "spill-in-loop: 120 VGPRs spilled",
        "100 µs likely 60.0 µs to 220 µs",
        "20 % of the GPU's limit, 20.0 µs",
        "2 of 8 waves per SIMD, limited by LDS",
        "3 waves need LDS ≤ 31 KiB",
        "A smaller BLOCK_M .",
        "Nothing on this page was measured on a GPU",
    ):
        assert words in page.words, words
    assert page.words.index("What holds it back") < page.words.index("Findings")
    assert '<a href="#k1-0-12">plain.py:12</a>' in text


def test_nothing_comes_from_outside_and_all_links_lead_somewhere():
    """Opens from disk: no address but images in the page itself, every anchor is there once."""
    page = Page(HtmlReporter({0: details(), 1: details()}, [RULE]).render(report(kernel(), kernel("mul"))))
    assert all(address.startswith("data:image/svg+xml,") for address in page.addresses)
    assert page.addresses
    assert len(page.ids) == len(set(page.ids))
    assert {link[1:] for link in page.links} <= set(page.ids)
    assert not re.search(r"@import|url\(", "".join(page.styles))


def test_the_policy_allows_this_script_and_no_other():
    """The hash in the policy is that of the one script; inline handlers do not exist (the parser checks)."""
    text = HtmlReporter({0: details(HOSTILE)}).render(report(kernel(HOSTILE, HOSTILE)))
    page = Page(text)
    (script,) = page.scripts
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    assert f"script-src 'sha256-{digest}'" in text.replace("&#39;", "'")
    assert "default-src 'none'" in text
    assert page.tags.count("script") == 1


def test_hostile_text_stays_text():
    """Markup, template syntax and quotes of names and source are shown, what reverses text is not."""
    text = HtmlReporter({0: details(HOSTILE)}, [RULE]).render(
        report(kernel(HOSTILE, HOSTILE), kernel(HOSTILE, HOSTILE), summary=HOSTILE, notes=[HOSTILE])
    )
    page = Page(text)
    assert "alert" not in "".join(page.scripts)
    assert "onerror" not in "".join(re.findall(r"<[^>]*>", re.sub(r'"[^"]*"', '""', text)))
    assert page.tags.count("img") == 2
    assert "</script><script>alert(1)</script>\"'><img src=x onerror=alert(2)>{{ 7*7 }}" in page.words
    assert "\u202e" not in text
    assert "\x00" not in text
    assert "49" not in re.findall(r"\{\{[^}]*\}\}|49", page.words)


@settings(max_examples=25, suppress_health_check=[HealthCheck.too_slow])
@given(st.text(st.sampled_from("<>&\"'/a{}%\u202e\x00\ud800") | st.characters(), max_size=40))
def test_any_text_anywhere_makes_a_whole_page(text):
    """Whatever names hold, the page nests, can be written, and has the same elements."""
    plain = Page(HtmlReporter({0: details()}, [RULE]).render(report(kernel())))
    page = HtmlReporter({0: details(text)}, [RULE]).render(report(kernel(text, text)))
    page.encode()
    assert Page(page).tags.count("script") == 1
    assert Page(page).tags.count("td") >= plain.tags.count("td") - 2


def test_endless_names_and_lines_are_cut():
    """A kernel name of 5 kB and a line of a megabyte do not fill the page."""
    long = "x" * 1_000_000
    text = HtmlReporter({0: details(long)}, [RULE]).render(report(kernel(long, long)))
    assert len(text) < 200_000
    assert "(1,000,000 characters)" in text
    Page(text)


def test_the_same_kernels_make_the_same_page():
    """Nothing of the run is on the page: neither when nor how long, nor whether it was cached."""
    once = HtmlReporter({0: details()}, [RULE]).render(report(kernel(compile_seconds=1.5, cached=False)))
    again = HtmlReporter({0: details()}, [RULE]).render(report(kernel(compile_seconds=0.1, cached=True)))
    assert once == again


def test_the_worst_kernel_comes_first():
    """Errors before warnings before time; the index links to each."""
    quiet = kernel("quiet", findings=[], model=Prediction(9e6, 8e6, 1e7, 1e9, "matrix", {"matrix": 1.0}))
    slow = kernel("slow", findings=[])
    text = HtmlReporter().render(report(slow, quiet, kernel("bad")))
    assert re.findall(r'<td><a href="#k\d">(\w+)</a>', text) == ["bad", "quiet", "slow"]


@pytest.mark.parametrize(("kernels", "instructions"), [(1, 60_000), (12, 6_000), (150, 30)])
def test_a_page_stays_below_its_limit_and_says_what_is_left_out(kernels, instructions):
    """Instructions give way first, then whole kernels, never the index."""
    entries = [kernel(f"k{number}") for number in range(kernels)]
    known = details(instructions=instructions)
    text = HtmlReporter(dict.fromkeys(range(kernels), known), [RULE]).render(report(*entries))
    assert len(text.encode()) < LIMIT
    page = Page(text)
    assert "to keep the page small" in page.words or "do not fit on a page" in page.words
    if kernels > 1:
        assert page.words.count("1 error") >= kernels


def test_a_document_without_end_makes_a_page_that_has_one():
    """Tens of thousands of findings, causes, loops, notes and kernels: the page says what it leaves out."""
    many = 20_000
    entry = kernel()
    names = {f"n{number}": 1.0 / many for number in range(many)}
    loop = entry.loops[0]
    endless = kernel(
        findings=entry.findings * many, suppressed=entry.suppressed * many, loops=[loop] * many, notes=["note"] * many,
        passes=entry.passes * many, launch=names, pressure={},
        model=Prediction(1.0, 0.5, 2.0, 9.0, "issue", names, traffic=names, assumptions=["a"] * many),
        occupancy=Occupancy(1, 8, 1, "lds", names),
    )  # fmt: skip
    text = HtmlReporter({0: details()}, [RULE]).render(report(endless, notes=["note"] * many))
    assert len(text.encode()) < LIMIT
    assert "19,800 findings" in Page(text).words
    text = HtmlReporter(rules=[RULE]).render(report(*[kernel(f"k{number}") for number in range(1500)]))
    assert len(text.encode()) < LIMIT
    assert "1100 more are in the JSON document only" in Page(text).words


def test_kernels_of_one_name_are_told_apart_by_what_differs():
    """The index shows the knobs that are not alike."""
    specs = [Specialization(constexprs={"BLOCK": size, "SAME": 1}, options={"num_warps": 4}) for size in (64, 128)]
    text = HtmlReporter().render(report(*[kernel(specialization=spec) for spec in specs], kernel("other")))
    index = text[: text.index("</nav>")]
    assert re.findall(r'<span class="knobs">([^<]*)</span>', index) == ["BLOCK=64", "BLOCK=128"]


def test_details_shrink_step_by_step():
    """Each step is no larger than the one before, the last has nothing, and says so."""
    steps = list(smaller(details(instructions=9000)))
    sizes = [size(step) for step in steps]
    assert sizes == sorted(sizes, reverse=True)
    assert sizes[-1] == 0
    kept = [sum(len(block.code) for block in step.blocks) for step in steps]
    assert 4000 in kept
    assert any("4,000 of 9,000 instructions" in note for step in steps for note in step.notes)
    assert "left out" in steps[-1].notes[-1]


def test_a_document_with_nothing_known_is_a_page_too():
    """Absent is not zero: nothing is made up for a kernel of which only the name is known."""
    bare = KernelReport(name="f", arch="gfx0")
    page = Page(HtmlReporter().render(report(bare, KernelReport(name="g", arch="", occupancy=None))))
    assert "Not modelled" in page.words
    assert "Not known: see the remarks." in page.words
    assert "None: straight-line code" in page.words
    Page(HtmlReporter().render(report()))


def test_rule_text_becomes_html():
    """Headings, lists, code; what to try is told apart; everything is escaped."""
    assert as_html("a `b<c` d & e") == "<p>a <code>b&lt;c</code> d &amp; e</p>"
    assert as_html("odd ` tick") == "<p>odd ` tick</p>"
    told = explanation(RULE.help)
    assert told.startswith("<p>Registers &lt;spill&gt;.</p>")
    assert "<ul><li>one</li><li>two &amp; three</li></ul>" in told
    assert "BLOCK_M" not in told
    assert what_to_try(RULE.help) == "<p>A smaller <code>BLOCK_M</code>.</p>"
    assert what_to_try("nothing") == ""


def test_the_documentation_of_a_rule_is_there_once():
    """Another kernel with the same finding links to it."""
    text = HtmlReporter(rules=[RULE]).render(report(kernel(), kernel("mul")))
    assert text.count("About KP301") == 2
    assert text.count('id="rule-KP301"') == 1
    assert '<a href="#rule-KP301">' in text
