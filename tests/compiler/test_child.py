"""A process of its own that answers questions."""

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from kprof.compiler.child import Child
from kprof.compiler.installations import Environment
from kprof.errors import KprofError

ANSWERER = """
import json, os, sys

def main():
    print("started", file=sys.stderr)
    for line in sys.stdin:
        question = json.loads(line)
        if question["ask"] == "die":
            sys.exit("it hurts")
        if question["ask"] == "noise":
            print("not json", flush=True)
            continue
        if question["ask"] == "fail":
            print(json.dumps({"kind": "failed", "error": "cannot", "hint": "do not"}), flush=True)
            continue
        for n in range(question["count"]):
            print(json.dumps({"kind": "number", "n": n, "path": os.environ.get("PYTHONPATH")}), flush=True)
        print(json.dumps({"kind": "done"}), flush=True)
"""


@pytest.fixture
def child(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Child]:
    (tmp_path / "answerer.py").write_text(ANSWERER)
    monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])
    monkeypatch.setenv("PYTHONPATH", "/another/triton")
    with Child(Environment("3.6.0"), "answerer") as running:
        yield running


def test_questions_are_answered_one_after_the_other(child: Child) -> None:
    assert [a["n"] for a in child.ask({"ask": "count", "count": 3})] == [0, 1, 2]
    assert list(child.ask({"ask": "count", "count": 0})) == []


def test_the_users_module_path_variable_is_not_handed_on(child: Child) -> None:
    (answer,) = child.ask({"ask": "count", "count": 1})
    assert answer["path"] is None


def test_a_refusal_is_an_error_and_the_child_lives_on(child: Child) -> None:
    with pytest.raises(KprofError) as caught:
        list(child.ask({"ask": "fail"}))
    assert (caught.value.message, caught.value.hint) == ("cannot", "do not")
    assert len(list(child.ask({"ask": "count", "count": 2}))) == 2


@pytest.mark.parametrize("ask", ["die", "noise"])
def test_a_death_is_one_message_with_the_last_words(child: Child, ask: str) -> None:
    with pytest.raises(KprofError, match=r"Triton 3\.6\.0 ended") as caught:
        list(child.ask({"ask": ask}))
    if ask == "die":
        assert caught.value.hint == "it hurts"
        with pytest.raises(KprofError):
            list(child.ask({"ask": "count", "count": 1}))
