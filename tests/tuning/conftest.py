"""A judge and an executor that need no compiler and no model."""

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

JUDGE_SOURCE = '''
"""A judge for tests: time from the number of instructions; notes each compile; can be told to die or to wait."""
import json, os, time
from pathlib import Path


def judge(compiled, argument):
    request = compiled.request
    note = os.environ.get("STUB_JUDGE_LOG")
    if note:
        with open(note, "a") as file:
            file.write(json.dumps([request.label, os.getppid(), compiled.cached]) + "\\n")
    time.sleep(float(os.environ.get("STUB_JUDGE_WAIT", "0")))
    if os.environ.get("STUB_JUDGE_DIES", "never") in request.label:
        os.abort()
    if os.environ.get("STUB_JUDGE_FAILS", "never") in request.label:
        raise ZeroDivisionError("of no use")
    return {
        "status": "ok",
        "isa": str(hash(compiled.amdgcn)),
        "resources": {"lds_bytes": compiled.lds_bytes, "num_warps": compiled.metadata["num_warps"]},
        "time_us": float(len(compiled.amdgcn)),
        "low_us": 0.9 * len(compiled.amdgcn),
        "high_us": 1.1 * len(compiled.amdgcn),
        "bound": "instructions",
        "assumptions": ["every instruction takes a nanosecond"],
        "seconds": compiled.seconds,
        "cached": compiled.cached,
    }
'''


@pytest.fixture
def stub_judge(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """A :class:`Judge` that workers can import."""
    from kprof.tuning.work import Judge

    folder = tmp_path / "stub"
    folder.mkdir()
    (folder / "kprof_stub_judge.py").write_text(JUDGE_SOURCE)
    monkeypatch.syspath_prepend(str(folder))
    return Judge("kprof_stub_judge:judge", "1")


Rule = Callable[[Mapping[str, Any]], Any]


class FakeExecutor:
    """Answers at once, by a rule from a configuration to a time, a status or an exception."""

    description = "nobody"

    def __init__(self, rule: Rule) -> None:
        self.rule = rule
        self.done: list[str] = []

    def run(self, tasks: Iterator[Any]) -> Iterator[Any]:
        """See :class:`kprof.tuning.work.Executor`."""
        from kprof.tuning.work import Answer

        for task in tasks:
            self.done.append(task.key)
            result = self.rule({**task.config, "launch": task.launch["name"]})
            if isinstance(result, BaseException):
                raise result
            if isinstance(result, Answer):
                import msgspec

                yield msgspec.structs.replace(result, key=task.key)
            else:
                yield Answer(
                    task.key, "ok", isa=task.key, time_us=float(result), low_us=0.8 * result, high_us=1.2 * result,
                    bound="matrix", resources={"lds_bytes": 1024}, seconds=0.1,
                )  # fmt: skip


@pytest.fixture
def fake() -> Callable[[Rule], FakeExecutor]:
    """An executor that answers by a rule."""
    return FakeExecutor
