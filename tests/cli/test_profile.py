"""kprof profile: where a program's time would go."""

import json
import sys
from html.parser import HTMLParser
from pathlib import Path

import pytest

import kprof as kp
from kprof.api.profile import _without_similar
from tests.recording.conftest import PROGRAMS

pytestmark = pytest.mark.triton

STEP = PROGRAMS / "training_step.py"


@pytest.fixture(scope="module")
def profiled(tmp_path_factory):
    """A profile of the step, with what the command line would have shown."""
    pytest.importorskip("torch")
    return kp.profile([sys.executable, str(STEP)], arch="MI300X", by="shapes")


def test_every_launch_and_operator_is_in_it(profiled):
    rows = profiled.document.rows
    assert sum(row.calls for row in rows if row.kind == "triton") == 3  # as the program itself counts
    products = [row for row in rows if row.name in {"aten::mm", "aten::addmm"}]
    # Two layers forward; backward the gradients of both weights and of the inner activations; three steps.
    assert sum(row.calls for row in products) == 3 * (2 + 3)
    assert {row.phase for row in rows} >= {"forward", "backward", "optimizer"}
    assert any(row.module == "Sequential.Scale" for row in rows if row.kind == "triton")


def test_the_backward_pass_has_the_modules_whose_gradients_it_computes(profiled):
    """The oracle is the model: two linear layers, each with its own products backward, the first without dX."""
    backward = [call for call in profiled.calls if call.scope and call.scope.phase == "backward"]
    products = [call.scope.module for call in backward if call.timed.name == "aten::mm"]
    assert products == ["Sequential.Linear"] * 9
    assert {call.scope.module for call in backward if call.timed.name == "aten::gelu_backward"} == {"Sequential.GELU"}


def line_of(text):
    """The number of the only line of the step that contains a text."""
    (found,) = (number for number, line in enumerate(STEP.read_text().splitlines(), 1) if text in line)
    return found


def test_each_call_has_the_line_of_the_program(profiled):
    """Forward where the model is called, backward where the program asks for it, the update where it steps."""
    wanted = {"backward": line_of(".backward()"), "optimizer": line_of("optimizer.step()")}
    for phase, line in wanted.items():
        places = {call.scope.place for call in profiled.calls if call.scope.phase == phase}
        assert {(Path(place.file).name, place.line) for place in places} == {(STEP.name, line)}, phase
    assert all(call.scope.place.file.endswith(STEP.name) for call in profiled.calls if call.scope.phase == "forward")
    row = next(row for row in profiled.document.rows if row.phase == "optimizer")
    assert (row.place, row.places) == (f"{STEP}:{wanted['optimizer']}", 1)


def test_what_has_no_time_is_in_the_first_line(profiled):
    unknown = next(row for row in profiled.document.rows if row.name == "aten::linalg_qr")
    assert (unknown.us, unknown.share, unknown.why) == (None, None, "kprof does not know what it does")
    assert "aten::linalg_qr" in profiled.summary
    assert f"{profiled.document.unknown_calls:,} calls" in profiled.summary


def test_kernels_without_a_time_come_first_and_the_sum_is_a_lower_bound(profiled, kprof, monkeypatch):
    """What matters and has no time leads the first line, and the exit status says that the answer is not whole."""
    from msgspec.structs import replace

    whole = profiled.document
    lacking = ["triton_flex_attention (2: its loops depend on values that are not known)"]
    part = replace(
        whole,
        unknown_calls=whole.unknown_calls + 2,
        unknown=[*lacking, *whole.unknown],
        unknown_kernel_calls=2,
        unknown_kernels=lacking,
    )
    found = type(profiled)(part, profiled.calls)
    first, second = found.summary.split("; ")[:2]
    assert first == f"no time for 2 launches of {lacking[0]}"
    assert second.startswith("at least ")
    assert found.summary.count("triton_flex_attention") == 1
    assert f"no time for {whole.unknown_calls:,} calls" in found.summary
    assert "at least" not in profiled.summary
    for answer, code in ((found, 2), (profiled, 0)):
        monkeypatch.setattr("kprof.api.profile.profile", lambda *_, answer=answer, **__: answer)
        assert kprof("profile", "-q", "--", "python", "step.py").code == code


def test_launches_without_a_time_are_counted():
    """Triton's kernels apart from torch's operators."""
    from kprof_analyzers.whole_step.table import sums_of
    from kprof_analyzers.whole_step.timing import StepCall, TimedCall

    kernel = TimedCall("flex", "grid 1", "triton", why="its loops depend on values that are not known")
    operator = TimedCall("aten::fft", "", "", why="kprof does not know what it does")
    sums = sums_of([StepCall(timed, None, 0, 0, None) for timed in (kernel, kernel, operator)])
    assert (sums.unknown_calls, sums.unknown_kernel_calls) == (3, 2)
    assert sums.unknown_kernels == ["flex (2: its loops depend on values that are not known)"]


def test_a_sort_lies_between_one_pass_and_one_for_each_byte_of_its_keys(profiled):
    sort = next(row for row in profiled.document.rows if row.name == "aten::sort")
    assert sort.high_us > 5 * sort.low_us
    assert sort.low_us < sort.us < sort.high_us
    assert "sorts pass over memory once to 5 times: not measured" in profiled.document.notes


def test_the_sum_is_that_of_the_rows(profiled):
    told = [row for row in profiled.document.rows if row.us is not None]
    assert sum(row.us for row in told) == pytest.approx(profiled.document.us)
    assert profiled.document.low_us < profiled.document.us < profiled.document.high_us
    assert all(row.low_us <= row.us <= row.high_us for row in told)


def test_the_trace_says_the_same(profiled, tmp_path):
    """Read back by the reader of torch's own traces."""
    path = tmp_path / "predicted.json"
    path.write_text(profiled.to_kineto())
    (one,) = kp.trace_ops(path).traces
    assert one.info.devices == ("MI300X",) or "MI300X" in one.info.devices
    assert one.kernel_ns == pytest.approx(1000 * profiled.document.us, rel=1e-3)
    assert one.issues == ()
    measured = {(row.name, row.shapes): row for row in one.rows}
    addmm = next(row for row in profiled.document.rows if row.name == "aten::addmm")
    assert measured["aten::addmm", addmm.shapes].total_ns == pytest.approx(1000 * addmm.us, rel=1e-3)
    written = json.loads(path.read_text())
    assert written["kprof"]["predicted"] is True
    kernels = {e["args"]["correlation"]: e for e in written["traceEvents"] if e.get("cat") == "kernel"}
    ends = {e["id"]: e for e in written["traceEvents"] if e.get("cat") == "ac2g" and e["ph"] == "f"}
    assert {(n, e["tid"], e["ts"]) for n, e in ends.items()} == {(n, e["tid"], e["ts"]) for n, e in kernels.items()}


def test_a_capture_and_the_command(profiled, kprof, tmp_path):
    pytest.importorskip("torch")
    folder = tmp_path / "capture"
    assert kprof("capture", "--operators", "-o", folder, "--arch", "MI300X", "--", sys.executable, STEP).code == 0
    ran = kprof("profile", folder, "--by", "phase", "--json", tmp_path / "p.json", "-o", tmp_path / "t.json")
    assert ran.code == 0, ran.err
    document = json.loads((tmp_path / "p.json").read_text())
    assert document["schema"] == "kprof.profile/1"
    assert document["us"] == pytest.approx(profiled.document.us)
    assert ran.out.splitlines()[-1].startswith(profiled.summary.split(",")[0])
    assert {row["phase"] for row in document["rows"]} == {"forward", "backward", "optimizer", "outside modules"}
    assert (tmp_path / "t.json").stat().st_size > 1000
    again = kprof("profile", folder, "--arch", "MI355X")
    assert again.code == 2
    assert "compiled for gfx942, not for gfx950" in again.err
    for journal in (folder / "journal").iterdir():  # As if its operators had not been asked for.
        kept = [line for line in journal.read_text().splitlines() if json.loads(line)["t"] not in {"scope", "call"}]
        journal.write_text("\n".join(kept) + "\n")
    without = kprof("profile", folder)
    assert without.code == 2
    assert "kprof capture --operators" in without.err


def test_programs_that_do_nothing(kprof, tmp_path):
    ran = kprof("profile", "--", sys.executable, "-c", "pass")
    assert ran.code == 2
    assert "launched nothing" in ran.err
    ran = kprof("profile", "step.py")
    assert ran.code == 2
    assert "-- python step.py" in ran.err
    ran = kprof("profile", tmp_path / "none", "--by", "colour")
    assert ran.code == 2
    assert "name, shapes, module, phase, range, place" in ran.err


def test_a_kernel_that_this_triton_refuses_names_those_that_take_it(kprof, tmp_path):
    """Block pointers were removed in 3.9: the first line says which releases have them, and how they are asked for."""
    pytest.importorskip("torch")
    triton = pytest.importorskip("triton")
    if tuple(map(int, triton.__version__.split(".")[:2])) < (3, 9):
        pytest.skip("this Triton has block pointers")
    program = tmp_path / "blocks.py"
    program.write_text(
        "import torch, triton, triton.language as tl\n"
        "@triton.jit\n"
        "def double(x, n, B: tl.constexpr):\n"
        "    p = tl.make_block_ptr(x, (n,), (1,), (tl.program_id(0) * B,), (B,), (0,))\n"
        "    tl.store(p, tl.load(p) * 2)\n"
        "double[(4,)](torch.ones(256, device='cuda'), 256, B=64)\n"
    )
    ran = kprof("profile", "--", sys.executable, program)
    assert ran.code == 2
    assert "double (1: not compiled: NotImplementedError: Block pointers" in ran.out + ran.err
    assert "Triton 3.4 to 3.8 compile block pointers: --triton 3.8.0" in ran.out + ran.err


def test_gpus_stand_side_by_side(profiled):
    """Of a capture, with products of its architecture; each is what it would be alone."""
    from msgspec.structs import replace

    from kprof.reporters.profile_text import lines

    other = replace(profiled.document, gpu="MI325X", us=1.0, rows=profiled.document.rows[1:])
    both = type(profiled)(replace(profiled.document, other_gpus=[other]), profiled.calls)
    assert [line.split(" (")[0] for line in both.summary.splitlines()][
        1
    ] == "0.001 ms of GPU time predicted on MI325X, caches warm"
    text = lines(both.document, "shapes", 0)
    assert text[0].split()[:4] == ["ms", "MI300X", "ms", "MI325X"]
    first, missing = profiled.document.rows[0], f"{profiled.document.rows[0].calls:,}/0"
    assert missing in next(
        line for line in text if line.endswith(f"{first.name.removeprefix('aten::')} {first.shapes}")
    )
    assert set(both.to_frame()["gpu"]) == {"MI300X", "MI325X"}
    with pytest.raises(kp.KprofError, match="one GPU"):
        both.to_kineto()


def test_a_program_runs_once_for_each_gpu(kprof, tmp_path):
    """What it launches may depend on the GPU: here its number of operators does."""
    pytest.importorskip("torch")
    program = tmp_path / "asks.py"
    program.write_text(
        "import torch\nx = torch.ones(1 << 20, device='cuda')\n"
        "for _ in range(torch.cuda.get_device_properties(0).multi_processor_count // 100):\n    x = x * 2\n"
    )
    ran = kprof("profile", "--arch", "MI300X,MI308X", "--json", tmp_path / "p.json", "--", sys.executable, program)
    assert ran.code == 0, ran.err
    document = json.loads((tmp_path / "p.json").read_text())
    calls = [{row["name"]: row["calls"] for row in one["rows"]} for one in (document, *document["other_gpus"])]
    assert [one.get("aten::mul", 0) for one in calls] == [304 // 100, 80 // 100]
    refused = kprof("profile", "--arch", "MI300X,MI308X", "-o", tmp_path / "t.json", "--", sys.executable, program)
    assert refused.code == 2
    assert "one GPU" in refused.err


def test_what_runs_within_a_named_range(kprof, tmp_path):
    """Nested, in backward too; set-up stays outside."""
    pytest.importorskip("torch")
    program = tmp_path / "ranges.py"
    program.write_text(
        "import torch\nfrom torch.profiler import record_function\n"
        "w = torch.randn(512, 512, device='cuda', requires_grad=True)\n"
        "with record_function('step'):\n"
        "    with record_function('forward pass'):\n        y = w @ w\n"
        "    y.sum().backward()\n"
        "w @ w\n"
    )
    folder = tmp_path / "capture"
    assert kprof("capture", "--operators", "-o", folder, "--", sys.executable, program).code == 0
    rows = {row.range: row for row in kp.profile(folder, arch="MI300X", by="range").document.rows}
    assert set(rows) == {"", "step", "step > forward pass"}
    products = {row.name: row.calls for row in kp.profile(folder, arch="MI300X", within="step").document.rows}
    assert products["aten::mm"] == 1 + 2
    assert "aten::randn" not in products
    assert kp.profile(folder, arch="MI300X", within="forward pass").document.calls == 1
    ran = kprof("profile", folder, "--arch", "MI300X", "--within", "decode")
    assert ran.code == 2
    assert "step > forward pass" in ran.err


class _Page(HTMLParser):
    """Links and headings of a page."""

    def __init__(self, text):
        super().__init__()
        self.links, self.heads, self._in = [], [], False
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self._in = tag == "h3"
        if tag == "a":
            self.links.append(dict(attrs)["href"])

    def handle_data(self, data):
        if self._in:
            self.heads.append(data)
            self._in = False


def test_the_page_links_to_the_kernels_pages_and_the_text_has_lines(kprof, tmp_path):
    pytest.importorskip("torch")
    ran = kprof("profile", "--arch", "MI300X", "--html", tmp_path / "step.html", "--", sys.executable, STEP)
    assert ran.code == 0, ran.err
    assert f"{STEP.name}:{line_of('optimizer.step()')}" in ran.out
    text = (tmp_path / "step.html").read_text()
    page = _Page(text)
    assert page.heads == ["Changes that save time, by the model", "By name", "By phase", "By module", "To be known"]
    assert set(page.links) == {"step.scale.html"}
    assert "<h2>scale" in (tmp_path / "step.scale.html").read_text()
    assert "default-src 'none'" in text
    for phase in ("forward", "backward", "optimizer"):
        assert f"<td>{phase}</td>" in text
    assert "of 192 GiB" in ran.out
    assert "memory in use at most" in text


def test_notes_that_differ_in_numbers_share_a_line():
    notes = [
        "1 of 2 loads",
        "each place once",
        "1 of 2 loads",
        "3 of 4 loads",
        "5 of 1,000 loads",
        "2 atomics",
        "3 atomics",
    ]
    assert _without_similar(notes) == [
        "1 of 2 loads (and 2 similar notes)", "each place once", "2 atomics", "3 atomics",
    ]  # fmt: skip
