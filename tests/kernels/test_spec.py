"""Every bundled kernel's description agrees with its function and with itself."""

from collections.abc import Callable
from typing import Any

import pytest

from kprof.kernel_spec import BACKEND_OPTIONS, ELEMENT_TYPES, Kernel, Launch, Tensor, resolve_fp8
from kprof.targets.library import catalogue

ENTRIES = {e.name: e for e in catalogue()}
ARCHITECTURES = ("gfx90a", "gfx942", "gfx950", "gfx1100", "gfx1201")
MAX_THREADS = 1024


def launches(kernel: Kernel, arch: str) -> list[tuple[str, dict[str, Any], dict[str, Any]]]:
    """Every case and check of a kernel as (name, shape, config)."""
    found = []
    for case in kernel.shapes:
        shape = kernel.problem(arch, case)
        found.append((case, shape, kernel.configure(arch, None, shape)))
    for name, check in kernel.checks.items():
        shape = resolve_fp8(check.shape, arch)
        found.append((name, shape, kernel.configure(arch, check.config, shape)))
    return found


def assert_launch_fits(entry: Any, launch: Launch, where: str) -> None:
    """The launch gives every parameter of the function a value of a fitting kind."""
    names = [p.name for p in entry.params]
    assert sorted(launch.args) == sorted(names), where
    for parameter in entry.params:
        value = launch.args[parameter.name]
        if isinstance(value, Tensor):
            assert not parameter.is_constexpr, f"{where}: {parameter.name}"
            assert value.dtype in ELEMENT_TYPES, f"{where}: {parameter.name}"
            assert all(type(n) is int and n > 0 for n in value.shape), f"{where}: {parameter.name}"
        elif not parameter.is_constexpr:
            assert value is None or isinstance(value, int | float), f"{where}: {parameter.name}"
    assert 1 <= len(launch.grid) <= 3, where
    assert all(type(n) is int and n > 0 for n in launch.grid), f"{where}: grid {launch.grid}"


@pytest.mark.triton
@pytest.mark.parametrize("name", ENTRIES)
def test_text_agrees_with_kernel(name: str, kernel_of: Callable[[str], Kernel]) -> None:
    """What is read from the file's text, without Triton, is what the loaded kernel says."""
    entry, kernel = ENTRIES[name], kernel_of(name)

    assert kernel.name == name
    assert (entry.summary, entry.cases) == (kernel.summary, tuple(kernel.shapes))
    assert (entry.checks, entry.parts) == (tuple(kernel.checks), tuple(kernel.parts))
    assert 20 < len(kernel.summary) < 110


@pytest.mark.triton
@pytest.mark.parametrize("name", ENTRIES)
def test_kernel_is_complete(name: str, kernel_of: Callable[[str], Kernel]) -> None:
    """A bundled kernel has all that compiling, checking and timing need."""
    kernel = kernel_of(name)

    for field in ("run", "inputs", "reference", "tolerance", "flops", "bytes"):
        assert getattr(kernel, field) is not None, field
    assert kernel.shapes
    assert kernel.checks
    assert kernel.configs
    assert kernel.space


@pytest.mark.triton
@pytest.mark.parametrize("arch", ARCHITECTURES)
@pytest.mark.parametrize("name", ENTRIES)
def test_launch_fits_function(name: str, arch: str, kernel_of: Callable[[str], Kernel]) -> None:
    """Every case and check gives exactly the function's arguments, with a real grid and legal threads."""
    kernel = kernel_of(name)
    width = 32 if arch.startswith(("gfx11", "gfx12")) else 64

    for where, shape, config in launches(kernel, arch):
        assert_launch_fits(kernel.entry, kernel.launch(shape, config), where)
        for part in kernel.parts.values():
            assert_launch_fits(part.entry, part.launch(shape, config), where)
        assert config["num_warps"] * width <= MAX_THREADS, where
        assert config["num_warps"].bit_count() == 1, where


@pytest.mark.triton
@pytest.mark.parametrize("name", ENTRIES)
def test_work_is_positive(name: str, kernel_of: Callable[[str], Kernel]) -> None:
    """FLOP and byte counts are whole and positive (a copy has no FLOP), tolerances below 10 %."""
    kernel = kernel_of(name)
    assert kernel.flops is not None
    assert kernel.bytes is not None
    assert kernel.tolerance is not None

    for where, shape, _ in launches(kernel, "gfx942"):
        flops, traffic = kernel.flops(shape), kernel.bytes(shape)
        assert type(flops) is int, where
        assert flops >= 0, where
        assert type(traffic) is int, where
        assert traffic > 0, where
        rtol, atol = kernel.tolerance(shape)
        assert 0 <= rtol < 0.13, where
        assert atol >= 0, where


@pytest.mark.triton
@pytest.mark.parametrize("name", ENTRIES)
def test_configs_are_known_and_legal(name: str, kernel_of: Callable[[str], Kernel]) -> None:
    """Listed configurations use the kernel's own knobs and are legal for the default case; so are the defaults."""
    kernel = kernel_of(name)
    known = {*kernel.config, *kernel.space, *BACKEND_OPTIONS}

    for config in (*kernel.configs, *kernel.arch_config.values()):
        assert set(config) <= known, config
    for arch in ARCHITECTURES:
        shape = kernel.problem(arch)
        if kernel.legal is None or (kernel.unsupported and kernel.unsupported(arch, shape)):
            continue
        assert kernel.legal(shape, kernel.configure(arch, None, shape), arch) is None, arch
    if kernel.legal is not None:
        shape = kernel.problem("gfx942")
        reasons = {str(c): kernel.legal(shape, kernel.configure("gfx942", c, shape), "gfx942") for c in kernel.configs}
        assert not any(reasons.values()), reasons


@pytest.mark.parametrize("name", ["gemm", "gemm_streamk"])
def test_products_of_32_bit_integers_name_the_kernel_that_has_them(name, kernel_of):
    """Said before anything is compiled: matrix units have no such instruction."""
    kernel = kernel_of(name)
    shape = {**next(iter(kernel.shapes.values())), "dtype": "i32", "out": "i32"}
    assert "gemm_multiply_reduce does" in kernel.unsupported("gfx942", shape)
    assert kernel.unsupported("gfx942", {**shape, "dtype": "i8"}) is None
