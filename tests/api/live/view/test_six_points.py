"""The page's six points in a browser, each on attention, on a matrix product and on a captured kernel."""

import re
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import kprof
from tests.api.live.view import test_page
from tests.api.live.view.conftest import ASSEMBLY, Viewed
from tests.api.live.view.test_measured import write_trace
from tests.api.live.view.test_page import CAPTURE, answered, browser, figure, filled, lit, opened

__all__ = ["browser", "opened"]

pytestmark = test_page.pytestmark
expect = test_page.expect
KERNELS = ["flash_attention", "gemm", "capture"]


@pytest.fixture(
    scope="module", params=[pytest.param(one, marks=[pytest.mark.triton] * (one != "capture")) for one in KERNELS]
)
def shown(request: Any, view: Callable[..., Viewed], tmp_path_factory: pytest.TempPathFactory) -> tuple[str, Viewed]:
    """A page, with a thread trace of the very instructions that it shows."""
    name, folder = request.param, tmp_path_factory.mktemp(request.param)
    if name == "capture":
        shutil.copytree(CAPTURE, folder / "capture")
        (listing,) = (folder / "capture").rglob("kernel.amdgcn")
    else:
        kprof.analyze(name, arch="MI300X", dump=folder / "stages")
        (listing,) = (folder / "stages").rglob("*.amdgcn")
    write_trace(folder / "trace.csv", listing)
    return name, view(name, "--arch", "MI300X", "--thread-trace", "trace.csv", folder=folder)


def in_sight(page: Any) -> None:
    """Until a lit line of the second pane is inside what it shows."""
    page.wait_for_function(
        """() => {
          const pane = document.querySelector("#pane-1 .lines").getBoundingClientRect();
          return [...document.querySelectorAll("#pane-1 .row.lit")].some((row) => {
            const { top, bottom } = row.getBoundingClientRect();
            return top >= pane.top - 1 && bottom <= pane.bottom + 1;
          });
        }""",
    )


def test_knobs(shown, opened):
    """Turning one answers with new figures and a row; what was recorded has none, and says so."""
    name, server = shown
    page = opened(server)
    if name == "capture":
        assert page.locator("#knob-list label").count() == 0
        assert "it has no knobs" in page.inner_text("#knob-note")
        return
    before = [figure(page, each) for each in ("Time", "VGPRs", "LDS")]
    chosen = page.locator("#knob-num_warps option:checked").inner_text()
    page.select_option("#knob-num_warps", label="4" if chosen.startswith("8") else "8")
    filled(page, 2)
    answered(page)
    assert [figure(page, each) for each in ("Time", "VGPRs", "LDS")] != before
    expect(page.locator("#knob-list .changed")).to_have_count(1)
    # Back, from memory.
    page.click("#reset")
    filled(page, 3)
    assert [figure(page, each) for each in ("Time", "VGPRs", "LDS")] == before


def test_panes(shown, opened):
    """A line lights what comes from it in every stage that there is; an instruction tells what it waits for."""
    name, server = shown
    page = opened(server)
    stages = [
        one
        for one in ("ttir", "ttgir", "llir", "amdgcn")
        if page.locator(f"#pane-1 option[value={one}]:enabled").count()
    ]
    assert "amdgcn" in stages
    assert name == "capture" or len(stages) == 4
    page.select_option("#pane-0 select", "ttgir")
    # Keys before the listing is there move nothing.
    page.wait_for_selector("#pane-0[data-stage=ttgir]:not([aria-busy])")
    products = page.locator("#pane-0 .row", has_text=re.compile(r"tt\.dot|amdg\.buffer_load|tt\.load"))
    page.locator("#pane-0 .lines").focus()
    for _ in range(60):
        if products.count():
            break
        page.keyboard.press("PageDown")
    assert products.count()
    products.first.click()
    for stage in stages:
        page.select_option("#pane-1 select", stage)
        in_sight(page)
    page.select_option("#pane-1 select", "amdgcn")
    in_sight(page)
    assert any(
        "line" in (row.get_attribute("title") or "") or ":" in (row.get_attribute("title") or "")
        for row in page.locator("#pane-1 .row.lit").all()
    )
    strip = page.locator("#pane-1 .row s").all_inner_texts()
    assert any(text.strip().isdigit() for text in strip)


def test_where_the_time_goes(shown, opened):
    """Causes, findings that lead to their instructions, and the wavefronts drawn."""
    _, server = shown
    page = opened(server)
    assert page.locator("#causes .share").count() > 0
    buttons = page.locator("#finding-list button")
    for at in range(buttons.count()):
        # Forget where the one before led.
        page.evaluate(
            """() => {
              document.querySelector("#status").textContent = "";
              for (const row of document.querySelectorAll("#pane-1 .row.at")) row.classList.remove("at");
            }"""
        )
        buttons.nth(at).click()
        page.wait_for_function(
            """() => document.querySelector("#pane-1 .row.at") || document.querySelector("#status").textContent"""
        )
        if page.locator("#pane-1 .row.at").count():
            expect(page.locator("#pane-1 .row.at")).to_be_in_viewport()
            assert lit(page, 1)
        else:
            assert "no single instruction" in page.inner_text("#status")
    page.click("#timeline-open summary")
    page.wait_for_selector("#timeline-open[data-turn]")
    assert int(page.get_attribute("#timeline", "data-to")) > 0
    page.focus("#timeline")
    page.keyboard.press("n")
    assert "wavefront 0" in page.inner_text("#timeline-words")


def test_what_if(shown, opened):
    """Occupancy with other amounts is that of ``kprof occupancy``; the roofline where the launch is known."""
    _, server = shown
    page = opened(server)
    page.locator("#if-vgpr").fill("64")
    page.locator("#if-lds").fill("0")
    warps = int(
        page.input_value("#if-num_warps")
        if page.locator("#if-num_warps").count()
        else page.locator("#sliders input").nth(2).input_value()
    )
    found = kprof.occupancy(arch="MI300X", vgpr=64, lds=0, num_warps=warps)
    expect(page.locator("#what-if-words")).to_have_text(
        re.compile(rf"^{found.waves_per_simd:g} of 8 waves a SIMD"), timeout=30_000
    )
    assert page.locator("#curves svg polyline").count() == 2
    assert page.locator("#roofline .mine").count() == page.locator("#roofline-levels tr").count()


def test_tried(shown, opened):
    """Each answer a row; two pinned ones are compared, in figures and line by line."""
    name, server = shown
    page = opened(server)
    if name == "capture":
        expect(page.locator("#tried-table tbody tr")).to_have_count(1)
        return
    page.select_option("#knob-num_warps", label="2")
    filled(page, 2)
    answered(page)
    rows = page.locator("#tried-table tbody tr")
    # They come with the news of an answer, after the answer itself.
    expect(rows.nth(1)).to_be_visible()
    pins = page.locator("#tried-table input")
    pins.nth(0).check()
    pins.nth(rows.count() - 1).check()
    expect(page.locator("#changes li").first).to_be_visible(timeout=60_000)
    page.click("[data-difference=ttgir]")
    expect(page.locator(".difference tr.changed").first).to_be_visible(timeout=60_000)
    page.click("#copy")
    assert "triton.Config(" in page.inner_text("#copied")


def test_measured(shown, opened):
    """The thread trace stands beside the model on the same lines."""
    _, server = shown
    page = opened(server)
    assert "thread trace" in page.inner_text("#measured-words")
    assert page.locator("#measured-lines tbody tr").count() >= 1
    expect(page.locator("#pane-1 .heat.both").first).to_be_attached()


def test_a_long_listing_scrolls_and_links_without_a_stall(view, opened, tmp_path):
    """20,000 lines: no step takes the page more than 100 ms of its own processor time."""
    text = ASSEMBLY.read_text()
    body = re.search(r"(?ms)^\s+\.loc.*?(?=^\s+s_endpgm)", text)
    assert body
    instructions = [line for line in body[0].splitlines() if re.match(r"\s+[a-z]\w+_", line)]
    count = 20_000 // len(instructions) + 1
    (tmp_path / "k.amdgcn").write_text(text.replace(body[0], body[0] * count))
    page = opened(view("k.amdgcn", folder=Path(tmp_path)))
    client = page.context.new_cdp_session(page)
    client.send("Performance.enable", {"timeDomain": "threadTicks"})

    def busy() -> float:
        metrics = client.send("Performance.getMetrics")["metrics"]
        return next(one["value"] for one in metrics if one["name"] == "TaskDuration")

    pane = "#pane-1 .lines"
    assert page.locator(pane).evaluate("view => view.scrollHeight") > 18 * 19_000
    steps = []
    for share in (0.1, 0.35, 0.6, 0.98, 0.2, 0.5):
        before = busy()
        scroll = (
            f"view.scrollTop = {share} * view.scrollHeight; requestAnimationFrame(() => requestAnimationFrame(go));"
        )
        page.locator(pane).evaluate(f"view => new Promise((go) => {{ {scroll} }})")
        steps.append(busy() - before)
    for _ in range(3):
        before = busy()
        page.focus(pane)
        page.keyboard.press("PageDown")
        page.wait_for_selector("#pane-1 .row.at")
        page.evaluate("new Promise((go) => requestAnimationFrame(() => requestAnimationFrame(go)))")
        steps.append(busy() - before)
    assert max(steps) < 0.1, steps
