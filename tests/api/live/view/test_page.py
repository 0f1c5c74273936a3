"""The page in a browser: Chromium of this machine."""

import json
import re
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import kprof
from tests.api.live.view.conftest import ASSEMBLY, Viewed
from tests.api.live.view.test_measured import MATMUL, write_trace

playwright = pytest.importorskip("playwright.sync_api", reason="Playwright is not installed")
expect = playwright.expect
# A busy machine may take long to answer; what never comes is still found.
expect.set_options(timeout=60_000)

CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="this machine has no Chromium")

KERNEL = """\
import triton
import triton.language as tl


@triton.jit
def twice(value):
    return value + value


@triton.jit
def scaled(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + at, mask=at < n)
    tl.store(y_ptr + at, twice(x) * 3.0, mask=at < n)
"""
OPTIONS = (
    "--arch",
    "MI300X",
    "--signature",
    "*fp32:16,*fp32:16,i32:16",
    "--constexpr",
    "BLOCK=1024",
    "--shape",
    "n=65536",
)
CAPTURE = ASSEMBLY.parents[1] / "capture"
HOSTILE = "</script><img src=x onerror=alert(1)>"


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with playwright.sync_playwright() as driver:
        running = driver.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield running
        running.close()


@pytest.fixture
def opened(browser: Any) -> Iterator[Callable[[Viewed], Any]]:
    """Opens a server's page, and fails the test for anything that the page complains of."""
    complaints: list[str] = []
    contexts: list[Any] = []

    def go(server: Viewed, **options: Any) -> Any:
        context = browser.new_context(viewport={"width": 1300, "height": 900}, **options)
        contexts.append(context)
        page = context.new_page()
        page.set_default_timeout(60_000)
        # A refused question is an answer, which Chromium tells of as an error of the network.
        page.on(
            "console",
            lambda m: complaints.append(m.text) if m.type == "error" and "status of 422" not in m.text else None,
        )
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.on("dialog", lambda dialog: complaints.append(dialog.message))
        page.goto(server.address)
        filled(page)
        return page

    yield go
    for context in contexts:
        context.close()
    assert complaints == []


@pytest.fixture(scope="module")
def source(view: Callable[..., Viewed], tmp_path_factory: pytest.TempPathFactory) -> Viewed:
    """The page of a user's own function."""
    folder = tmp_path_factory.mktemp("source")
    (folder / "mine.py").write_text(KERNEL)
    return view("mine.py::scaled", *OPTIONS, folder=folder)


def figure(page: Any, name: str) -> str:
    return page.inner_text(f'[data-figure="{name}"] dd >> nth=0')


def filled(page: Any, turn: int = 1) -> None:
    """Until both panes show the listing of a question, the first of the page or a later one."""
    for pane in (0, 1):
        page.wait_for_selector(f"#pane-{pane}[data-turn='{turn}']:not([aria-busy])")


def answered(page: Any) -> None:
    """Until the question that is asked now is answered; its panes may still wait for their listings."""
    expect(page.locator("#status")).to_have_text(re.compile("answered"), timeout=60_000)


def lit(page: Any, pane: int) -> list[str]:
    return page.locator(f"#pane-{pane} .row.lit").all_inner_texts()


def test_names_are_text(view, opened, tmp_path):
    """A kernel that is named like markup is shown as it is named."""
    text = ASSEMBLY.read_text()
    named = re.sub(r"(?<![\w.])scaled_exp(\.\w+)?\b(?!\.py)", lambda found: f'"{HOSTILE}{found[1] or ""}"', text)
    folder = tmp_path / HOSTILE.replace("/", "")
    folder.mkdir()
    (folder / "k.amdgcn").write_text(named)
    page = opened(view(f"{folder.name}/k.amdgcn", folder=tmp_path))
    assert page.locator("img").count() == 0
    assert HOSTILE in page.inner_text("#kernel >> option >> nth=0") or HOSTILE in page.content().replace(
        "&lt;", "<"
    ).replace("&gt;", ">")
    assert page.locator("#target option").all_inner_texts() == [f"{folder.name}/k.amdgcn"]


def test_a_narrow_dark_screen(assembly, opened):
    """Nothing is wider than 420 px, and it is dark where the system is."""
    page = opened(assembly, color_scheme="dark")
    page.set_viewport_size({"width": 420, "height": 800})
    assert page.evaluate("document.documentElement.scrollWidth") <= 420
    ground = page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert max(map(int, re.findall(r"\d+", ground)[:3])) < 64


def test_the_address_keeps_no_token(assembly, opened):
    """It is gone from the address at once, and the page can be loaded again."""
    page = opened(assembly)
    assert "#" not in page.url
    page.reload()
    filled(page)
    assert page.locator("#error").is_hidden()


def test_without_the_token_the_page_says_so(assembly, browser):
    page = browser.new_page()
    page.goto(assembly.address.partition("#")[0])
    expect(page.locator("#error")).to_have_text(re.compile("the token is missing"))
    page.close()


def test_a_finding_leads_to_its_instructions(view, opened, tmp_path):
    """Each button lights instructions of the assembly, and they are in sight."""
    shutil.copy(ASSEMBLY.with_name("matmul.triton-3.9.0.amdgcn"), tmp_path / "k.amdgcn")
    page = opened(view("k.amdgcn", folder=tmp_path))
    buttons = page.locator("#finding-list button")
    assert buttons.count() > 0
    for number in range(buttons.count()):
        buttons.nth(number).click()
        expect(page.locator("#pane-1 .row.at")).to_be_in_viewport()
        assert lit(page, 1)


@pytest.mark.triton
def test_knobs_lines_and_comparison(source, opened):
    page = opened(source)
    assert figure(page, "Spills") == "0"
    before = figure(page, "VGPRs")

    # A knob: new figures, and a row of its own.
    page.select_option("#knob-BLOCK", label="2048")
    expect(page.locator("#tried-table tbody tr")).to_have_count(2, timeout=60_000)
    answered(page)
    filled(page, 2)
    assert figure(page, "VGPRs") != before
    page.click("#copy")
    copied = page.inner_text("#copied")
    assert '"BLOCK": 2048' in copied
    assert "num_warps=4" in copied
    page.click("#copy-command")
    assert "--constexpr BLOCK=2048" in page.inner_text("#copied")

    # Two rows: what differs.
    for pin in page.locator("#tried-table input").all():
        pin.check()
    assert page.locator('[data-compare="VGPRs"] td').nth(2).inner_text() != "the same"
    expect(page.locator("#changes li").first).to_be_visible(timeout=60_000)
    page.click("[data-difference=ttgir]")
    changed = page.locator(".difference tr.changed").first
    expect(changed).to_be_visible(timeout=60_000)
    assert "1024" in changed.locator("td").nth(1).inner_text()
    assert "2048" in changed.locator("td").nth(3).inner_text()

    # A line lights its counterparts in the other pane, through inlining, whatever that shows.
    page.click("#pane-0 .row:has-text('value + value')")
    assert any("v_" in line for line in lit(page, 1))
    for stage, words in (("ttgir", "arith.addf"), ("ttir", "arith.addf"), ("llir", "fadd")):
        page.select_option("#pane-1 select", stage)
        expect(page.locator("#pane-1 .row.lit", has_text=words).first).to_be_in_viewport()
    page.click("#pane-1 .row.lit >> nth=0")
    assert any("value + value" in line for line in lit(page, 0))
    # The call is lit, too, less strongly.
    assert any("twice(x)" in line for line in page.locator("#pane-0 .row.around").all_inner_texts())

    # The keyboard: the next line.
    chosen = page.locator("#pane-1 .row.at")
    row = int(chosen.get_attribute("data-row"))
    page.focus("#pane-1 .lines")
    page.keyboard.press("ArrowDown")
    assert int(chosen.get_attribute("data-row")) == row + 1


@pytest.mark.triton
def test_a_save_is_followed(source, opened):
    """New code after a save, an error beside the last good result, and all well again."""
    page = opened(source)
    path = Path(source.folder / "mine.py")
    path.write_text(KERNEL.replace("* 3.0", "* 5.0"))
    expect(page.locator("#pane-0 .row:has-text('* 5.0')")).to_have_count(1, timeout=60_000)
    path.write_text(KERNEL.replace("* 3.0", "* unknown_name"))
    expect(page.locator("#error")).to_have_text(re.compile("unknown_name"), timeout=60_000)
    assert "stale" in page.get_attribute("#pane-1", "class")
    assert page.locator("#pane-0 .row:has-text('* 5.0')").count() == 1
    assert "tl.store" in page.inner_text("#pane-0 .row.wrong")
    path.write_text(KERNEL)
    expect(page.locator("#pane-0 .row:has-text('* 3.0')")).to_have_count(1, timeout=60_000)
    assert page.locator("#error").is_hidden()


def test_what_if(assembly, opened):
    """Occupancy with other amounts is that of ``kprof occupancy``."""
    page = opened(assembly)
    page.locator("#if-vgpr").fill("200")
    expect(page.locator("#what-if-words")).to_have_text(re.compile("limited by vgpr"))
    found = kprof.occupancy(arch="MI300X", vgpr=200, lds=0, num_warps=4)
    assert page.inner_text("#what-if-words").startswith(f"{found.waves_per_simd:g} of 8 waves a SIMD")
    assert page.locator("#curves svg polyline").count() == 2


@pytest.fixture(scope="module")
def attention(view: Callable[..., Viewed], tmp_path_factory: pytest.TempPathFactory) -> Viewed:
    """The page of the bundled attention."""
    return view("flash_attention", folder=tmp_path_factory.mktemp("attention"))


@pytest.mark.triton
def test_the_wavefronts_of_attention_are_drawn(attention, opened):
    """Zoomed by keys and buttons; a step says what it is and lights its instruction."""
    page = opened(attention)
    page.click("#timeline-open summary")
    page.wait_for_selector("#timeline-open[data-turn]")
    canvas = page.locator("#timeline")
    whole = int(canvas.get_attribute("data-to"))
    page.click("#timeline-in")
    page.focus("#timeline")
    page.keyboard.press("+")
    shown = [int(canvas.get_attribute(f"data-{end}")) for end in ("from", "to")]
    assert shown[1] - shown[0] == pytest.approx(whole / 4, abs=2)
    page.keyboard.press("n")
    words = page.inner_text("#timeline-words")
    named = re.search(r"wavefront 0 (?:issues|waits).*: (\S+).*, line (\d+); [\d.]+ cycles", words)
    assert named
    expect(page.locator("#pane-1 .row.at")).to_be_in_viewport()
    assert page.inner_text("#pane-1 .row.at b") == named[2]
    assert named[1] in page.inner_text("#pane-1 .row.at")
    page.keyboard.press("ArrowLeft")
    assert int(canvas.get_attribute("data-from")) < shown[0]
    page.click("#timeline-whole")
    assert (canvas.get_attribute("data-from"), canvas.get_attribute("data-to")) == ("0", str(whole))
    # Something is drawn: several colours, where an empty canvas has 0 alone.
    drawn = "Array.from(document.getElementById('timeline').getContext('2d').getImageData(300, 20, 400, 1).data)"
    assert len(set(page.evaluate(drawn))) > 4


@pytest.mark.slow
@pytest.mark.triton
def test_better_knobs_are_a_click_away(attention, opened):
    """The search is run; an answer turns its knobs; one that is stopped leaves nothing running."""
    page = opened(attention)

    def briefly(route: Any) -> None:
        route.continue_(post_data=json.dumps({**route.request.post_data_json, "budget": 2}))

    page.route("**/api/advise", briefly)
    page.select_option("#knob-num_warps", label="8")
    filled(page, 2)
    slow = figure(page, "Time")
    page.click("#better")
    best = page.locator("#better-list button").first
    expect(best).to_be_visible(timeout=90_000)
    best.click()
    filled(page, 3)
    assert figure(page, "Time") != slow
    assert page.locator("#better-list li").count() == 0
    # One that lasts, so that it cannot end before it is stopped.
    page.unroute("**/api/advise")
    page.click("#better")
    page.click("#stop")
    assert page.locator("#better").is_enabled()
    page.click("#reset")
    filled(page, 4)
    assert page.locator("#error").is_hidden()


def test_measured_beside_modelled(view, opened, tmp_path):
    """Both on the same lines, in the panes and in the loops' table, whose places are a click away."""
    shutil.copy(MATMUL, tmp_path / "k.amdgcn")
    write_trace(tmp_path / "trace.csv", MATMUL)
    page = opened(view("k.amdgcn", "--thread-trace", "trace.csv", folder=tmp_path))
    assert "thread trace: matmul, sure" in page.inner_text("#measured-words")
    page.locator("#pane-1 .lines").evaluate("view => { view.scrollTop = 18 * 100; }")
    # The rows are drawn in a later frame.
    page.wait_for_function(
        """() => [...document.querySelectorAll("#pane-1 .heat.both")].some((row) =>
          [...row.children].every((bar) => parseFloat(bar.style.width) > 0))"""
    )
    # Seven cycles each, as the trace has it.
    (loop,) = kprof.analyze(tmp_path / "k.amdgcn", thread_trace=tmp_path / "trace.csv").kernels[0].measured.loops
    assert page.locator("#measured-lines tbody tr").count() == 1 + len(loop.by_line)
    assert page.inner_text("#measured-lines tbody td >> nth=0") == f"{loop.measured:g}"
    page.locator("#measured-lines button").first.click()
    assert lit(page, 1)


def test_a_captured_kernel(view, opened, tmp_path):
    """What a program launched: no knobs; its stages, linked, and its findings, each on its instructions."""
    shutil.copytree(CAPTURE, tmp_path / "capture")
    page = opened(view("capture", folder=tmp_path))
    (kernel,) = kprof.analyze(tmp_path / "capture").kernels
    assert figure(page, "VGPRs") == str(kernel.resources.vgpr)
    assert page.locator("#knob-list label").count() == 0
    assert "it has no knobs" in page.inner_text("#knob-note")
    assert page.locator("#finding-list button").count() == len(kernel.findings)
    page.select_option("#pane-0 select", "ttgir")
    page.wait_for_selector("#pane-0[data-stage=ttgir]:not([aria-busy])")
    page.locator("#pane-0 .row", has_text="amdg.buffer_load").first.click()
    expect(page.locator("#pane-1 .row.lit", has_text="buffer_load").first).to_be_visible()


@pytest.fixture(scope="module")
def gemm(view: Callable[..., Viewed], tmp_path_factory: pytest.TempPathFactory) -> Viewed:
    """The page of the bundled matrix product."""
    return view("gemm", folder=tmp_path_factory.mktemp("gemm"))


@pytest.mark.triton
def test_gemm_under_the_roofline_with_its_neighbours(gemm, opened):
    """Each memory level, the neighbours as dots, and a click on one opens it; three panes."""
    page = opened(gemm)
    document = kprof.analyze("gemm", arch="MI300X").kernels[0]
    levels = document.model.roofline.levels
    assert page.locator("#roofline .mine").count() == len(levels) == page.locator("#roofline-levels tr").count()
    hbm = next(level for level in levels if level.name == "hbm")
    share = hbm.bytes / document.model.time_us / 1e3 / hbm.peak_gbs
    assert f"{100 * share:.0f} % of 5300 GB/s" in page.inner_text("[data-level=hbm]:is(tr)")
    # Rows and dots come with the news of an answer, after the answer itself.
    expect(page.locator("#dots circle")).to_have_count(1)

    page.click("#neighbours")
    expect(page.locator("#roofline .near").first).to_be_visible(timeout=60_000)
    # Dots move while further neighbours are answered: the one that is meant, wherever it is.
    page.locator("#dots circle:not(.chosen)").first.dispatch_event("click")
    expect(page.locator("#knob-list .changed")).to_have_count(1)
    answered(page)

    page.select_option("#pane-count", "3")
    expect(page.locator("#pane-2 .row", has_text="tt.func").first).to_be_visible(timeout=60_000)
    page.select_option("#pane-count", "1")
    expect(page.locator(".pane")).to_have_count(1)
