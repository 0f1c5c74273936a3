"""The graph of all imports: those in functions and under ``TYPE_CHECKING`` are edges like the others."""

from pathlib import Path

import grimp
import pytest

ROOT = Path(__file__).resolve().parents[2]
PACKAGES = {
    "kprof": ROOT / "kprof",
    "kprof_analyzers": ROOT / "analyzers" / "kprof_analyzers",
    "kprof_servers": ROOT / "servers" / "kprof_servers",
}


@pytest.fixture(scope="session")
def graph() -> grimp.ImportGraph:
    """Every module of the packages with what it imports of them."""
    return grimp.build_graph(*PACKAGES, exclude_type_checking_imports=False, cache_dir=None)
