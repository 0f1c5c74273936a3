"""What compilers and libraries leave behind: each kind made for real, and read."""

import gzip
import json
import lzma
import os
import shutil
import struct
import subprocess
import sys
import zipfile
from dataclasses import replace
from pathlib import Path

import pytest

from kprof.errors import KprofError
from kprof.inputs.code_object.packing import unpack
from kprof.options.groups import CompileOptions
from kprof.targets.resolver import load

ROOT = Path(__file__).resolve().parents[2]
TRITON = """
import triton
import triton.language as tl
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource

@triton.jit
def mm(a, b, c, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    m, n, k = tl.arange(0, BM), tl.arange(0, BN), tl.arange(0, BK)
    acc = tl.zeros([BM, BN], tl.float32)
    for i in range(0, K, BK):
        acc += tl.dot(tl.load(a + m[:, None] * K + k[None, :] + i), tl.load(b + (k[:, None] + i) * BN + n[None, :]))
    tl.store(c + m[:, None] * BN + n[None, :], acc)

kinds = {"a": "*fp16", "b": "*fp16", "c": "*fp32", "K": "i32", "BM": "constexpr", "BN": "constexpr", "BK": "constexpr"}
source = ASTSource(mm, kinds, {(4,): 64, (5,): 64, (6,): 32}, {(p,): [["tt.divisibility", 16]] for p in range(4)})
triton.compile(source, target=GPUTarget("hip", "gfx942", 64), options={"num_warps": 4})
"""
HIP = """
#define __global__ __attribute__((global))
#define __shared__ __attribute__((shared))
extern "C" __global__ void reverse(float* out, const float* in, int n) {
  __shared__ float tile[256];
  int lane = __builtin_amdgcn_workitem_id_x();
  int i = __builtin_amdgcn_workgroup_id_x() * 256 + lane;
  tile[lane] = in[i];
  __builtin_amdgcn_s_barrier();
  if (i < n) out[i] = tile[255 - lane] * 2.0f;
}
"""


@pytest.fixture(scope="session")
def triton_left(tmp_path_factory):
    """Triton's own cache and dump directories after one compile of its public API."""
    root = tmp_path_factory.mktemp("left")
    (root / "mm.py").write_text(TRITON)
    places = {"TRITON_CACHE_DIR": str(root / "cache"), "TRITON_DUMP_DIR": str(root / "dump"), "TRITON_KERNEL_DUMP": "1"}
    linker = shutil.which("ld.lld") or shutil.which("ld.lld-19")
    if linker:
        places["TRITON_HIP_LLD_PATH"] = linker
    ran = subprocess.run(
        [sys.executable, str(root / "mm.py")], env={**os.environ, **places}, capture_output=True, text=True, check=False
    )
    if "ld.lld not found" in ran.stderr:
        pytest.skip("this Triton needs ld.lld to link")
    assert ran.returncode == 0, ran.stderr
    return root


@pytest.fixture(scope="session")
def clang():
    """A clang that compiles for AMD GPUs."""
    found = next((c for name in ("clang++-19", "clang++-20", "clang++") if (c := shutil.which(name))), None)
    return found or pytest.skip("no clang is installed")


@pytest.fixture
def hip(tmp_path):
    """A HIP source that needs no headers."""
    path = tmp_path / "reverse.hip"
    path.write_text(HIP)
    return path


def _kernels(target, **options):
    return list(load(str(target), CompileOptions(**options)))


@pytest.mark.triton
def test_triton_cache_has_the_launch_and_a_dump_has_not(triton_left):
    """From the cache: LDS, warps, version, lines. From the dump: everything but the LDS, which is not guessed."""
    (cached,) = _kernels(triton_left / "cache")
    assert (cached.name, cached.arch.name, cached.metadata["num_warps"]) == ("mm", "gfx942", 4)
    assert cached.metadata["shared"] > 0
    (dumped,) = _kernels(triton_left / "dump")
    assert dumped.program.registers.vgpr == cached.program.registers.vgpr
    assert (dumped.shared_bytes, dumped.num_warps) == (None, 4)
    assert any("does not contain the LDS size" in note for note in dumped.notes)
    assert dumped.ttgir is not None


@pytest.mark.triton
def test_inductors_cache_is_triton_caches_with_other_things_between(triton_left, tmp_path):
    """The layout of TORCHINDUCTOR_CACHE_DIR, host libraries included; generated Python is not imported."""
    cache = tmp_path / "torchinductor_someone"
    shutil.copytree(triton_left / "cache", cache / "triton" / "0")
    (cache / "ab").mkdir()
    generated = "raise SystemExit(1)\ntriton_poi_0 = async_compile.triton('triton_poi_fused_add_0', '''...''')\n"
    (cache / "ab" / "cabcd.py").write_text(generated)
    shutil.copy(sys.executable, cache / "ab" / "host.so")
    (cache / "ab" / "host.s").write_text("\t.text\nmain:\n\tret\n")
    (kernel,) = _kernels(cache)
    assert kernel.name == "mm"
    shutil.rmtree(cache / "triton")
    with pytest.raises(KprofError, match=r"source of 1 kernels of torch.compile \(triton_poi_fused_add_0\)") as caught:
        _kernels(cache)
    assert "TORCHINDUCTOR_CACHE_DIR" in caught.value.hint


@pytest.fixture(scope="session")
def image(triton_left):
    """A code object and the metadata that Triton has of it."""
    (path,) = (triton_left / "cache").rglob("mm.hsaco")
    return path.read_bytes(), json.loads(path.with_suffix(".json").read_text())


def _aks2(entries):
    """As AOTriton writes it: header, then directory and images in one xz stream."""
    directory, images = b"", b""
    for name, lds, threads, blob in entries:
        title = name.encode() + b"\0"
        directory += struct.pack("<IIIII", lds, threads, len(images), len(blob), len(title)) + title
        images += blob
    head = struct.pack("<4sIII", b"AKS2", len(directory) + len(images), len(entries), len(directory))
    return head + lzma.compress(directory + images)


@pytest.mark.triton
def test_archives_of_aotriton_say_lds_and_workgroup(image, tmp_path):
    """Each image is a kernel with its launch; one without code did not compile; a zip of archives is read too."""
    blob, metadata = image
    data = _aks2([("good;warp4", metadata["shared"], 256, blob), ("bad;warp8", 0, 0, b"")])
    (tmp_path / "FONLY__x.aks2").write_bytes(data)
    (kernel,) = _kernels(tmp_path / "FONLY__x.aks2")
    assert (kernel.name, kernel.shared_bytes, kernel.num_warps) == ("mm", metadata["shared"], 4)
    assert "from the archive's good;warp4" in kernel.notes
    with zipfile.ZipFile(tmp_path / "attn_fwd.zip", "w") as archive:
        archive.writestr("one", data)
        archive.writestr("two", data)
    assert [k.shared_bytes for k in _kernels(tmp_path / "attn_fwd.zip")] == [metadata["shared"]] * 2
    assert len(_kernels(tmp_path)) == 1  # a zip below a directory is not looked into
    (tmp_path / "none.aks2").write_bytes(_aks2([("bad", 0, 0, b"")]))
    with pytest.raises(KprofError, match="no code object in this compressed file; 1 of its configurations did not"):
        _kernels(tmp_path / "none.aks2")


@pytest.mark.triton
@pytest.mark.parametrize("packed", ["xz", "gz", "zst"])
def test_compressed_code_objects(image, tmp_path, packed):
    """The formats that Python has, xz and gzip; zstd where there is a reader, else one message that names a way out."""
    path = tmp_path / f"mm.hsaco.{packed}"
    zstd = shutil.which("zstd")
    if packed == "zst":
        if zstd is None:
            path.write_bytes(b"\x28\xb5\x2f\xfd" + image[0][:100])
        else:
            path.write_bytes(subprocess.run([zstd, "-c"], input=image[0], capture_output=True, check=True).stdout)
        try:
            assert [k.name for k in _kernels(path)] == ["mm"]
        except KprofError as error:
            assert "zstd" in error.message or "damaged" in error.message  # noqa: PT017 - either outcome is right
        return
    path.write_bytes({"xz": lzma.compress, "gz": gzip.compress}[packed](image[0]))
    assert [k.name for k in _kernels(path)] == [k.name for k in _kernels(tmp_path)] == ["mm"]


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (lzma.compress(b"x" * 5000)[:-20], "is cut off"),
        (gzip.compress(b"x" * 5000)[:-20], "is cut off"),
        (lzma.compress(b"x" * 5000)[:20] + b"\0" * 40, "damaged"),
        (gzip.compress(b"x" * 5000)[:12] + b"\xff" * 40, "damaged"),
        (b"PK\x03\x04 nonsense", "the archive is damaged"),
        (b"AKS2\1", "cut off in its header"),
        (b"AKS2" + struct.pack("<III", 1 << 31, 1, 10), "claims 1 kernels in 2,147,483,648 bytes"),
        (b"AKS2" + struct.pack("<III", 100, 1, 50) + lzma.compress(b"\0" * 60), "is cut off: 60 of 100"),
        (b"AKS2" + struct.pack("<III", 100, 9, 50) + lzma.compress(b"\0" * 100), "ends too early"),
        (
            b"AKS2"
            + struct.pack("<III", 30, 1, 22)
            + lzma.compress(struct.pack("<5I", 0, 0, 9, 9, 2) + b"n\0" + bytes(8)),
            "reaches beyond its end",
        ),
        (b"AKS2" + struct.pack("<III", 10, 1, 5) + lzma.compress(b"\0" * 5000), "expands to more than its 10 bytes"),
    ],
    # gzip writes the time of day: the data would give each process other names.
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_damaged_archives_are_one_clear_message(data, words):
    """Cut off, damaged, lying about sizes: bounded, and never a traceback."""
    with pytest.raises(KprofError, match=words):
        list(unpack(data, "x"))


def test_archives_in_archives_end():
    """A file that unpacks to itself again and again is given up."""
    data = b"end"
    for _ in range(6):
        data = gzip.compress(data)
    with pytest.raises(KprofError, match="archives nested"):
        list(unpack(data, "x"))


@pytest.mark.llvm
def test_save_temps_of_clang(hip, clang, tmp_path):
    """Of assembly, objects, linked code and bundle each kernel is read once; what is for the host is passed over."""
    linker = subprocess.run([clang, "--print-prog-name=lld"], check=True, capture_output=True, text=True).stdout.strip()
    if not Path(linker).is_absolute():
        pytest.skip("this clang has no lld beside it, so device code is not linked")
    folder = tmp_path / "temps"
    folder.mkdir()
    targets = ["--offload-arch=gfx942", "--offload-arch=gfx1100"]
    # The host's half fails without HIP's headers, after the devices' files have been written.
    subprocess.run(
        [clang, "-x", "hip", "-nogpuinc", "-nogpulib", *targets, "-O3", "-save-temps", "-c", str(hip)],
        cwd=folder,
        check=False,
        capture_output=True,
    )
    made = {path.suffix for path in folder.iterdir()}
    assert {".s", ".o", ".out", ".hipfb", ".bc"} <= made
    (folder / "reverse-host-x86_64-pc-linux-gnu.s").write_text("\t.text\nreverse:\n\tret\n")
    found = sorted((k.arch.name, k.name, k.shared_bytes) for k in _kernels(folder))
    assert found == [("gfx1100", "reverse", 1024), ("gfx942", "reverse", 1024)]
    (bundle,) = folder.glob("*.hipfb")
    (linked,) = folder.glob("*gfx942.out")
    assert sorted(k.arch.name for k in _kernels(bundle)) == ["gfx1100", "gfx942"]
    assert [k.arch.name for k in _kernels(linked)] == ["gfx942"]


@pytest.mark.llvm
def test_hip_source_is_compiled_for_each_architecture(hip, clang, monkeypatch):
    """Lines are those of the source, nothing is written beside it, and no device code is run."""
    monkeypatch.setenv("KPROF_CLANG", clang)
    before = sorted(hip.parent.iterdir())
    kernels = _kernels(hip, arch=("gfx942", "gfx1100"))
    assert [(k.arch.name, k.name, k.shared_bytes) for k in kernels] == [
        ("gfx942", "reverse", 1024),
        ("gfx1100", "reverse", 1024),
    ]
    lines = {i.source.frames[0].line for i in kernels[0].program.instructions if i.source is not None}
    assert {8, 10} <= lines
    assert sorted(hip.parent.iterdir()) == before


@pytest.mark.llvm
@pytest.mark.parametrize(
    ("source", "words"),
    [
        ("#include <hip/hip_runtime.h>\n__global__ void f(float* x) { x[0] = 1; }\n", "HIP's headers are part of ROCm"),
        (HIP.replace("tile[lane] = in[i];", "tile[lane] = wrong;"), "line 8"),
    ],
)
def test_hip_source_that_does_not_compile(hip, clang, monkeypatch, source, words):
    """Missing headers say where they come from; an error in the source has its line."""
    monkeypatch.setenv("KPROF_CLANG", clang)
    monkeypatch.delenv("ROCM_PATH", raising=False)
    hip.write_text(source)
    with pytest.raises(KprofError) as caught:
        _kernels(hip, arch=("gfx942",))
    assert words in str(caught.value)


def test_without_clang_hip_source_is_one_message(hip, monkeypatch):
    """What is missing, and how to name it."""
    monkeypatch.setenv("KPROF_CLANG", "no-such-clang")
    with pytest.raises(KprofError, match="needs a clang, and none was found"):
        _kernels(hip)


HAND_WRITTEN = """
.amdgcn_target "amdgcn-amd-amdhsa--gfx942"
.text
.p2align 8
.globl mine
.type mine,@function
mine:
  s_mov_b32 s4, 16
label_loop:
  buffer_load_dwordx4 v[0:3], v4, s[8:11], 0 offen
  s_waitcnt vmcnt(0)
  v_mfma_f32_16x16x16_f16 a[0:3], v[0:1], v[2:3], a[0:3]
  s_sub_u32 s4, s4, 1
  s_cmp_lg_u32 s4, 0
  s_cbranch_scc1 label_loop
  s_branch label_end
  s_nop 0
label_end:
  s_endpgm
.rodata
.p2align 6
.amdhsa_kernel mine
  .amdhsa_next_free_vgpr 12
  .amdhsa_next_free_sgpr 102
  .amdhsa_accum_offset 8
  .amdhsa_group_segment_fixed_size 4096
.end_amdhsa_kernel
.amdgpu_metadata
---
amdhsa.version: [1, 2]
amdhsa.kernels:
  - .name: mine
    .symbol: mine.kd
    .kernarg_segment_size: 0
    .group_segment_fixed_size: 4096
    .private_segment_fixed_size: 0
    .kernarg_segment_align: 8
    .wavefront_size: 64
    .sgpr_count: 112
    .vgpr_count: 12
    .max_flat_workgroup_size: 256
...
.end_amdgpu_metadata
"""


@pytest.mark.llvm
def test_hand_written_code_objects_keep_their_labels(llvm_mc, tmp_path):
    """Labels that stayed symbols split no kernel and lose no loop; 112 SGPRs are what the granule makes of 108."""
    from kprof_analyzers.pipeline import analyze

    path = tmp_path / "mine.co"
    subprocess.run(
        [llvm_mc, "-triple=amdgcn-amd-amdhsa", "-mcpu=gfx942", "-filetype=obj", "-o", str(path)],
        input=HAND_WRITTEN,
        text=True,
        check=True,
    )
    (kernel,) = _kernels(path)
    assert [i.opcode.name for i in kernel.program.instructions][-3:] == ["s_cbranch_scc1", "s_branch", "s_endpgm"]
    # The s_nop that no way leads to is padding.
    assert len(kernel.program.instructions) == 9
    report = analyze(kernel)
    (loop,) = report.loops
    assert loop.instructions == {
        "buffer_load_dwordx4": 1,
        "s_waitcnt": 1,
        "v_mfma_f32_16x16x16_f16": 1,
        "s_sub_u32": 1,
        "s_cmp_lg_u32": 1,
        "s_cbranch_scc1": 1,
    }
    assert (report.resources.sgpr, report.resources.lds_bytes) == (112, 4096)
    assert report.occupancy.limits["sgpr"] == _with_108(kernel).limits["sgpr"]


def _with_108(kernel):
    from kprof_analyzers.occupancy import from_kernel

    registers = replace(kernel.program.registers, sgpr=108)
    return from_kernel(registers, lds_bytes=4096, num_warps=4, arch=kernel.arch)
