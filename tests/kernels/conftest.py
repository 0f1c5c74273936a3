"""The harness that every bundled kernel goes through: an interpreter worker and a compiler."""

import json
import os
import re
import select
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from kprof import kernel_library
from kprof.kernel_spec import BACKEND_OPTIONS, Config, Kernel, Launch, Tensor

ROOT = Path(__file__).parents[2]


class Interpreter:
    """A process with TRITON_INTERPRET=1 that runs one check after another."""

    def __init__(self) -> None:
        environment = {**os.environ, "TRITON_INTERPRET": "1", "OMP_NUM_THREADS": "2", "PYTHONPATH": str(ROOT)}
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


@dataclass(frozen=True)
class Result:
    """What the tests look at in a compiled kernel: assembly, LDS bytes, spilled VGPRs, scratch accesses in loops."""

    asm: str
    lds: int
    spills: int
    scratch_in_loops: int


@pytest.fixture(scope="session")
def compile_default() -> Callable[..., Result]:
    """``compile_default(kernel, arch, overrides=None, case=None)``: compile without a GPU, once each."""
    pytest.importorskip("triton")
    known: dict[str, Result] = {}

    def compile_once(kernel: Kernel, arch: str, overrides: Config | None = None, case: str | None = None) -> Result:
        shape = kernel.problem(arch, case)
        config = kernel.configure(arch, overrides, shape)
        key = f"{kernel.name} {arch} {shape} {config}"
        if key not in known:
            result = compile_launch(kernel, kernel.launch(shape, config), config, arch)
            asm = result.asm["amdgcn"]
            known[key] = Result(asm, result.metadata.shared, spilled(asm), scratch_in_loops(asm))
        return known[key]

    return compile_once


def compile_launch(kernel: Kernel, launch: Launch, config: Config, arch: str) -> Any:
    """Compile a launch as Triton would specialise it."""
    import triton
    from triton.backends.compiler import GPUTarget
    from triton.compiler import ASTSource

    signature, constexprs, attributes = specialise(kernel.entry, launch)
    source = ASTSource(kernel.entry, signature, constexprs, attributes)
    linker = shutil.which("ld.lld") or shutil.which("ld.lld-19")
    if linker:
        # Triton 3.4 looks for ROCm's linker only.
        os.environ.setdefault("TRITON_HIP_LLD_PATH", linker)
    wave = 32 if arch.startswith(("gfx10", "gfx11", "gfx12")) else 64
    # Named, because Triton 3.9 warns about its own default.
    options = {"enable_fp_fusion": True, **{k: v for k, v in config.items() if k in BACKEND_OPTIONS}}
    return triton.compile(source, target=GPUTarget("hip", arch, wave), options=options)


def specialise(entry: Any, launch: Launch) -> tuple[dict[str, str], dict[Any, Any], dict[Any, Any]]:
    """Signature, constexprs and attributes of a launch."""
    signature: dict[str, str] = {}
    constexprs: dict[Any, Any] = {}
    attributes: dict[Any, Any] = {}
    for index, parameter in enumerate(entry.params):
        value = launch.args[parameter.name]
        if parameter.is_constexpr or value is None or (value == 1 and type(value) is int):
            signature[parameter.name] = "constexpr"
            constexprs[(index,)] = value
        elif isinstance(value, Tensor):
            signature[parameter.name] = f"*{value.dtype}"
            attributes[(index,)] = [["tt.divisibility", 16], ["tt.pointer_range", 32]]
        elif isinstance(value, bool):
            signature[parameter.name] = "i1"
        elif isinstance(value, int):
            signature[parameter.name] = "i32" if -(2**31) <= value < 2**31 else "i64"
            attributes[(index,)] = [["tt.divisibility", 16]] if value % 16 == 0 else []
        else:
            signature[parameter.name] = "fp32"
    return signature, constexprs, attributes


def scratch_in_loops(asm: str) -> int:
    """Scratch accesses between a label and a later branch back to it."""
    lines = asm.splitlines()
    labels = {m[1]: i for i, line in enumerate(lines) if (m := re.match(r"(\.L\w+):", line))}
    inside: set[int] = set()
    for index, line in enumerate(lines):
        branch = re.match(r"\s+s_c?branch\w*\s+(\.L\w+)", line)
        if branch and labels.get(branch[1], index) < index:
            inside.update(range(labels[branch[1]], index))
    return sum(bool(re.match(r"\s+scratch_(load|store)", lines[i])) for i in inside)


def spilled(asm: str) -> int:
    """VGPRs spilled, from the code object's metadata."""
    found = re.search(r"\.vgpr_spill_count:\s+(\d+)", asm)
    assert found, "no .vgpr_spill_count"
    return int(found[1])
