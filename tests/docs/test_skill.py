"""The skill for coding agents: its commands work as shown, and its exit codes are those of the commands."""

import json
import re
import shlex
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).resolve().parents[2]
SKILL = ROOT / "docs/skill/SKILL.md"
TEXT = SKILL.read_text(encoding="utf-8")


def commands():
    """Lines of the blocks that are shells'; what is written for a user's own files is in plain blocks."""
    blocks = re.findall(r"^ *```sh\n(.*?)^ *```$", TEXT, re.MULTILINE | re.DOTALL)
    return [line.strip() for block in blocks for line in block.splitlines() if line.strip()]


def test_the_front_matter_is_a_skills():
    """A name and a description, which is all that an agent sees before it takes the skill."""
    _, head, body = TEXT.split("---\n", 2)
    facts = yaml.safe_load(head)
    assert set(facts) == {"name", "description"}
    assert facts["name"] == "kprof"
    assert 100 < len(facts["description"]) < 1024
    assert "AMD" in facts["description"]
    assert body.lstrip().startswith("# ")


@pytest.mark.triton
def test_its_commands_run(kprof, tmp_path, monkeypatch):
    """In their order, in an empty folder; JSON where it is asked for, with the fields that are named."""
    monkeypatch.chdir(tmp_path)
    found = commands()
    assert len(found) >= 8
    for line in found:
        words = shlex.split(line, comments=True)
        assert words[0] == "kprof"
        ran = kprof(*words[1:])
        assert ran.code == 0 or "# exit any" in line, (line, ran.err)
        if "--json" in words and words[words.index("--json") + 1] == "-":
            document = json.loads(ran.out)
            if words[1] == "analyze":
                assert {"resources", "occupancy", "findings", "model"} <= document["kernels"][0].keys()


def test_what_is_named_is_there():
    """Links of AGENTS.md, and the exit codes of the gate."""
    for link in re.findall(r"\]\(([^)#]+)", (ROOT / "AGENTS.md").read_text(encoding="utf-8")):
        assert (ROOT / link).exists(), link
    from kprof.cli._last_resort import EXIT_OWN_ERROR
    from kprof.cli.app import EXIT_CANNOT_TELL

    codes = [int(code) for code in re.findall(r"^\| (\d+) \|", TEXT, re.MULTILINE)]
    assert codes == [0, 1, EXIT_CANNOT_TELL, EXIT_OWN_ERROR]
