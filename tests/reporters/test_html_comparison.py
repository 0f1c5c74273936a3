"""Comparisons as pages: ``kprof diff --html``, and kernels of one name beside each other in ``kprof report``."""

import html
import re
import shutil
from pathlib import Path

import pytest

import kprof
from kprof.document import Prediction, Report, Resources, Specialization, Verdict
from kprof.reporters.html import HtmlReporter
from kprof.reporters.html.charts import cause_name
from kprof.reporters.html.comparison import diff_page, side_by_side
from kprof.reporters.html.parts import script_hash
from tests.reporters.test_diff import NASTY, three
from tests.reporters.test_html import Page, kernel, report


def read(text: str) -> Page:
    return Page(text)


def configured(block: int, us: float | None, spills: int, **more):
    model = Prediction(us, us, us, 1e5, "matrix", {"matrix": 0.75, "scratch": 0.25 if spills else 0.0})
    spec = Specialization(constexprs={"BLOCK": block, "SAME": 1})
    return kernel(specialization=spec, model=model, resources=Resources(vgpr=100, vgpr_spills=spills), **more)


def test_a_diff_page_has_what_the_document_has():
    """Verdict, sides, each change with its values on all sides, and why."""
    diff = three()
    page = read(diff_page(diff))
    assert diff.verdict.summary in page.words
    assert "async copy: 0 to 129 VGPRs spilled" in page.words
    assert "65,536 → 65,536 → 133,088" in page.words
    assert "0 → 0 → 129" in page.words
    assert "3.4.0 → 3.6.0 → 3.9.0" in page.words
    assert {link[1:] for link in page.links} <= set(page.ids)
    assert not [address for address in page.addresses if not address.startswith("data:")]
    assert script_hash() in diff_page(diff)


def test_names_from_elsewhere_stay_text_in_a_diff():
    text = diff_page(three())
    assert "<b>[red]" not in text
    assert html.escape("<b>[red]") in text
    assert "\x1b" not in text
    assert NASTY.partition("\x1b")[0] in html.unescape(text)


def test_configurations_stand_beside_each_other():
    """A column each, named by what differs; the best one of a row stands out, and unknown is not best."""
    kernels = [configured(64, 200.0, 0), configured(128, 100.0, 8), configured(256, None, 0), kernel("other")]
    (group,) = side_by_side(kernels, ["BLOCK=64", "BLOCK=128", "BLOCK=256", ""])
    assert (group.name, group.labels, group.more) == ("add", ["BLOCK=64", "BLOCK=128", "BLOCK=256"], 0)
    rows = {name: (values, best) for name, values, best in group.rows}
    assert rows["predicted time, µs"] == (["200", "100", "?"], [1])
    assert rows["spilled VGPRs"] == (["0", "8", "0"], [0, 2])
    assert rows["VGPRs"] == (["100", "100", "100"], [])
    assert rows[f"time: {cause_name('scratch')}"][0] == ["0 %", "25 %", "0 %"]
    page = read(HtmlReporter().render(report(*kernels)))
    assert "add, 3 side by side" in page.words


def test_two_tritons_are_told_apart():
    kernels = [configured(64, 200.0, 0, triton=version) for version in ("3.6.0", "3.9.0")]
    (group,) = side_by_side(kernels, ["", ""])
    assert group.labels == ["Triton 3.6.0", "Triton 3.9.0"]


def test_the_footer_does_not_deny_what_was_measured():
    plain = HtmlReporter().render(report(kernel()))
    assert "Nothing on this page was measured" in plain


CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)


@pytest.mark.skipif(CHROMIUM is None, reason="this machine has no Chromium")
def test_the_list_is_sorted_and_searched(tmp_path: Path):
    """In a browser, from disk: by time as time and not as text; headings stay in sight."""
    playwright = pytest.importorskip("playwright.sync_api", reason="Playwright is not installed")
    kernels = [configured(64, 20_000.0, 0), configured(128, 900.0, 0), configured(256, 3_000.0, 0)]
    document = Report("1", kernels, Verdict("ok", "3 kernels"))
    path = tmp_path / "page.html"
    path.write_text(HtmlReporter().render(document))
    with playwright.sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        page = browser.new_page()
        complaints: list[str] = []
        page.on("console", lambda message: complaints.append(message.text) if message.type == "error" else None)
        page.goto(path.as_uri())
        page.click("table.index th:has-text('predicted time') button")
        blocks = [re.search(r"BLOCK=(\d+)", row)[1] for row in page.locator("table.index tbody tr").all_inner_texts()]
        assert blocks == ["128", "256", "64"]
        page.fill("input[type=search]", "block=256")
        assert page.locator("table.index tbody tr:visible").count() == 1
        assert page.locator("table.index th").first.evaluate("one => getComputedStyle(one).position") == "sticky"
        assert complaints == []
        browser.close()


@pytest.mark.skipif(CHROMIUM is None, reason="this machine has no Chromium")
def test_source_and_instructions_are_searched(tmp_path: Path):
    """In a browser, from disk: hits are counted and lit, Enter and Shift+Enter go from one to the next, in sight."""
    playwright = pytest.importorskip("playwright.sync_api", reason="Playwright is not installed")
    listing = Path(__file__).parents[1] / "artifacts" / "gfx942" / "matmul.triton-3.9.0.amdgcn"
    path = tmp_path / "page.html"
    path.write_text(kprof.analyze(listing, arch="MI300X").to_html())
    count = path.read_text().partition('class="pane isa"')[2].partition("</pre>")[0].count("s_barrier")
    assert count > 1
    with playwright.sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        page = browser.new_page()
        complaints: list[str] = []
        page.on("console", lambda message: complaints.append(message.text) if message.type == "error" else None)
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.goto(path.as_uri())
        search = page.get_by_label("Search source and instructions")
        said = page.locator("output.found")
        search.fill("S_Barrier")
        assert said.inner_text() == f"{count} found; Enter goes to the next"
        assert page.evaluate("CSS.highlights.get('found').size") == count
        for step, number in (("Enter", 1), ("Enter", 2), ("Shift+Enter", 1), ("Shift+Enter", count)):
            search.press(step)
            assert said.inner_text() == f"{number} of {count}"
            assert page.evaluate(
                """() => {
                  const [hit] = CSS.highlights.get("now");
                  const box = hit.startContainer.parentElement.closest(".pane").getBoundingClientRect();
                  const at = hit.getBoundingClientRect();
                  return hit.toString() === "s_barrier" && at.top >= box.top && at.bottom <= box.bottom;
                }"""
            )
        search.fill("no such thing")
        assert said.inner_text() == "0 found"
        assert complaints == []
        browser.close()
