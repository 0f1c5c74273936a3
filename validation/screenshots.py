"""Take the pictures of ``docs/view.md``: ``kprof view flash_attention`` in this machine's Chromium.

Run ``python validation/screenshots.py`` after a change of the page. It needs Playwright and Chromium.
"""

import argparse
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from playwright.sync_api import Page, sync_playwright

FOLDER = Path(__file__).resolve().parent.parent / "docs" / "pictures"
BROWSERS = ("chromium", "chromium-browser", "google-chrome")


def main() -> None:
    """Write ``view-panes.png`` and ``view-model.png``."""
    argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter).parse_args()
    browser = next(filter(None, map(shutil.which, BROWSERS)), None)
    if browser is None:
        sys.exit("Chromium is not installed")
    FOLDER.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-m", "kprof", "view", "flash_attention", "--no-browser"]
        server = subprocess.Popen(command, cwd=folder, stdout=subprocess.PIPE, text=True)
        try:
            assert server.stdout is not None
            address = server.stdout.readline().strip()
            with sync_playwright() as driver:
                running = driver.chromium.launch(executable_path=browser, args=["--no-sandbox"])
                page = running.new_page(viewport={"width": 1280, "height": 800}, color_scheme="light")
                page.set_default_timeout(120_000)
                page.goto(address)
                page.wait_for_selector("#pane-1[data-turn]")
                # The answer now comes from the session, as for a user who changes knobs.
                page.reload()
                page.wait_for_selector("#pane-1[data-turn]")
                panes(page)
                model(page)
                running.close()
        finally:
            server.terminate()
            server.wait(20)


def panes(page: Page) -> None:
    """Take the picture of knobs, figures and findings, with a finding's instructions highlighted next to the source."""
    page.locator("#finding-list button").first.click()
    page.wait_for_selector("#pane-1 .row.at")
    page.set_viewport_size({"width": 1280, "height": 1250})
    page.evaluate("scrollTo(0, 0)")
    page.screenshot(path=FOLDER / "view-panes.png")


def model(page: Page) -> None:
    """Take the picture of wavefronts over time, the roofline, and the tried configurations as dots."""
    page.click("#timeline-open summary")
    page.wait_for_selector("#timeline-open[data-turn]")
    page.focus("#timeline")
    for _ in range(5):
        page.keyboard.press("+")
    page.select_option("#knob-num_warps", label="8")
    page.wait_for_selector("#pane-1[data-turn='2']")
    page.select_option("#knob-num_stages", label="1")
    page.wait_for_selector("#pane-1[data-turn='3']")
    page.click("#reset")
    page.wait_for_selector("#pane-1[data-turn='4']")
    page.wait_for_selector("#timeline-open[data-turn='4']")
    page.set_viewport_size({"width": 1280, "height": 1000})
    page.locator("#timeline-part").evaluate("one => one.scrollIntoView()")
    page.screenshot(path=FOLDER / "view-model.png")


if __name__ == "__main__":
    main()
