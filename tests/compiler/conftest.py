"""Fixtures of tests that compile: one pool, and requests for the sample kernels."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

SAMPLES = Path(__file__).with_name("sample_kernels.py")

HALF = "*fp16"
MATMUL_SIGNATURE = "*fp16,*fp16,*fp16,i32:16,i32:16,i32:16,i32:16"
MATMUL = {"M": 64, "N": 64, "BLOCK_K": 32}


@pytest.fixture(scope="session")
def pool() -> Iterator[Any]:
    """Two workers for the whole session."""
    from kprof.compiler.pool import Pool

    with Pool(jobs=2, timeout=120) as workers:
        yield workers


@pytest.fixture
def add_request() -> Callable[..., Any]:
    """Requests for the vector addition: ``add_request("gfx942", num_warps=2)``."""
    from kprof.targets.signature import load_signature

    def make(
        arch: str = "gfx942", environment: Any = None, passes: bool = False, block: int = 1024, **options: Any
    ) -> Any:
        return load_signature(
            str(SAMPLES),
            "add",
            "*fp16,*fp16,*fp16,i32",
            arch,
            {"BLOCK": block},
            options=options,
            environment=environment,
            passes=passes,
        )

    return make


@pytest.fixture
def matmul_request() -> Callable[..., Any]:
    """Requests for the matrix product."""
    from kprof.targets.signature import load_signature

    def make(arch: str = "gfx942", environment: Any = None, passes: bool = False, **knobs: Any) -> Any:
        constexprs = {name: knobs.pop(name, value) for name, value in MATMUL.items()}
        return load_signature(
            str(SAMPLES),
            "matmul",
            MATMUL_SIGNATURE,
            arch,
            constexprs,
            options=knobs,
            environment=environment,
            passes=passes,
        )

    return make


@pytest.fixture
def write(tmp_path: Path) -> Callable[[str, str], Path]:
    """Write a file below a temporary folder: ``write("kernel.py", text)``."""

    def put(name: str, text: str) -> Path:
        path = tmp_path / name
        path.write_text(text)
        return path

    return put
