"""Captures that are made up line by line."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

ID = "0123456789abcdef" * 2
HEAD = {"schema": "kprof.capture/1", "arch": "gfx942"}
REQUEST = {
    "path": "/nowhere/kernel.py",
    "function": "f",
    "arch": "gfx942",
    "signature": [["x", "*fp32"], ["n", "i32"], ["BLOCK", "constexpr"]],
    "constexprs": {"BLOCK": 64},
    "attributes": {"x": {"divisibility": 16}, "n": {}},
    "options": {"num_warps": 4, "num_stages": 2},
    "environment": {},
}
KERNEL = {"t": "kernel", "n": 0, "id": ID, "name": "f", "triton": "3.9.0", "line": 3, "request": REQUEST}
LAUNCH = {"t": "launch", "kernel": 0, "seq": 0, "grid": [4, 1, 1]}
END = {"t": "end"}


@pytest.fixture
def make(tmp_path: Path) -> Callable[..., Path]:
    """Make a capture directory from lines: ``make([KERNEL, LAUNCH, END])``."""

    def build(lines: Any, head: Any = HEAD, result: Any = None, **stages: str) -> Path:
        root = tmp_path / "capture"
        (root / "journal").mkdir(parents=True)
        (root / "capture.json").write_text(head if isinstance(head, str) else json.dumps(head))
        text = lines if isinstance(lines, str) else "".join(json.dumps(line) + "\n" for line in lines)
        (root / "journal" / "1-a.jsonl").write_text(text)
        if result is not None:
            folder = root / "kernels" / ID
            folder.mkdir(parents=True)
            (folder / "result.json").write_text(result if isinstance(result, str) else json.dumps(result))
            for stage, content in stages.items():
                (folder / f"kernel.{stage}").write_text(content)
        return root

    return build
