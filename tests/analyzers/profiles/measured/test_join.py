"""Which measured kernel a compiled one is."""

import pytest

from kprof.errors import KprofError
from kprof.inputs import rocprof
from kprof_analyzers.profiles.measured.join import (
    CompiledIdentity,
    Variant,
    compare,
    confidence,
    in_counters,
    is_called,
)

SUBJECT = CompiledIdentity("flash_attention_kernel", 64, 4, 32768, 256)


@pytest.mark.parametrize(
    ("measured", "same"),
    [
        ("flash_attention_kernel", True),
        ("flash_attention_kernel.kd", True),
        ("flash_attention_kernel [clone .kd]", True),
        ("flash_attention_kernel_0d1d2c3de", True),
        ("flash_attention_kernel_backward", False),
        ("flash_attention_kernel2", False),
        ("_flash_attention_kernel", False),
    ],
)
def test_names(measured, same):
    """Decorations of tools and old Triton versions are looked through, longer names are other kernels."""
    assert is_called(measured, "flash_attention_kernel") is same


@pytest.mark.parametrize(
    ("size", "lds", "vgprs", "expected"),
    [
        (256, 32768, 256, "sure"),
        (256, 32768, None, "sure"),
        (256, None, None, "likely"),
        (256, 32768, 128, "likely"),
        (256, 65536, 256, "doubtful"),
        (None, None, None, "doubtful"),
    ],
)
def test_confidence(size, lds, vgprs, expected):
    """Wavefronts and LDS make sure, registers may differ between compilers, a name alone is little."""
    assert confidence(compare(SUBJECT, Variant("flash_attention_kernel", (0,), size, lds, vgprs))) == expected


def test_lds_in_blocks():
    """LDS is told in blocks of 512 bytes: 32 bytes are told as 512."""
    small = CompiledIdentity("softmax_kernel", 64, 8, 32, 40)
    assert confidence(compare(small, Variant("softmax_kernel", (0,), 512, 512, 40))) == "sure"
    assert confidence(compare(small, Variant("softmax_kernel", (0,), 512, 1024, 40))) == "doubtful"


def test_specialisations_of_one_name_are_kept_apart(tmp_path, making):
    """Three launches are called the same; only those with the compiled kernel's wavefronts and LDS are taken."""
    making.agents(tmp_path)
    making.collection(tmp_path, making.counted(), runs=2)
    making.collection(tmp_path, making.counted(), warps=8, first=3)
    making.collection(tmp_path, making.counted(), lds=16384, first=4)
    data = rocprof.read(tmp_path)
    match, rows = in_counters(SUBJECT, data)
    assert (match.dispatches, match.others, match.confidence) == (2, 2, "sure")
    assert sorted(data.dispatches.loc[list(rows), "dispatch_id"]) == [1, 2]
    assert {key.name: (key.computed, key.measured) for key in match.keys}["lds_bytes"] == (32768, 32768)


def test_a_trace_that_tells_less_belongs_to_the_match(tmp_path, making):
    """A kernel_trace without registers, with the exact LDS: its runs are those of the match, not others."""
    subject = CompiledIdentity("flash_attention_kernel", 64, 4, 32000, 256)
    making.collection(tmp_path, making.counted(), lds=32256)
    (tmp_path / "1_kernel_trace.csv").write_text(
        '"Kind","Agent_Id","Queue_Id","Kernel_Id","Kernel_Name","Correlation_Id","Start_Timestamp","End_Timestamp",'
        '"Private_Segment_Size","Group_Segment_Size","Workgroup_Size_X","Workgroup_Size_Y","Workgroup_Size_Z",'
        '"Grid_Size_X","Grid_Size_Y","Grid_Size_Z"\n'
        '"KERNEL_DISPATCH",1,1,12,"flash_attention_kernel",9,5000,905000,0,32000,256,1,1,1048576,1,1\n'
    )
    match, rows = in_counters(subject, rocprof.read(tmp_path))
    assert (match.dispatches, match.others, match.confidence) == (2, 0, "sure")
    assert len(rows) == 2


def test_other_num_warps_is_another_program(tmp_path, making):
    """A launch of eight wavefronts says nothing of a program for four: both numbers are told."""
    making.collection(tmp_path, making.counted(), warps=8)
    with pytest.raises(KprofError, match="measured with num_warps=8, but is compiled with num_warps=4"):
        in_counters(SUBJECT, rocprof.read(tmp_path))


def test_no_such_kernel_names_near_ones(tmp_path, making):
    """The message offers what is called nearly the same."""
    making.collection(tmp_path, making.counted(), name="flash_attn_kernel")
    with pytest.raises(
        KprofError, match="no kernel flash_attention_kernel in the counters; did you mean 'flash_attn_kernel'"
    ):
        in_counters(SUBJECT, rocprof.read(tmp_path))
