"""What each format's names and contents are read as."""

import pytest

from kprof.errors import KprofError
from kprof_servers.configs.devices import machine_of
from kprof_servers.configs.formats.vllm import fields
from kprof_servers.configs.reading import gather, read

GEMM = {"BLOCK_SIZE_M": 64, "num_warps": 4}


@pytest.mark.parametrize(
    ("name", "form", "arch", "family", "parameters", "default"),
    [
        ("gfx950-GEMM-A16W16.json", "AITER flat", "gfx950", "GEMM-A16W16", {}, True),
        ("gfx942-GEMM-A8W8-N=128-K=2048.json", "AITER flat", "gfx942", "GEMM-A8W8", {"N": "128", "K": "2048"}, False),
        (
            "gfx950-FUSED-GEMM-AFP4WFP4-A16W16-N4=512-N16=256-K=7168.json",
            "AITER flat",
            "gfx950",
            "FUSED-GEMM-AFP4WFP4-A16W16",
            {"N4": "512", "N16": "256", "K": "7168"},
            False,
        ),
        (
            "gfx950/triton/gemm/gemm_afp4wfp4/GEMM-AFP4WFP4-N=8192-K=8192.json",
            "AITER nested",
            "gfx950",
            "GEMM-AFP4WFP4",
            {"N": "8192", "K": "8192"},
            False,
        ),
        ("gfx950/gluon/gemm/gemm_afp4wfp4/DEFAULT.json", "AITER nested", "gfx950", "GEMM-AFP4WFP4", {}, True),
        (
            "E=8,N=3584,device_name=AMD_Instinct_MI300X,dtype=fp8_w8a8,block_shape=[128,128].json",
            "vLLM",
            "gfx942",
            "fused_moe",
            {"E": "8", "N": "3584", "dtype": "fp8_w8a8", "block_shape": "[128,128]"},
            False,
        ),
    ],
)
def test_names_say_what_a_file_is_for(write, name, form, arch, family, parameters, default):
    """Architecture, family and shape come from folders and names."""
    bucket = "64" if form == "vLLM" else "any"
    file = read(str(write(name, {bucket: GEMM})))
    assert (file.format, machine_of(file).label, file.family) == (form, arch, family)
    assert (dict(file.parameters), file.default) == (parameters, default)
    assert [b.name for b in file.buckets] == [bucket]
    assert file.buckets[0].knob("num_warps").place.line == 4


def test_content_tells_where_the_name_does_not(write):
    """Buckets by M are AITER's, numbers vLLM's; anything else is none."""
    assert read(str(write("a.json", {"M_LEQ_64": GEMM, "any": GEMM}))).format == "AITER flat"
    assert read(str(write("b.json", {"triton_version": "3.5.1", "1": GEMM, "64": GEMM}))).format == "vLLM"
    assert read(str(write("package.json", {"name": "x", "version": "1"}))) is None


@pytest.mark.parametrize(
    ("device", "label"),
    [
        ("AMD_Instinct_MI300X", "gfx942"),
        ("AMD_Instinct_MI325_OAM", "gfx942"),
        ("AMD_Instinct_MI300X_OAM", "gfx942"),
        ("AMD_Instinct_MI300XHF_OAM", "gfx942"),
        ("AMD_Instinct_MI355_OAM", "gfx950"),
        ("AMD_Instinct_MI350X", "gfx950"),
        ("AMD_Instinct_MI210", "gfx90a"),
        ("AMD_Radeon_RX_7900_XTX", "gfx1100"),
        ("NVIDIA_H20-3e", "NVIDIA_H20-3e"),
        ("AMD_Radeon_Graphics", "AMD_Radeon_Graphics"),
    ],
)
def test_device_names_of_the_wild(write, device, label):
    """Names as drivers give them, board suffixes included, lead to an architecture."""
    file = read(str(write(f"E=8,N=128,device_name={device}.json", {"1": GEMM})))
    machine = machine_of(file)
    assert machine.label == label
    assert machine.foreign == device.startswith("NVIDIA")
    assert (machine.arch is None) == (label == device)


def test_lists_of_triton_config_are_read_without_running_them(write):
    """Literal settings with their lines and the function they tune; nothing of the file is executed."""
    path = write(
        "mine.py",
        """
import triton
raise SystemExit("this file must not run")

LIST = [triton.Config({"BLOCK": 64, "kpack": K}, num_warps=4), triton.Config(kwargs={"BLOCK": -1}, num_stages=2)]

@triton.autotune(configs=[triton.Config({"BLOCK_M": 128}, 8, 3) for _ in range(2)], key=["n"])
@triton.jit
def kernel(x):
    pass

Config(name="another thing")
""",
    )
    file = read(str(path))
    assert [b.path for b in file.buckets] == [
        ("list in line 5", "line 5"),
        ("list in line 5", "line 5"),
        ("kernel", "line 7"),
    ]
    assert [str(b.values()) for b in file.buckets] == [
        "{'BLOCK': 64, 'kpack': not a literal, 'num_warps': 4}",
        "{'BLOCK': -1, 'num_stages': 2}",
        "{'BLOCK_M': 128, 'num_warps': 8, 'num_stages': 3}",
    ]


def test_folders_are_searched_and_named_files_must_be_configurations(write, tmp_path):
    """Other JSON and Python files are passed over in a folder, and told when they are named."""
    write("gfx942-GEMM-A16W16.json", {"any": GEMM})
    write("deep/er/E=1,N=2,device_name=AMD_Instinct_MI300X.json", {"1": GEMM})
    write("package.json", {"name": "x"})
    write("plain.py", "x = 1\n")
    (tmp_path / "loop").symlink_to(tmp_path)
    found = gather([str(tmp_path), str(tmp_path / "gfx942-GEMM-A16W16.json")])
    assert [file.path.rsplit("/", 1)[-1] for file in found.files] == [
        "gfx942-GEMM-A16W16.json",
        "E=1,N=2,device_name=AMD_Instinct_MI300X.json",
    ]
    assert (found.others, found.problems) == (1, [])
    named = gather([str(tmp_path / name) for name in ("package.json", "plain.py", "absent.json")])
    assert [problem.message for problem in named.problems] == [
        "is no tuned configuration that kprof knows",
        "has no triton.Config with settings that can be read from the text",
        "no such file",
    ]
    assert all(isinstance(problem, KprofError) for problem in named.problems)


def test_names_are_read_as_far_as_they_go():
    """Commas in brackets belong to the value; what is no pair is left over."""
    assert fields("E=1,block_shape=[128,128],x=") == ({"E": "1", "block_shape": "[128,128]", "x": ""}, "")
    assert fields("E=8,oops") == ({"E": "8"}, "oops")
