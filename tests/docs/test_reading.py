"""The page on how to read the output shows what the commands print, and explains every word of theirs."""

import re
from pathlib import Path
from typing import get_args

import pytest

from kprof.document import Bound, Limiter
from kprof.reporters._console_text import limiter
from kprof.reporters._model_text import _named

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "reading.md").read_text()
EXAMPLES = re.findall(r"^```\n\$ kprof ([^\n]*)\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)
# The model's numbers and the time of a compile are not what the page is about.
_VARIABLE = re.compile(
    r"compiled in [0-9.]+ s|from the cache|^  Model .*|^  Bound by .*|^ +one more workgroup.*", re.MULTILINE
)


@pytest.mark.triton
@pytest.mark.parametrize(("command", "shown"), EXAMPLES, ids=[command.split()[0] for command, _ in EXAMPLES])
def test_examples_are_what_the_commands_print(kprof, monkeypatch, command, shown):
    """With the Triton that the page names."""
    import triton

    monkeypatch.setenv("KPROF_TRY", "1")
    named = re.search(r"Triton ([0-9.]+)", shown)
    if named and named[1] != triton.__version__:
        pytest.skip(f"the page shows Triton {named[1]}, not {triton.__version__}")
    ran = kprof(*command.split())
    assert ran.code == 0, ran.err
    assert _VARIABLE.sub("", ran.out) == _VARIABLE.sub("", shown)


def test_commands_of_the_page_exist(kprof):
    """Each command of the first ten minutes answers to --help."""
    first = re.findall(r"^kprof ([a-z-]+)(?: (kernels|kernel))?", PAGE, re.MULTILINE)
    assert len(first) > 5
    for command, sub in first:
        assert kprof(command, *filter(None, [sub]), "--help").code == 0


def test_every_limiter_and_cause_is_explained():
    """In the words that the terminal uses."""
    words = {limiter(name, waves) for name in get_args(Limiter) for waves in (0, 1)} | {
        _named(c) for c in get_args(Bound)
    }
    told = {word.strip() for row in re.findall(r"^\| ([^|]*) \|", PAGE, re.MULTILINE) for word in row.split(",")}
    assert words <= told


def test_links_lead_somewhere():
    """No dead link to a file of the repository."""
    for target in re.findall(r"\]\(([^)#:]+)\)", PAGE):
        assert (Path(__file__).resolve().parents[2] / "docs" / target).exists(), target
