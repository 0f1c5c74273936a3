"""The harness that every bundled kernel goes through: an interpreter worker, and compile and analysis without a GPU."""

import json
import os
import select
import subprocess
import sys
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from kprof.document import KernelReport
from kprof.kernel_spec import Config, Kernel
from kprof.options.groups import CompileOptions
from kprof.targets import library as kernel_library
from kprof.targets.resolver import load
from kprof_analyzers.pipeline import analyze

ROOT = Path(__file__).parents[2]


class Interpreter:
    """A process with TRITON_INTERPRET=1 that runs one check after another."""

    def __init__(self) -> None:
        environment = {**os.environ, "TRITON_INTERPRET": "1", "PYTHONPATH": str(ROOT)}
        self.process = subprocess.Popen(
            [sys.executable, str(Path(__file__).with_name("interpreter.py"))],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=environment,
        )

    def ask(self, kernel: str, check: str, timeout: float = 300) -> dict[str, Any]:
        """The answer to one request; an ``error`` when the process dies or takes too long."""
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.write((json.dumps({"kernel": kernel, "check": check}) + "\n").encode())
        self.process.stdin.flush()
        if not select.select([self.process.stdout], [], [], timeout)[0]:
            self.process.kill()
            return {"error": f"no answer within {timeout} s"}
        line = self.process.stdout.readline()
        return json.loads(line) if line else {"error": f"the interpreter died: {self.process.wait()}"}

    def alive(self) -> bool:
        """Whether it can take another request."""
        return self.process.poll() is None

    def close(self) -> None:
        """End the process."""
        self.process.kill()
        self.process.communicate()


@pytest.fixture(scope="session")
def interpret() -> Iterator[Callable[[str, str], dict[str, Any]]]:
    """``interpret(kernel, check)``: run a check in Triton's interpreter; needs triton and torch, no GPU."""
    for module in ("triton", "torch", "numpy"):
        if find_spec(module) is None:
            pytest.skip(f"{module} is not installed")
    workers: list[Interpreter] = []

    def ask(kernel: str, check: str) -> dict[str, Any]:
        if not workers or not workers[-1].alive():
            workers.append(Interpreter())
        return workers[-1].ask(kernel, check)

    yield ask
    for worker in workers:
        worker.close()


@pytest.fixture(scope="session")
def kernel_of() -> Callable[[str], Kernel]:
    """Load a bundled kernel; skips when Triton is not installed."""
    pytest.importorskip("triton")
    return kernel_library.load


@pytest.fixture(scope="session")
def analyse() -> Callable[..., KernelReport]:
    """``analyse(target, arch, config=None, case=None)``: compile without a GPU and analyse, once each."""
    pytest.importorskip("triton")
    known: dict[str, KernelReport] = {}

    def once(target: str, arch: str, config: Config | None = None, case: str | None = None) -> KernelReport:
        key = f"{target} {arch} {config} {case}"
        if key not in known:
            options = CompileOptions(arch=(arch,), config=config or {}, case=case, jobs=1)
            loaded = next(iter(load(target, options)))  # of a job of several launches: the one it is named after
            known[key] = analyze(loaded)
        return known[key]

    return once
