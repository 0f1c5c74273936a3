"""First screens of twelve typical kernels, from saved results: bundled, generated, of a server, HIP and RDNA."""

import re

import pytest

from kprof.diffing.reading import read_report
from kprof.output.terminal import terminal
from kprof.reporters.console import ConsoleReporter
from tests.reporters.test_screens import MNEMONIC, SCREENS, held, screen, words

KERNELS = {
    "flash-attention": "flash_attention.json",
    **{path.stem: f"kernels/{path.name}" for path in sorted((SCREENS / "kernels").glob("*.json"))},
}
"""Name of the screen to the saved result."""

COMMAND = re.compile(r" +kprof \w+ ")
"""A command on a line of its own is never broken: it is there to be copied."""


def shown(monkeypatch, name, width, verbose=0):
    """The screen of a kernel."""
    report = read_report(SCREENS / KERNELS[name])
    return screen(monkeypatch, width, lambda: ConsoleReporter(terminal(), verbose).show(report))


def test_there_are_twelve():
    assert len(KERNELS) == 12


@pytest.mark.parametrize("width", [80, 120])
@pytest.mark.parametrize("name", KERNELS)
def test_each_as_it_was_read_and_found_good(monkeypatch, name, width):
    """No line is wider than the terminal, and none names an instruction or a label."""
    text = shown(monkeypatch, name, width)
    for line in text.splitlines():
        assert len(line) <= width or COMMAND.match(line), line
    assert ".LBB" not in text
    assert not re.search(rf"\b{MNEMONIC}|cnt\(0\)", text)
    held(f"kernels/{name}", width, text)


@pytest.mark.parametrize("name", KERNELS)
def test_each_fits_on_24_lines_of_100_columns(monkeypatch, name):
    """Lines as the terminal shows them: a command that is longer than a line takes several."""
    lines = shown(monkeypatch, name, 100).splitlines()
    assert sum(-(-len(line) // 100) or 1 for line in lines) <= 24


@pytest.mark.parametrize("name", KERNELS)
def test_no_word_is_cut_and_every_width_has_the_same_words(monkeypatch, name):
    """A word that a line break cuts would be two words at one width and one at the other."""
    narrow, middle, wide = (shown(monkeypatch, name, width) for width in (80, 100, 120))
    assert words(narrow) == words(middle) == words(wide)
    assert "…" not in narrow + middle + wide


@pytest.mark.parametrize("name", KERNELS)
def test_what_does_not_fit_is_counted(monkeypatch, name):
    """Each cause, remark and assumption is on the screen or in the count of what ``-v`` shows."""
    (kernel,) = read_report(SCREENS / KERNELS[name]).kernels
    text = shown(monkeypatch, name, 120)
    causes = kernel.causes or [None] * len(kernel.findings)
    counted = sum(map(int, re.findall(r"(\d+) (?:more causes?|findings? without a measurable cost)", text)))
    assert len(re.findall(r"(?m)^  (?:error|warning|note) +KP\d+ ", text)) + counted == len(causes)
    assert set(re.findall(r"KP\d+", text)) <= set(re.findall(r"KP\d+", shown(monkeypatch, name, 120, verbose=1)))


def test_a_place_that_needs_a_line_of_its_own_is_indented(monkeypatch):
    """File names that Inductor and Helion make are 55 characters long."""
    for name in ("inductor-softmax", "helion-softmax"):
        places = re.findall(r"(?m)^( *)(c\w{51}\.py:\d+)$", shown(monkeypatch, name, 80))
        assert places
        assert {indent for indent, _ in places} == {" " * 10}
