"""Reading captures, good and hostile ones. No Triton is needed."""

import json
import os

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kprof.captures.layout import is_capture
from kprof.captures.model import TensorInfo
from kprof.captures.reader import launches, read
from kprof.errors import KprofError
from kprof.targets.captured import load_capture
from kprof.targets.recompile import recorded
from tests.captures.conftest import END, HEAD, ID, KERNEL, LAUNCH, REQUEST

ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=12,
)


def test_a_kernel_has_its_launches_grids_and_arguments(make):
    """What the lines say together."""
    site = {"t": "site", "n": 0, "frames": [["/x/site-packages/lib/op.py", 5, "op"], ["/home/me/train.py", 9, "main"]]}
    tensor = {"dtype": "float32", "shape": [4, 8], "strides": [8, 1]}
    arguments = {"t": "args", "n": 0, "args": {"x": tensor, "n": 32}}
    where = {"site": 0, "args": 0}
    lines = [KERNEL, site, arguments, {**LAUNCH, **where}, {**LAUNCH, **where, "seq": 1}, {**LAUNCH, "grid": [2]}, END]
    capture = read(make(lines))
    (kernel,) = capture.kernels
    assert (kernel.launches, kernel.grids) == (3, {(4, 1, 1): 2, (2,): 1})
    assert kernel.request.constexprs == {"BLOCK": 64}
    assert kernel.arguments == {"x": TensorInfo("float32", (4, 8), (8, 1)), "n": 32}
    assert capture.complete
    first = next(launches(capture.path))
    assert first.caller is not None
    assert (first.caller.file, first.site[0].line) == ("/home/me/train.py", 5)


def test_an_argument_that_was_one_is_no_knob(make):
    """Triton compiles it in as it does a constant; nobody can write it into a configuration."""
    request = {**REQUEST, "constexprs": {"BLOCK": 64, "n": 1}}
    kernel = {**KERNEL, "request": request, "specialized": ["n"]}
    path = make([kernel, LAUNCH, END], result={"status": "ok", "triton": "3.9.0"}, ttir="module {}")
    (found,), lost = recorded(str(path))
    assert not lost
    assert found.job.request.constexprs == {"BLOCK": 64, "n": 1}
    assert found.knobs == {"BLOCK": 64, "num_warps": 4, "num_stages": 2}


def test_a_line_that_was_cut_ends_the_journal_and_is_told(make):
    """A killed process leaves half a line."""
    lines = json.dumps(KERNEL) + "\n" + json.dumps(LAUNCH) + "\n" + '{"t":"laun'
    capture = read(make(lines))
    assert capture.kernels[0].launches == 1
    assert not capture.complete
    assert any("middle of a line" in note for note in capture.notes)


def test_what_follows_a_damaged_line_is_left_out_and_told(make):
    """The lines before it count."""
    lines = "\n".join([json.dumps(KERNEL), json.dumps(LAUNCH), "nonsense", json.dumps(LAUNCH), ""])
    capture = read(make(lines))
    assert capture.kernels[0].launches == 1
    assert any("line 3" in note for note in capture.notes)


@pytest.mark.parametrize(
    ("head", "message"),
    [
        ("", "not the head of a capture"),
        ({**HEAD, "schema": "kprof.capture/99"}, "not the head of a capture"),
        ({**HEAD, "arch": "../../etc"}, "not the head of a capture"),
        ("[" * 100_000, "not the head of a capture"),
    ],
)
def test_a_foreign_head_is_one_message(make, head, message):
    """Of another version, or no head at all."""
    with pytest.raises(KprofError, match=message):
        read(make([END], head=head))


def test_a_directory_without_head_is_no_capture(tmp_path):
    """The message says what writes one."""
    assert not is_capture(tmp_path)
    with pytest.raises(KprofError, match="not a capture directory"):
        read(tmp_path)


@pytest.mark.parametrize(
    "line",
    [
        {**KERNEL, "id": "../../../etc/passwd"},
        {**KERNEL, "id": ID + "\n"},
        {**KERNEL, "n": -1},
        {**KERNEL, "n": 10**30},
        {**LAUNCH, "grid": [-1]},
        {**LAUNCH, "grid": [2**40]},
        {**LAUNCH, "grid": []},
        {**LAUNCH, "seq": "many"},
        {"t": "site", "n": 0, "frames": [["f", "x", "y"]]},
        {"t": "unheard of"},
    ],
)
def test_wrong_values_are_no_lines(make, line):
    """Paths in identifiers, negative and huge numbers, wrong types: none of it gets in."""
    capture = read(make([KERNEL, LAUNCH, line, LAUNCH, END]))
    assert len(capture.kernels) == 1
    assert capture.kernels[0].launches == 1
    assert any("not a line of a journal" in note for note in capture.notes)


@pytest.mark.parametrize(
    "change",
    [
        {"signature": 5},
        {"signature": [["x"]]},
        {"signature": [[["x"], "i32"]]},
        {"constexprs": {"BLOCK": {}}},
        {"constexprs": {"BLOCK": {"float": "0x1p99999"}}},
        {"constexprs": {"BLOCK": {"function": [1, 2, 3]}}},
        {"attributes": {"x": {"divisibility": "all"}}},
        {"environment": {"X": 5}},
        {"arch": ["gfx942"]},
        {"path": None},
    ],
)
def test_a_damaged_request_is_told_and_the_kernel_stays(make, change):
    """The rest of the capture is still usable."""
    capture = read(make([{**KERNEL, "request": {**REQUEST, **change}}, LAUNCH, END]))
    assert capture.kernels[0].launches == 1
    assert any("damaged" in note for note in capture.notes)


def test_deep_nesting_is_refused(make):
    """A request that would exhaust the stack."""
    deep = json.dumps(KERNEL).replace('"BLOCK": 64', '"BLOCK": ' + '{"tuple": [' * 200 + "1" + "]}" * 200)
    capture = read(make(deep + "\n" + json.dumps(END) + "\n"))
    assert any("damaged" in note for note in capture.notes)


@given(
    kind=st.sampled_from(["kernel", "site", "args", "launch", "tuning", "candidate", "read", "end"]), fields=ANYTHING
)
def test_any_line_is_read_or_told(kind, fields, tmp_path_factory):
    """No line makes the reader fail in another way."""
    root = tmp_path_factory.mktemp("any")
    (root / "journal").mkdir()
    (root / "capture.json").write_text(json.dumps(HEAD))
    record = {
        **KERNEL,
        **LAUNCH,
        **(fields if isinstance(fields, dict) else {"n": fields, "request": fields}),
        "t": kind,
    }
    (root / "journal" / "1-a.jsonl").write_text(json.dumps(record, default=str) + "\n")
    capture = read(root)
    assert len(capture.kernels) <= 1
    for kernel in capture.kernels:
        assert kernel.specialization is not None


def test_links_are_not_followed(make, tmp_path):
    """A link to a secret, as a product of the compiler and as a whole kernel."""
    secret = tmp_path / "secret"
    secret.mkdir()
    (secret / "kernel.amdgcn").write_text("secret")
    (secret / "result.json").write_text('{"status": "ok"}')
    root = make([KERNEL, LAUNCH, END], result={"status": "ok"})
    (root / "kernels" / ID / "kernel.amdgcn").symlink_to(secret / "kernel.amdgcn")
    (kernel,) = read(root).kernels
    with pytest.raises(KprofError, match="link"):
        kernel.text("amdgcn")
    (root / "kernels" / ID / "kernel.amdgcn").unlink()
    (root / "kernels" / ID / "result.json").unlink()
    (root / "kernels" / ID).rmdir()
    (root / "kernels" / ID).symlink_to(secret)
    (kernel,) = read(root).kernels
    assert kernel.result is None


def test_a_pipe_does_not_hang(make):
    """Only plain files are read."""
    root = make([KERNEL, LAUNCH, END], result={"status": "ok"})
    os.mkfifo(root / "kernels" / ID / "kernel.amdgcn")
    with pytest.raises(KprofError, match="plain file"):
        read(root).kernels[0].text("amdgcn")


def test_a_damaged_result_is_told(make):
    """Its kernel then has none."""
    capture = read(make([KERNEL, LAUNCH, END], result='{"status": "marvellous"}'))
    assert capture.kernels[0].result is None
    assert any("damaged" in note for note in capture.notes)


def test_nothing_of_the_capture_is_imported_or_executed(make, tmp_path):
    """The file that a capture names as the kernel's source stays closed."""
    trap, sprung = tmp_path / "trap.py", tmp_path / "sprung"
    trap.write_text(f"open({str(sprung)!r}, 'w')\nimport triton\n@triton.jit\ndef f(x): pass\n")
    record = {**KERNEL, "request": {**REQUEST, "path": str(trap)}, "module": "trap"}
    root = make([record, LAUNCH, END], result={"status": "ok"}, amdgcn="no assembly", ttgir="no module")
    before = sorted(path.name for path in tmp_path.rglob("*"))
    with pytest.raises(KprofError):
        list(load_capture(str(root)))
    assert not sprung.exists()
    assert sorted(path.name for path in tmp_path.rglob("*")) == before


def test_what_was_not_compiled_is_told_after_the_rest(make):
    """One kernel's failure, in its own words."""
    root = make([KERNEL, LAUNCH, END], result={"status": "crashed", "error": "crashed: signal 6 (SIGABRT)"})
    with pytest.raises(KprofError, match=r"f: crashed: signal 6 \(SIGABRT\)"):
        list(load_capture(str(root)))
