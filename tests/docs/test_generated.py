"""What the documentation says is what the code says."""

import importlib.util
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


def test_generated_files_are_up_to_date():
    """``make docs`` was run after the last change of a rule or of the document."""
    spec = importlib.util.spec_from_file_location("generate_docs", ROOT / "validation" / "generate_docs.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    files = module.generated()
    stale = [str(path.relative_to(ROOT)) for path, content in files.items() if path.read_text() != content]
    assert not stale, "run make docs"
    pages = set((ROOT / "docs" / "rules").glob("*.md"))
    assert pages == {path for path in files if path.parent.name == "rules"}


def test_links_of_the_readme_lead_somewhere():
    """No dead link to a file of the repository."""
    text = (ROOT / "README.md").read_text()
    for target in re.findall(r"\]\(([^)#:]+)\)", text):
        assert (ROOT / target).exists(), target


def test_commands_of_the_readme_exist(kprof):
    """Each command that the README names answers to --help."""
    text = (ROOT / "README.md").read_text()
    named = set(re.findall(r"[`$] ?kprof ([a-z]+(?:-[a-z]+)?)(?: (kernel|list|show|explain|counters|trace))?", text))
    assert len(named) > 5
    for command, sub in named:
        ran = kprof(command, *([sub] if sub else []), "--help")
        assert ran.code == 0, (command, sub, ran.err)


def _shown():
    """Commands of the README and of the guide that stand beside what they print."""
    for page in ("README.md", "docs/reading.md"):
        text = (ROOT / page).read_text()
        for command, printed in re.findall(r"^```\n\$ kprof ([^\n]*)\n(.*?)^```", text, re.MULTILINE | re.DOTALL):
            yield pytest.param(command, printed, id=f"{page}: {command.split(' --')[0]}")


@pytest.mark.triton
@pytest.mark.parametrize(("command", "printed"), list(_shown()))
def test_output_shown_is_what_the_command_prints(kprof, monkeypatch, command, printed):
    """With the Triton that is named; only the compile's time may differ."""
    import triton

    monkeypatch.setenv("KPROF_TRY", "1")
    if "Triton" in printed and f"Triton {triton.__version__}" not in printed:
        pytest.skip(f"another Triton than {triton.__version__} is shown")
    ran = kprof(*command.split())
    made = re.compile(r"compiled in [0-9.]+ s|from the cache")
    assert made.sub("", ran.out) == made.sub("", printed)


def test_every_quirk_of_the_page_has_its_test():
    """Thirty points, each with a test function that exists."""
    page = (ROOT / "docs/validation/quirks.md").read_text()
    rows = re.findall(r"^\| (\d+) \|.*`(tests/\S+)::(\w+)` \|$", page, re.MULTILINE)
    assert [int(number) for number, _, _ in rows] == list(range(1, 31))
    for _, file, name in rows:
        assert f"def {name}(" in (ROOT / file).read_text(), (file, name)
