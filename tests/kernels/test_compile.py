"""Every bundled kernel compiles for every architecture family without a GPU and is analysed, or says why it cannot."""

from collections.abc import Callable

import pytest

import kprof
from kprof.compiler.versions import installed
from kprof.document import KernelReport
from kprof.findings import Severity
from kprof.kernel_spec import Kernel
from kprof.options.groups import CompileOptions
from kprof.targets.library import catalogue
from kprof.targets.resolver import load

ARCHITECTURES = ("gfx90a", "gfx942", "gfx950", "gfx1100", "gfx1201")
ENTRIES = [e.name for e in catalogue()] + [f"{e.name}::{part}" for e in catalogue() for part in e.parts]


def skip_unsupported(kernel: Kernel, arch: str) -> None:
    """Skip with the kernel's own reason what it declares an architecture unable to do."""
    reason = kernel.unsupported(arch, kernel.problem(arch)) if kernel.unsupported else None
    if reason is not None:
        assert len(reason) > 10, "a reason is a sentence"
        pytest.skip(f"{kernel.name}: {reason}")


@pytest.mark.triton
@pytest.mark.parametrize("arch", ARCHITECTURES)
@pytest.mark.parametrize("name", ENTRIES)
def test_default_compiles(
    name: str, arch: str, kernel_of: Callable[[str], Kernel], analyse: Callable[..., KernelReport]
) -> None:
    """The default case and configuration compile, fit LDS, and are analysed down to the last instruction."""
    skip_unsupported(kernel_of(name), arch)
    if (name, arch) == ("attention_fp8", "gfx950") and installed().numbers < (3, 6):
        pytest.skip("Triton before 3.6 compiles its 32 x 32 form alone for gfx950")

    report = analyse(name, arch)

    resources = report.resources
    assert resources.lds_bytes <= resources.lds_limit_bytes
    assert resources.vgpr > 0
    assert report.occupancy.workgroups_per_cu >= 1
    assert report.instructions


@pytest.mark.triton
@pytest.mark.parametrize("name", ENTRIES)
def test_default_does_not_spill_on_mi300x(
    name: str, kernel_of: Callable[[str], Kernel], analyse: Callable[..., KernelReport]
) -> None:
    """On gfx942 the default configuration has no spill in a loop and no other error, or its notes say why."""
    kernel = kernel_of(name)
    skip_unsupported(kernel, "gfx942")

    report = analyse(name, "gfx942")

    spills = sum(loop.spill_accesses for loop in report.loops)
    errors = [f.message for f in report.findings if f.severity is Severity.ERROR]
    assert (spills == 0 and not errors) or kernel.notes.get("gfx942"), errors


@pytest.mark.triton
@pytest.mark.parametrize("target", ["gemm_streamk fp8", "gemm_streamk int8", "gemm square_8k_fp8"])
def test_masked_small_types_compile(target: str) -> None:
    """What masked lanes get instead of a value has to be of the operands' type: 8-bit floats with too few rows."""
    name, case = target.split()
    (loaded, *_) = load(name, CompileOptions(arch=("gfx942",), case=case, shape={"M": 16}))
    assert loaded.program.instructions


@pytest.mark.triton
def test_spills_are_seen(analyse: Callable[..., KernelReport]) -> None:
    """The check above can fail: 128 elements a lane cannot stay in the 64 registers that eight wavefronts leave."""
    report = analyse("softmax", "gfx942", {"BLOCK": 8192, "num_warps": 1, "waves_per_eu": 8}, "vocabulary")

    assert report.resources.vgpr_spills > 100
    assert any(loop.spill_accesses for loop in report.loops)


@pytest.mark.triton
@pytest.mark.parametrize("case", ["s4096_d64", "s4096_d128", "d256_s4096"])
def test_attention_tiles_keep_loops_free_of_spills(case: str, analyse: Callable[..., KernelReport]) -> None:
    """The tile of each head size spills in no loop on gfx942 (Triton 3.4 and 3.8 at 128 do, as the notes say)."""
    report = analyse("flash_attention", "gfx942", None, case)

    known = report.triton.startswith(("3.4.", "3.8.")) and case == "s4096_d128"
    assert known or sum(loop.spill_accesses for loop in report.loops) == 0


@pytest.mark.triton("3.9.")
@pytest.mark.parametrize("arch", ["gfx942", "gfx950"])
@pytest.mark.parametrize(
    ("name", "case"),
    [
        ("flash_attention", "window"),
        ("flash_attention", "gpt_oss"),
        ("flash_attention", "dropout"),
        *(
            (f"attention_forward_backward{part}", case)
            for part in ("", "::backward_queries", "::backward_keys")
            for case in ("window", "gpt_oss", "dropout")
        ),
        ("attention_forward_backward::backward_sinks", "gpt_oss"),
        ("paged_decoding", "llama70b_page16"),
        ("paged_decoding", "llama70b_page64"),
        ("paged_decoding", "gpt_oss"),
    ],
)
def test_features_of_attention_do_not_spill(
    name: str, case: str, arch: str, analyse: Callable[..., KernelReport]
) -> None:
    """Windows, sinks, dropout and pages keep every vector register, or in one case all that loops use."""
    report = analyse(name, arch, None, case)

    assert sum(loop.spill_accesses for loop in report.loops) == 0
    known = (name, case, arch) == ("attention_forward_backward::backward_keys", "dropout", "gfx942")
    assert known or report.resources.vgpr_spills == 0


@pytest.mark.triton("3.9.")
@pytest.mark.parametrize(("name", "share"), [("flash_attention", 0.6), ("attention_forward_backward", 0.62)])
def test_a_window_leaves_out_the_blocks_behind_it(name: str, share: float) -> None:
    """A quarter of the keys takes little more than half of the time: 0.44 of the pairs, two edges of masked blocks."""
    times = [
        {
            kernel.name: kernel.time_us
            for kernel in kprof.analyze(name, arch="MI300X", case=case, try_cures=False).kernels
        }
        for case in ("s4096_d128", "window")
    ]

    assert len(times[1]) == (3 if name == "attention_forward_backward" else 1)
    assert all(times[1][launch] < share * time for launch, time in times[0].items()), times


@pytest.mark.triton
def test_sinks_have_a_launch_of_their_own(kernel_of: Callable[[str], Kernel]) -> None:
    """The kernel of the sinks' gradients is a part of the call where there are sinks, and nowhere else."""
    kernel = kernel_of("attention_forward_backward")
    when = kernel.parts["backward_sinks"].when

    assert when is not None
    assert [case for case, shape in kernel.shapes.items() if when(shape, kernel.config)] == ["gpt_oss"]


@pytest.mark.triton
def test_head_size_256_spills_by_tile(analyse: Callable[..., KernelReport]) -> None:
    """At head size 256 a 128 x 64 tile spills hundreds of registers in its loops, 64 x 32 an order less or none."""
    common = {"num_warps": 4, "waves_per_eu": 2}
    large = analyse("flash_attention", "gfx942", {"BLOCK_M": 128, "BLOCK_N": 64, **common}, "d256_s4096")
    small = analyse("flash_attention", "gfx942", {"BLOCK_M": 64, "BLOCK_N": 32, **common}, "d256_s4096")

    # Triton 3.4 spills 642, 3.6 300, 3.9 443 with the large tile.
    assert large.resources.vgpr_spills > 200
    assert large.resources.vgpr_spills > 10 * small.resources.vgpr_spills
    assert sum(loop.spill_accesses for loop in large.loops) > 100
    assert sum(loop.spill_accesses for loop in small.loops) == 0
    spill = next(f for f in large.findings if f.name == "spill-in-loop")
    assert spill.severity is Severity.ERROR
    assert spill.location.file.endswith("flash_attention.py")
