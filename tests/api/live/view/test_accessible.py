"""Pages for everybody: axe-core finds nothing, light and dark; on a phone nothing has to be scrolled sideways."""

import importlib.resources
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.api.live.view import test_page
from tests.api.live.view.conftest import Viewed

pytest.importorskip("axe_playwright_python", reason="axe-core is not installed")
pytestmark = test_page.pytestmark
browser, opened, attention = test_page.browser, test_page.opened, test_page.attention

ARTIFACTS = Path(__file__).parents[3] / "artifacts"
OLD, NEW = (ARTIFACTS / "gfx942" / f"matmul.triton-{version}.amdgcn" for version in ("3.4.0", "3.9.0"))
TRACE = {
    "schemaVersion": 1,
    "traceEvents": [
        {"ph": "X", "cat": "cpu_op", "name": "aten::mm", "pid": 1, "tid": 1, "ts": 1.0, "dur": 4.0, "args": {}},
        {"ph": "X", "cat": "kernel", "name": "k", "pid": 0, "tid": 7, "ts": 10.0, "dur": 5.0, "args": {"device": 0}},
    ],
}
SCREENS = [(scheme, width) for scheme in ("light", "dark") for width in (1280, 390)]


def report(*names: str) -> Callable[[Callable[..., Any], Path], Path]:
    """Return what writes the report of targets."""

    def write(kprof: Callable[..., Any], folder: Path) -> Path:
        assert kprof("report", *names, "-o", folder / "page.html").code in {0, 1}
        return folder / "page.html"

    return write


def comparison(kprof: Callable[..., Any], folder: Path) -> Path:
    """Write the comparison of two listings."""
    assert kprof("diff", OLD, NEW, "--html", folder / "page.html").code in {0, 1}
    return folder / "page.html"


def trace(kprof: Callable[..., Any], folder: Path) -> Path:
    """Write the report of a trace."""
    (folder / "trace.json").write_text(json.dumps(TRACE))
    assert kprof("trace", "report", folder / "trace.json", "-o", folder / "page.html").code == 0
    return folder / "page.html"


PAGES = {
    "assembly": report(str(NEW)),
    "two": report(str(OLD), str(NEW)),
    "compared": comparison,
    "trace": trace,
}


@pytest.fixture(scope="module")
def axe() -> str:
    """Return the source of axe-core."""
    return importlib.resources.files("axe_playwright_python").joinpath("axe.min.js").read_text(encoding="utf-8")


@pytest.fixture
def judged(browser: Any, axe: str) -> Callable[[str, str, int], list[str]]:
    """Return a function that opens an address and says what is wrong with it."""

    def judge(address: str, scheme: str, width: int) -> list[str]:
        # The pages' own policy would keep axe-core out.
        context = browser.new_context(viewport={"width": width, "height": 900}, color_scheme=scheme, bypass_csp=True)
        try:
            page = context.new_page()
            page.set_default_timeout(60_000)
            page.goto(address)
            if address.startswith("http"):
                test_page.filled(page)
            return complaints(page, axe)
        finally:
            context.close()

    return judge


def complaints(page: Any, axe: str) -> list[str]:
    """Return what axe-core finds, and that the page is wider than the screen."""
    page.evaluate(axe)
    found = page.evaluate("axe.run(document, {resultTypes: ['violations']})")
    said = [
        f"{one['impact']} {one['id']}: {node['html'][:200]}" for one in found["violations"] for node in one["nodes"]
    ]
    wide, screen = page.evaluate("[document.documentElement.scrollWidth, innerWidth]")
    return said + [f"{wide} px on a screen of {screen}"] * (wide > screen)


@pytest.mark.parametrize("name", PAGES)
def test_written_pages(name: str, kprof: Any, judged: Any, tmp_path: Path) -> None:
    """Reports of a kernel, of two, of a comparison and of a trace."""
    page = PAGES[name](kprof, tmp_path)

    for scheme, width in SCREENS:
        assert judged(f"file://{page}", scheme, width) == [], (scheme, width)


def test_live_page(assembly: Viewed, judged: Any) -> None:
    """The page on which knobs are turned."""
    for scheme, width in SCREENS:
        assert judged(assembly.address, scheme, width) == [], (scheme, width)


@pytest.mark.triton
def test_live_page_after_a_search(attention: Viewed, opened: Any, axe: str) -> None:
    """The result of a search fits the width of a phone."""
    page = opened(attention, bypass_csp=True)
    page.set_viewport_size({"width": 390, "height": 900})

    def briefly(route: Any) -> None:
        route.continue_(post_data=json.dumps({**route.request.post_data_json, "budget": 2}))

    page.route("**/api/advise", briefly)
    page.select_option("#knob-num_warps", label="8")
    test_page.filled(page, 2)
    page.click("#better")
    test_page.expect(page.locator("#better-list button").first).to_be_visible(timeout=90_000)

    # The line to paste, which is shown once a search has ended, is longer than a phone is wide.
    page.evaluate(
        """() => {
          const place = document.getElementById("advised");
          place.hidden = false;
          place.querySelector("pre").textContent = `triton.Config({${"'BLOCK_M': 64, ".repeat(12)}}, num_warps=4)`;
        }"""
    )
    assert complaints(page, axe) == []
