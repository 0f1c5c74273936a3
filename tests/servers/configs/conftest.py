"""Configuration files for the tests."""

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from kprof_servers.configs.lint import lint
from kprof_servers.configs.reading import gather


@pytest.fixture
def write(tmp_path: Path) -> Callable[[str, Any], Path]:
    """Write a file below the test's folder: JSON values as JSON, texts as they are."""

    def make(name: str, content: Any) -> Path:
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content if isinstance(content, str) else json.dumps(content, indent=2), encoding="utf-8")
        return path

    return make


@pytest.fixture
def rules(tmp_path: Path, write: Callable[[str, Any], Path]) -> Callable[..., dict[str, list[str]]]:
    """Write files, check them all, and give rule to messages: ``rules({"gfx942-GEMM-A16W16.json": {...}})``."""

    def run(files: Mapping[str, Any]) -> dict[str, list[str]]:
        for name, content in files.items():
            write(name, content)
        found: dict[str, list[str]] = {}
        for report in lint(gather([str(tmp_path)]).files):
            for finding in report.findings:
                found.setdefault(finding.rule, []).append(finding.message)
        return found

    return run
