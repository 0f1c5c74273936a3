"""The cache is fast, and never serves what is no longer true."""

import json
import os
import shutil
import subprocess
import sys
import textwrap
from dataclasses import replace
from pathlib import Path

import pytest

from kprof.cache import limits, location
from kprof.compiler import compiled_cache as cache
from kprof.compiler import question_cache, versions
from kprof.compiler.compile import compile_kernel, compile_many
from kprof.importing.loading import load_module
from kprof.targets.signature import load_signature
from tests.compiler.conftest import SAMPLES

pytestmark = pytest.mark.triton

KERNEL = """
import triton
import triton.language as tl
import kprof_cache_helper

@triton.jit
def kernel(x, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    tl.store(x + at, kprof_cache_helper.scaled(tl.load(x + at)))
"""
HELPER = """
import triton
import triton.language as tl

FACTOR = tl.constexpr({factor})

@triton.jit
def scaled(value):
    return value * FACTOR
"""


@pytest.fixture(autouse=True)
def _empty(monkeypatch, tmp_path):
    monkeypatch.setenv("KPROF_CACHE_DIR", str(tmp_path / "cache"))


@pytest.fixture
def kernel(write):
    """A request for a kernel with a helper module, and the helper's file."""
    helper = write("kprof_cache_helper.py", HELPER.format(factor=2.0))
    path = write("user.py", KERNEL)
    return load_signature(str(path), "kernel", "*fp32", "gfx942", {"BLOCK": 256}), helper


def test_second_compile_is_served(add_request, monkeypatch):
    """The same content, marked as cached; not when no cache is wanted."""
    first, second = compile_kernel(add_request()), compile_kernel(add_request())
    assert (first.cached, second.cached) == (False, True)
    assert second.stages == first.stages
    assert second.metadata == first.metadata
    assert (second.hash, second.seconds, second.source_line) == (first.hash, first.seconds, first.source_line)
    assert not compile_kernel(add_request(), cache=False).cached


def test_changed_helper_is_noticed(kernel):
    """Not only the kernel's own file counts, and a change back finds the first result again."""
    request, helper = kernel
    factors = {}
    for factor, cached in ((2.0, False), (3.0, False), (2.0, True), (3.0, True)):
        helper.write_text(HELPER.format(factor=factor))
        compiled = compile_kernel(request)
        assert compiled.cached is cached, factor
        factors.setdefault(factor, compiled.hash)
        assert f"dense<{factor:.6e}>" in compiled.ttgir
        assert compiled.hash == factors[factor]


def test_changed_kernel_is_noticed(kernel):
    """Its file is hashed at each look."""
    request, _ = kernel
    compile_kernel(request)
    text = KERNEL.replace("tl.store(x + at,", "tl.store(x + at, 1.0 +")
    Path(request.path).write_text(text)
    changed = compile_kernel(request)
    assert not changed.cached
    assert changed.ttgir.count("arith.addf") == 1


@pytest.mark.parametrize(
    "change", [{"arch": "gfx950"}, {"options": {"num_warps": 8}}, {"environment": {"AMDGCN_USE_BUFFER_OPS": "0"}}]
)
def test_other_requests_are_not_mixed_up(add_request, change):
    """Architecture, options and variables are part of the question."""
    compile_kernel(add_request())
    assert not compile_kernel(replace(add_request(), **change)).cached


def test_variable_of_the_process_is_part_of_the_question(add_request, monkeypatch):
    """Also when it is set outside and not in the request."""
    request = add_request(environment={})
    compile_kernel(request)
    monkeypatch.setenv("AMDGCN_SCALARIZE_PACKED_FOPS", "1")
    assert not compile_kernel(request).cached


def test_values_from_the_environment_are_not_trusted_to_files(write, monkeypatch):
    """A kernel whose constant comes from the environment is compiled again when that changes."""
    path = write(
        "user.py",
        """
import os
import triton
import triton.language as tl

SIZE = tl.constexpr(int(os.environ.get("KPROF_TEST_SIZE", "64")))

@triton.jit
def kernel(x):
    tl.store(x + tl.arange(0, SIZE), 1.0)
""",
    )
    seen = []
    for size in ("64", "128", "64"):
        monkeypatch.setenv("KPROF_TEST_SIZE", size)
        request = load_signature(str(path), "kernel", "*fp32", "gfx942")
        (outcome,) = compile_many([request], 1)
        seen.append((f"end = {size}" in outcome.result().ttgir, outcome.result().cached))
    assert seen == [(True, False), (True, False), (True, True)]


def test_damaged_entry_is_compiled_again(add_request):
    """A file that was cut off is replaced."""
    compiled = compile_kernel(add_request())
    path = cache._OBJECTS._path(cache.directory(), compiled.hash)
    path.write_bytes(path.read_bytes()[:-100])
    again = compile_kernel(add_request())
    assert not again.cached
    assert again.amdgcn == compiled.amdgcn
    assert compile_kernel(add_request()).cached


def test_damaged_index_is_no_error(add_request):
    """Whatever stands there, the result is right."""
    compiled = compile_kernel(add_request())
    path = cache._INDEX._path(cache.directory(), cache.index_key(add_request()))
    for text in ("{", "[1, 2]", '[{"hash": 3, "files": {}}]', '[{"hash": "../../etc/passwd", "files": {}}]', "{}"):
        path.write_text(text)
        assert compile_kernel(add_request()).amdgcn == compiled.amdgcn


def test_hit_needs_no_triton(add_request):
    """Neither Triton nor the kernel's file is imported, and it takes a moment."""
    compile_kernel(add_request())
    code = f"""
        import json, sys, time
        sys.path[:0] = {[str(SAMPLES.parent.parent.parent)]!r}
        from kprof.compiler.compile import compile_kernel
        from kprof.compiler.request import from_json
        request = from_json(json.loads({json.dumps(add_request().to_json())!r}))
        compiled = compile_kernel(request)
        print(compiled.cached, "triton" in sys.modules)
    """
    ran = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code)], capture_output=True, text=True, check=True, env=dict(os.environ)
    )
    assert ran.stdout.split() == ["True", "False"]


def test_passes_are_kept_too(add_request):
    """The dump comes back from the cache whole."""
    first = compile_kernel(add_request(passes=True))
    second = compile_kernel(add_request(passes=True))
    assert second.cached
    assert first.passes is not None
    assert second.passes is not None
    assert second.passes.text == first.passes.text


def test_answers_hold_while_their_files_do(kernel):
    """An answer is forgotten when a helper changes; a module that reads more than files is not remembered."""
    request, helper = kernel
    question = {"target": request.path, "arch": "gfx942"}
    assert question_cache.recall(question) is None
    assert question_cache.remember(question, {"requests": [request.to_json()]}, load_module(request.path))
    assert question_cache.recall(question) == {"requests": [request.to_json()]}
    assert question_cache.recall({**question, "arch": "gfx950"}) is None
    helper.write_text(HELPER.format(factor=5.0))
    assert question_cache.recall(question) is None
    helper.write_text("import os\nos.environ\n" + HELPER.format(factor=5.0))


def test_cache_is_bounded(add_request, monkeypatch):
    """Above KPROF_CACHE_SIZE old results go."""
    for block in (128, 256, 512):
        compile_kernel(add_request(block=block))
    folder = location.entries(cache.directory())
    size = sum(p.stat().st_size for p in folder.rglob("*") if p.is_file())
    assert limits.sweep(folder, size - 1) > 0
    assert sum(p.stat().st_size for p in folder.rglob("*") if p.is_file()) <= 0.8 * size


def test_triton_is_known_by_its_content(tmp_path, monkeypatch):
    """Installed again it is the same, whatever its times; any byte of its compiler makes another of it."""
    for name in ("knobs.py", "compiler/compiler.py", "backends/amd/compiler.py", "_C/libtriton.so", "README.md"):
        path = tmp_path / "triton" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("a = 1")
    root = tmp_path / "triton"

    def identity(folder=root, version="3.9.0"):
        monkeypatch.setattr(versions, "installed", lambda: versions.Installed(version, folder))
        return versions.identity.__wrapped__()

    first = identity()
    shutil.copytree(root, tmp_path / "again")
    os.utime(root / "knobs.py", (1, 1))
    assert identity() == identity(tmp_path / "again") == first
    assert identity(version="3.9.1") != first
    (root / "README.md").write_text("b")
    assert identity() == first
    seen = {first}
    for name in ("knobs.py", "compiler/compiler.py", "backends/amd/compiler.py", "_C/libtriton.so"):
        state = (root / name).stat()
        (root / name).write_text("a = 2")
        os.utime(root / name, ns=(state.st_atime_ns, state.st_mtime_ns))
        seen.add(identity())
    assert len(seen) == 5
