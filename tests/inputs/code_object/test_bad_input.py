"""What is no code object, or not all of one."""

import struct
import time
import zlib
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kprof.errors import KprofError
from kprof.inputs import code_object
from kprof.inputs.code_object import bundle

ARTIFACTS = Path(__file__).parents[2] / "artifacts"
ELF = (ARTIFACTS / "gfx942" / "scaled_exp.triton-3.9.0.hsaco").read_bytes()
BUNDLE = (ARTIFACTS / "twice.clang-19.co").read_bytes()
HOST = (ARTIFACTS / "twice.clang-19.host.o").read_bytes()


def compressed(content: bytes, version: int, *, claim: int | None = None, method: int = 0) -> bytes:
    """A CCOB file of one of the three versions around zlib data."""
    packed = zlib.compress(content)
    size = len(content) if claim is None else claim
    head = b"CCOB" + struct.pack("<HH", version, method)
    if version == 1:
        return head + struct.pack("<IQ", size, 0) + packed
    layout = "<IIQ" if version == 2 else "<QQQ"
    return head + struct.pack(layout, 8 + struct.calcsize(layout) + len(packed), size, 0) + packed


@pytest.mark.parametrize("version", [1, 2, 3])
def test_compressed_bundles(version: int) -> None:
    """All three header versions give what the plain bundle gives."""
    found = code_object.read(compressed(BUNDLE, version))
    assert found.container == "compressed bundle"
    assert found.objects == code_object.read(BUNDLE).objects


def test_zstd_is_read_or_refused_clearly() -> None:
    """Clang's own compressed bundle: read where a zstd library is installed, else one message that names a way out."""
    data = (ARTIFACTS / "twice.clang-19.zstd.co").read_bytes()
    try:
        found = code_object.read(data, "a.co")
    except KprofError as error:
        assert "zstd" in error.message  # noqa: PT017 - either outcome is right
        assert "zstandard" in str(error.hint)  # noqa: PT017
    else:
        assert [kernel.name for kernel in found.kernels] == ["twice", "twice"]


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"", "empty"),
        (b"/home/me/cache/kernel.hsaco\n", "contains a path"),
        (b"hello, this is text", "neither an ELF file nor an offload bundle"),
        (ELF[:40], "cut off inside the ELF header"),
        (ELF[: len(ELF) // 2], "cut off"),
        (ELF[:-1], "cut off"),
        (b"\x7fELF\x01\x01" + ELF[6:], "not a 64-bit"),
        (ELF[:18] + b"\x3e\x00" + ELF[20:], "program for the host"),
        (BUNDLE[:30], "cut off in its header"),
        (BUNDLE[:40], "cut off in its table"),
        (BUNDLE[:5000], "cut off inside hipv4"),
        (bundle.MAGIC + struct.pack("<Q", 2**40), "claims"),
        (compressed(BUNDLE, 2)[:10], "cut off in its header"),
        (compressed(BUNDLE, 2)[:-200], "cut off"),
        (compressed(BUNDLE, 2, claim=2**31), "1 GiB"),
        (compressed(BUNDLE, 2, claim=100), "expands to more"),
        (compressed(BUNDLE, 9), "version 9"),
        (compressed(BUNDLE, 2, method=7), "method 7"),
        (compressed(BUNDLE, 2)[:24] + b"\xff" * 100, "damaged"),
    ],
)
def test_bad_input_is_named(data: bytes, words: str) -> None:
    """One message that says what is wrong, with the path."""
    with pytest.raises(KprofError, match=words) as caught:
        code_object.read(data, "a.hsaco")
    assert caught.value.path == "a.hsaco"


def test_missing_file_and_directory(tmp_path: Path) -> None:
    """Both are told apart."""
    with pytest.raises(KprofError, match="no such file"):
        code_object.read_file(tmp_path / "none.hsaco")
    with pytest.raises(KprofError, match="directory"):
        code_object.read_file(tmp_path)


def test_a_compressed_bundle_never_expands_beyond_its_claim() -> None:
    """A megabyte that would expand to a gigabyte stops at the size in its header."""
    bomb = compressed(b"\0" * (1 << 24), 2, claim=1000)
    begin = time.process_time()
    with pytest.raises(KprofError, match="expands to more"):
        code_object.read(bomb)
    assert time.process_time() - begin < 1


def survive(data: bytes) -> None:
    """Reading ends soon, in a result or in a KprofError."""
    begin = time.process_time()
    refusal = None
    try:
        found = code_object.read(data, "x")
        assert all(kernel.name is not None for kernel in found.kernels)
    except KprofError as error:
        refusal = error
    assert refusal is None or refusal.path == "x"
    assert time.process_time() - begin < 5


@settings(deadline=None, max_examples=60)
@given(st.sampled_from([ELF, BUNDLE, HOST, compressed(BUNDLE, 3)]), st.floats(0, 1))
def test_cut_anywhere(data: bytes, share: float) -> None:
    """A file cut at any byte gives a result or one message."""
    survive(data[: int(len(data) * share)])


@settings(deadline=None, max_examples=200)
@given(st.sampled_from([ELF, BUNDLE, HOST, compressed(BUNDLE, 2)]), st.data())
def test_mutated(data: bytes, draw: st.DataObject) -> None:
    """Bytes overwritten, with a weight on headers and tables: a result or one message."""
    mutable = bytearray(data)
    for _ in range(draw.draw(st.integers(1, 8))):
        limit = draw.draw(st.sampled_from([64, 400, len(data) - 1]))
        at = draw.draw(st.integers(0, limit))
        value = draw.draw(st.binary(min_size=1, max_size=8))
        mutable[at : at + len(value)] = value
    survive(bytes(mutable))


@settings(deadline=None, max_examples=100)
@given(st.sampled_from([b"", b"\x7fELF\x02\x01\x01\x40", bundle.MAGIC, b"CCOB"]), st.binary(max_size=400))
def test_any_bytes(magic: bytes, rest: bytes) -> None:
    """Arbitrary bytes behind a true magic give a result or one message."""
    survive(magic + rest)
