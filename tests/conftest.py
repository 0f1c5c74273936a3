"""Fixtures for all tests."""

import gc
import json
import os
import sys
from collections import Counter
from collections.abc import Callable, Generator, Iterator
from dataclasses import dataclass
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings

from tests.oracles import llvm_tool, why_none

ROOT = Path(__file__).resolve().parent.parent

# A shared machine stalls now and then: a slow example is no failure. In CI the same examples run every time. A
# read-only checkout has no place for failing examples, about which hypothesis warns in the middle of a test.
settings.register_profile(
    "kprof",
    deadline=None,
    derandomize="CI" in os.environ,
    database=settings.default.database if os.access(ROOT, os.W_OK) else None,
)
settings.load_profile("kprof")

SHARED = ROOT.parent / "shared"


@dataclass(frozen=True)
class Ran:
    """What a command printed, and its exit code."""

    code: int
    out: str
    err: str


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Collect without the garbage collector: a third of the time, since what is collected stays until the end.

    For the same reason later passes of the garbage collector leave it out.
    """
    gc.disable()
    try:
        return (yield)
    finally:
        gc.enable()
        gc.freeze()


def pytest_unconfigure() -> None:
    """Let the interpreter end as usual."""
    gc.unfreeze()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Skip, with the reason, what this machine cannot run; files with slow tests come first.

    xdist hands out whole files in this order: one that takes a minute, begun last, would leave the other workers idle.
    """
    no_triton = pytest.mark.skip(reason="Triton is not installed")
    missing = next((name for name in ("llvm-mc", "llvm-objdump") if llvm_tool(name) is None), None)
    has_triton = find_spec("triton") is not None
    for item in items:
        if (triton := item.get_closest_marker("triton")) is not None:
            if not has_triton:
                item.add_marker(no_triton)
            elif triton.args and not version("triton").startswith(triton.args):
                item.add_marker(pytest.mark.skip(reason=f"its numbers are of Triton {triton.args[0]}"))
        if missing is not None and item.get_closest_marker("llvm"):
            item.add_marker(pytest.mark.skip(reason=why_none(missing)))
    weights: Counter[Path] = Counter()
    for item in items:
        weights[item.path] += _weight(item)
    # Files that weigh the same stay in their order, and so do the tests of each.
    items.sort(key=lambda item: -weights[item.path])


def _weight(item: pytest.Item) -> int:
    """Guess the seconds that a test takes, in tenths: most take no time, a compile one second, a slow one many."""
    if item.get_closest_marker("slow"):
        return 100
    return 10 if item.get_closest_marker("triton") else 0


@pytest.fixture(autouse=True, scope="session")
def _own_cache(tmp_path_factory: pytest.TempPathFactory, pytestconfig: pytest.Config) -> Iterator[None]:
    """Keep the caches of kprof and Triton out of the user's home; workers of one run share what is compiled."""
    base = tmp_path_factory.getbasetemp()
    # A variable would not do: a run within a test inherits it, and its folder's parent is that of all runs.
    shared = base.parent if hasattr(pytestconfig, "workerinput") else base
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("KPROF_CACHE_DIR", str(shared / "kprof-cache"))
        patch.setenv("TRITON_CACHE_DIR", str(shared / "triton-cache"))
        # The workers of a run already use all cores: further threads of torch would only wait for one another.
        patch.setenv("OMP_NUM_THREADS", "1")
        # Cures are compiled where a test is about them, not for each kernel that another test analyses.
        patch.setenv("KPROF_TRY", "0")
        yield


@pytest.fixture
def kprof(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Callable[..., Ran]:
    """Run the ``kprof`` program in this process: ``kprof("list", "gpus")``."""
    from kprof.cli.app import main

    def run(*arguments: object) -> Ran:
        monkeypatch.setattr(sys, "argv", ["kprof", *map(str, arguments)])
        capsys.readouterr()
        code: object = 0
        try:
            main()
        except SystemExit as stop:
            code = stop.code
        captured = capsys.readouterr()
        return Ran(
            code=int(code or 0) if isinstance(code, int) or code is None else 1, out=captured.out, err=captured.err
        )

    return run


@pytest.fixture
def at_most(monkeypatch: pytest.MonkeyPatch) -> Callable[[int], None]:
    """Return ``at_most``: ``at_most(12)`` ends a search after 12 configurations, on any machine."""
    from kprof.tuning.trials import climb

    order = climb.Neighbourhood

    def limit(most: int) -> None:
        monkeypatch.setattr(climb, "Neighbourhood", lambda *given, **named: order(*given, **{**named, "most": most}))

    return limit


@pytest.fixture(scope="session")
def llvm_mc() -> str:
    """The newest llvm-mc. Only for tests marked ``llvm``."""
    tool = llvm_tool("llvm-mc")
    assert tool is not None
    return tool


@pytest.fixture(scope="session")
def llvm_objdump() -> str:
    """The newest llvm-objdump. Only for tests marked ``llvm``."""
    tool = llvm_tool("llvm-objdump")
    assert tool is not None
    return tool


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder of published measurement files beside the checkout, which a clone does not have."""
    if not SHARED.is_dir():
        pytest.skip("the published sample files are not beside this checkout")
    return SHARED


@pytest.fixture(scope="session")
def sarif_schema() -> Any:
    """The official SARIF schema, which is not part of this repository: ``$KPROF_SARIF_SCHEMA``, or beside it."""
    path = Path(os.environ.get("KPROF_SARIF_SCHEMA", SHARED / "formats" / "sarif-schema-2.1.0.json"))
    if not path.is_file():
        pytest.skip("KPROF_SARIF_SCHEMA does not name the official sarif-schema-2.1.0.json")
    return json.loads(path.read_text(encoding="utf-8"))
