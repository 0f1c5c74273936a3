"""Every bundled kernel compiles for every architecture family without a GPU, or says why it cannot."""

from collections.abc import Callable
from typing import Any

import pytest

from kprof.kernel_library import catalogue

ARCHITECTURES = ("gfx90a", "gfx942", "gfx950", "gfx1100", "gfx1201")
LDS_BYTES = {"gfx950": 163840}
ENTRIES = [e.name for e in catalogue()] + [f"{e.name}::{part}" for e in catalogue() for part in e.parts]


@pytest.mark.triton
@pytest.mark.parametrize("arch", ARCHITECTURES)
@pytest.mark.parametrize("name", ENTRIES)
def test_default_compiles(name: str, arch: str, kernel_of: Callable[[str], Any], compile_default: Any) -> None:
    """The default case and configuration compile and fit LDS; an unsupported architecture gives its reason."""
    kernel = kernel_of(name)
    shape = kernel.problem(arch)
    reason = kernel.unsupported(arch, shape) if kernel.unsupported else None
    if reason is not None:
        assert len(reason) > 10, "a reason is a sentence"
        pytest.skip(f"{name}: {reason}")

    result = compile_default(kernel, arch)

    assert result.lds <= LDS_BYTES.get(arch, 65536)
    assert arch in result.asm


@pytest.mark.triton
@pytest.mark.parametrize("name", ENTRIES)
def test_default_does_not_spill_on_mi300x(name: str, kernel_of: Callable[[str], Any], compile_default: Any) -> None:
    """On gfx942 the default configuration keeps its loops free of spills, or its notes say why it is best."""
    kernel = kernel_of(name)
    shape = kernel.problem("gfx942")
    if kernel.unsupported and kernel.unsupported("gfx942", shape):
        pytest.skip(f"{name}: {kernel.unsupported('gfx942', shape)}")

    result = compile_default(kernel, "gfx942")

    assert result.scratch_in_loops == 0 or kernel.notes.get("gfx942")


@pytest.mark.triton
def test_scratch_in_loops_sees_spills(kernel_of: Callable[[str], Any], compile_default: Any) -> None:
    """The spill count itself works: a softmax row of 32,768 elements on one wave cannot stay in registers."""
    kernel = kernel_of("softmax")

    result = compile_default(kernel, "gfx942", {"BLOCK": 32768, "num_warps": 1}, case="vocabulary")

    assert result.spills > 0
    assert result.scratch_in_loops > 0
