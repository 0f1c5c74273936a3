"""The official SARIF schema."""

import json
import os
from pathlib import Path

import pytest


@pytest.fixture(scope="session")
def sarif_schema() -> dict:
    """The official schema, which is not part of this repository."""
    beside = Path(__file__).resolve().parents[3] / "shared" / "formats" / "sarif-schema-2.1.0.json"
    path = Path(os.environ.get("KPROF_SARIF_SCHEMA", beside))
    if not path.is_file():
        pytest.skip("KPROF_SARIF_SCHEMA does not name the official sarif-schema-2.1.0.json")
    return json.loads(path.read_text(encoding="utf-8"))
