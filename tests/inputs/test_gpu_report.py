"""The text of rocminfo and amd-smi."""

import pytest

from kprof.errors import InputError
from kprof.inputs.gpu_report import ReportedGpu, read_gpu_report

CPU = """*******
Agent 1
*******
  Name:                    Example CPU
  Marketing Name:          Example CPU
  Device Type:             CPU
"""
GPU = """*******
Agent 2
*******
  Name:                    gfx942
  Marketing Name:          AMD Instinct MI300X
  Compute Unit:            304(0x130)
  Pool Info:
    Pool 1
      Name:                another
"""
SMI = """GPU: 0
    ASIC:
        MARKET_NAME: AMD Instinct MI300X
        NUM_COMPUTE_UNITS: 304
        TARGET_GRAPHICS_VERSION: gfx942
    PARTITION:
        COMPUTE_PARTITION: CPX
        MEMORY_PARTITION: NPS4

GPU: 1
    ASIC:
        MARKET_NAME: AMD Instinct MI300X
        NUM_COMPUTE_UNITS: N/A
        TARGET_GRAPHICS_VERSION: N/A
"""


@pytest.fixture
def report(tmp_path):
    """Read a text as a report."""

    def read(text):
        path = tmp_path / "report.txt"
        path.write_text(text)
        return read_gpu_report(str(path))

    return read


def test_rocminfo(report):
    """GPUs only, the first of equal names, numbers without their hexadecimal form."""
    assert report(CPU + GPU) == (ReportedGpu("gfx942", "AMD Instinct MI300X", 304),)
    assert report(GPU)[0].words == "AMD Instinct MI300X (gfx942), 304 CUs"


def test_amd_smi(report):
    """What is not available is unknown, not zero."""
    assert report(SMI) == (
        ReportedGpu("gfx942", "AMD Instinct MI300X", 304, "CPX", "NPS4"),
        ReportedGpu("", "AMD Instinct MI300X", None),
    )


@pytest.mark.parametrize(
    ("text", "message", "place"),
    [
        ("", "neither output of rocminfo nor of amd-smi", None),
        ("GPU 0 is fine\n", "neither output of rocminfo nor of amd-smi", None),
        (CPU, "no GPU in this output", "line 2"),
        (GPU[: GPU.index("  Compute")], "Agent 2 has no number of Compute Units: the output is cut", "line 2"),
        (CPU + "Agent 2\n*****\n", "Agent 2 has no Name", "line 7"),
        (SMI[: SMI.index("    ASIC")], "GPU: 0 has no MARKET_NAME", "line 1"),
        (GPU + SMI, "output of rocminfo and of amd-smi in one file", "line 10"),
        ("GPU: 1\n" * 2000, "over 1,024 agents", "line 1025"),
    ],
)
def test_cut_mixed_and_other_files_are_refused(report, text, message, place):
    """One message with the place."""
    with pytest.raises(InputError, match=message) as error:
        report(text)
    assert error.value.place == place
    assert error.value.path.endswith("report.txt")
