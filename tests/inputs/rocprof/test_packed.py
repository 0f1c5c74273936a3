"""A packed file may unpack to so much and no more."""

import gzip
import subprocess
import sys
from pathlib import Path

import pytest

from kprof.errors import KprofError
from kprof.inputs import rocprof

ROOT = Path(__file__).resolve().parents[3]
HEADING = (
    "Dispatch_ID,GPU_ID,Grid_Size,Workgroup_Size,LDS_Per_Workgroup,Arch_VGPR,Kernel_Name,Start_Timestamp,"
    "End_Timestamp,SQ_WAVES,GRBM_GUI_ACTIVE\n"
)


def test_a_packed_file_takes_no_more_than_its_share_of_memory(tmp_path):
    """A few megabytes that unpack to gigabytes: refused in words, before it has a gigabyte."""
    path = tmp_path / "bomb.csv.gz"
    row = b"1,0,1024,256,0,64,k,100,200,8,5\n"
    with gzip.open(path, "wb", compresslevel=9) as file:
        file.write(HEADING.encode())
        for _ in range(40):
            file.write(row * (5 << 20 >> 5))
    assert path.stat().st_size < 1 << 20

    code = (
        # Not ru_maxrss: that begins with what the process that started this one had.
        "import re, sys\nfrom kprof.inputs import rocprof\n"
        "try:\n    rocprof.read(sys.argv[1])\n"
        "finally:\n    print(re.search(r'VmHWM:\\s*(\\d+)', open('/proc/self/status').read())[1])"
    )
    ran = subprocess.run([sys.executable, "-c", code, str(path)], capture_output=True, text=True, check=False, cwd=ROOT)
    assert int(ran.stdout) < 700 << 10
    assert "unpacks to more than 64 MiB, 100 times its packed size" in ran.stderr
    assert "KPROF_INPUT_RATIO=1000" in ran.stderr


def test_the_limits_can_be_raised(tmp_path, monkeypatch):
    """By ratio and by size; what is no size is said."""
    path = tmp_path / "c.csv.gz"
    path.write_bytes(gzip.compress((HEADING + "1,0,1024,256,0,64,k,100,200,8,5\n" * 3_000_000).encode(), 1))
    with pytest.raises(KprofError, match="times its packed size"):
        rocprof.read(path)
    monkeypatch.setenv("KPROF_INPUT_RATIO", "1000")
    monkeypatch.setenv("KPROF_INPUT_LIMIT", "80M")
    with pytest.raises(KprofError, match="unpacks to more than 80 MiB") as caught:
        rocprof.read(path)
    assert "KPROF_INPUT_LIMIT" in caught.value.hint
    monkeypatch.setenv("KPROF_INPUT_LIMIT", "much")
    with pytest.raises(KprofError, match="KPROF_INPUT_LIMIT is not a size: 'much'"):
        rocprof.read(path)
