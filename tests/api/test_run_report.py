"""``kprof.run_report`` and ``kprof report --trace --counters``: the page of a run, its numbers and its size."""

import importlib.util
import json
import random
import re
import shutil
from collections.abc import Callable
from html import unescape
from pathlib import Path
from typing import Any

import pytest

import kprof
from kprof.inputs.torch_profiler import load
from kprof_analyzers.profiles.timeline.zoomable import zoomable

ARTIFACTS = Path(__file__).parents[1] / "artifacts"
COUNTERS = [ARTIFACTS / "rocprof/v3" / name for name in ("counter_collection_1.csv", "agent_info.csv")]
HOSTILE = "</script><img src=x onerror=alert(1)>"


def builder() -> Any:
    """Of small traces."""
    spec = importlib.util.spec_from_file_location("kineto_builder_run", ARTIFACTS / "kineto/builder.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def write_model(path: Path, *, name: str = "kernel_of_mine") -> Path:
    """Layers in two steps, a product with shapes, and a kernel of a given name."""
    kineto = builder()
    made = kineto.Builder()
    made.add("user_annotation", "ProfilerStep#0", 990.0, 500)
    kineto.small_model(made, layers=2)
    made.add("user_annotation", "ProfilerStep#1", 1600.0, 500)
    kineto.small_model(made, start=1610.0, layers=2)
    made.op("aten::mm", 2200.0, 30, 900, **{"Input Dims": [[4096, 4096], [4096, 4096]],
                                          "Input type": ["c10::BFloat16", "c10::BFloat16"]})  # fmt: skip
    made.run("Cijk_product", 2215.0, 300.0, at=2210.0)
    made.run(name, 2600.0, 5.0)
    written: Path = made.write(path)
    return written


def timelines(page: str) -> list[Any]:
    """The data of the page's timelines."""
    return [json.loads(text) for text in re.findall(r'<script type="application/json">(.*?)</script>', page)]


def test_the_page_has_what_the_commands_say(tmp_path: Path) -> None:
    """Each part is that of its own question, and the spans are the trace's activities."""
    trace = write_model(tmp_path / "model.json")
    found = kprof.run_report(trace=trace, counters=COUNTERS, output=tmp_path / "run.html")
    page = (tmp_path / "run.html").read_text()
    (run,) = found.traces
    assert run.kernels == kprof.trace_top(trace).traces[0].kernels
    assert run.operators == kprof.trace_ops(trace).traces[0]
    assert run.steps == kprof.trace_steps(trace).traces[0]
    assert run.tree.root == kprof.trace_tree(trace, by="both").traces[0].root
    assert found.metrics is not None
    assert found.metrics.to_frame().equals(kprof.counter_metrics(*COUNTERS).to_frame())
    text = unescape(re.sub("<[^>]+>", " ", page))
    for words in (
        "kernel_of_mine",
        "ProfilerStep#1",
        "SelfAttention",
        "Operators under the limits",
        "Counters",
        "Devices",
    ):
        assert words in page or words in text, words

    (shown,) = timelines(page)
    activities = sorted(load(trace).activities, key=lambda one: (one.stream, one.start_ns))
    starts, at = [], 0
    for difference in shown["streams"][0]["starts"]:
        at += difference
        starts.append(at)
    first = min(one.start_ns for one in activities)
    assert starts == [one.start_ns - first for one in activities]
    assert shown["streams"][0]["durations"] == [one.duration_ns for one in activities]
    assert [shown["names"][label] for label in shown["streams"][0]["labels"]] == [one.name for one in activities]
    assert [name for _, _, name in shown["steps"]] == ["ProfilerStep#0", "ProfilerStep#1"]


def test_a_trace_with_more_kernels_than_there_is_room_for(tmp_path: Path) -> None:
    """Short ones are put together: none is lost, busy time is kept, and long ones keep their span."""
    made, at, rng = builder().Builder(), 1000.0, random.Random(3)
    for number in range(4000):
        taken = 900.0 if number % 500 == 0 else rng.choice((1.5, 2.0, 7.0))
        made.kernel(f"kernel_{number % 7}", at, taken, stream=number % 2)
        at += taken + rng.choice((0.0, 3.0, 40.0))
    trace = load(made.write(tmp_path / "many.json"))
    found = zoomable(trace, ["other"] * len(trace.activities), most=500)
    assert found.resolution_ns > 0
    assert found.activities == len(trace.activities) == 4000
    assert sum(len(stream.starts) for stream in found.streams) <= 520
    for stream in found.streams:
        mine = [one for one in trace.activities if one.stream == stream.stream]
        single = [d for place, d in enumerate(stream.durations) if place not in stream.together]
        assert sum(count for count, _ in stream.together.values()) + len(single) == len(mine)
        assert sum(busy for _, busy in stream.together.values()) + sum(single) == sum(one.duration_ns for one in mine)
        assert single.count(900_000) == sum(one.duration_ns == 900_000 for one in mine)
        assert stream.starts == sorted(stream.starts)


def test_many_large_traces_stay_below_three_megabytes(tmp_path: Path) -> None:
    """Eighteen ranks, each with more than its share of spans and hundreds of names."""
    made, at = builder().Builder(), 1000.0
    for number in range(4000):
        made.kernel(f"a_kernel_with_a_name_of_some_length_{number % 900}", at, 3.0)
        at += 5.0
    text = made.text()
    for rank in range(18):
        (tmp_path / f"rank_{rank:02}.json").write_bytes(text)
    found = kprof.run_report(trace=tmp_path, output=tmp_path / "run.html")
    assert len(found.traces) == 18
    assert "only the first 16 of 18 traces" in found.notes[0]
    page = (tmp_path / "run.html").read_text()
    assert len(page.encode()) < 3_000_000
    assert len(timelines(page)) == 16
    assert "2 more are among the devices below only" in page


def test_what_a_trace_calls_its_kernels_cannot_end_the_script(tmp_path: Path) -> None:
    page = kprof.run_report(trace=write_model(tmp_path / "t.json", name=HOSTILE)).to_html()
    assert "<img src=x" not in page
    (shown,) = timelines(page)
    assert HOSTILE in shown["names"]


def test_the_command(tmp_path: Path, run: Callable[..., Any]) -> None:
    trace = write_model(tmp_path / "model.json")
    ran = run(
        "report", "--trace", trace, "--counters", COUNTERS[0], "--counters", COUNTERS[1], "-o", tmp_path / "r.html"
    )
    assert ran.code == 0, ran.err
    assert ran.out.splitlines()[-1].startswith("1 trace, ")
    assert (tmp_path / "r.html").read_text() == kprof.run_report(trace=trace, counters=COUNTERS).to_html()
    ran = run("report", "--counters", COUNTERS[0], "--counters", COUNTERS[1], "-o", "-")
    assert ran.code == 0, ran.err
    assert ran.out.rstrip().endswith("</html>")
    assert "timeline" not in re.sub(r"<style>.*?</style>|<script>.*?</script>", "", ran.out, flags=re.DOTALL)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ((), "there is nothing to report on"),
        (("--trace", "x.json", "--shape", "M=3"), "--shape can only be used with a target"),
        (("--trace", "nowhere.json"), "nowhere.json: no such file"),
    ],
)
def test_what_cannot_be_reported(tmp_path: Path, run: Callable[..., Any], options: tuple[str, ...], words: str) -> None:
    ran = run("report", *options, "-o", tmp_path / "run.html")
    assert ran.code == 2
    assert words in ran.err
    assert not (tmp_path / "run.html").exists()


@pytest.fixture(scope="module")
def browser() -> Any:
    playwright = pytest.importorskip("playwright.sync_api", reason="Playwright is not installed")
    chromium = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    if chromium is None:
        pytest.skip("this machine has no Chromium")
    with playwright.sync_playwright() as driver:
        running = driver.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        yield running
        running.close()


def test_the_timeline_in_a_browser(tmp_path: Path, browser: Any) -> None:
    """From disk: it zooms with the wheel, buttons and keys, moves, and says what is under the pointer."""
    kprof.run_report(trace=write_model(tmp_path / "t.json", name=HOSTILE), output=tmp_path / "run.html")
    page, complaints = browser.new_page(viewport={"width": 1200, "height": 900}), []
    page.on(
        "console", lambda message: complaints.append(message.text) if message.type in {"error", "warning"} else None
    )
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.on("dialog", lambda dialog: complaints.append(dialog.message))
    page.goto((tmp_path / "run.html").as_uri())
    canvas = page.locator(".timeline canvas")
    canvas.wait_for()

    def view() -> tuple[int, int]:
        return int(canvas.get_attribute("data-from")), int(canvas.get_attribute("data-to"))

    (shown,) = timelines((tmp_path / "run.html").read_text())
    assert view() == (0, shown["span"])
    width = canvas.bounding_box()["width"]
    # The kernel at the end: 5 us of 1,593.
    canvas.hover(position={"x": width - 2, "y": 24 + 26 + 11})
    assert HOSTILE in page.locator(".pointed").inner_text()
    assert "5.00 µs" in page.locator(".pointed").inner_text()
    page.mouse.wheel(0, -100)
    start, end = view()
    assert end - start == pytest.approx(0.8 * shown["span"], abs=2)
    # What is under the pointer stays there.
    assert end > 0.99 * shown["span"]
    page.locator("[data-zoom=all]").click()
    assert view() == (0, shown["span"])
    page.locator("[data-zoom=in]").click()
    assert list(view()) == pytest.approx([shown["span"] / 4, 3 * shown["span"] / 4], abs=1)
    canvas.focus()
    page.keyboard.press("ArrowRight")
    assert view()[0] == pytest.approx(0.35 * shown["span"], abs=1)
    page.keyboard.press("0")
    assert view() == (0, shown["span"])
    # It is painted: the product of 300 us has its category's colour in the middle.
    middle = 190 + (2365 - 1012) / (shown["span"] / 1000) * (width - 190)
    pixel = canvas.evaluate(
        "(c, x) => [...c.getContext('2d').getImageData(x * devicePixelRatio, 55 * devicePixelRatio, 1, 1).data]", middle
    )
    colour = dict(map(tuple, shown["categories"]))["GEMM"]
    assert "#" + "".join(f"{part:02X}" for part in pixel[:3]) == colour.upper()
    heading = page.locator("th button", has_text="mean us").first
    heading.click()
    assert complaints == []
    page.close()


MATMUL = ARTIFACTS / "gfx942/matmul.triton-3.9.0.amdgcn"


def matmul_trace(folder: Path) -> Path:
    """The product of two square matrices, launched as Triton does, beside a kernel that nobody names."""
    made = builder().Builder()
    correlation = made.launch(1000.0, 2, api="hipModuleLaunchKernel")
    made.kernel("matmul", 1005.0, 300.0, correlation, grid=[64, 1, 1], block=[256, 1, 1], **{"shared memory": 0})
    made.run("kernel_of_another", 2000.0, 5.0)
    written: Path = made.write(folder / "trace.json")
    return written


def test_kernels_link_to_pages_of_their_own(kprof: Callable[..., Any], tmp_path: Path) -> None:
    """The page of a target stands beside the run's, and what the trace says of it is on that page."""
    trace, page = matmul_trace(tmp_path), tmp_path / "my run.html"
    ran = kprof("report", "--trace", trace, "--target", MATMUL, "-o", page)
    assert ran.code == 0, ran.err
    links = re.findall(r'<a href="([^"#]+)">([^<]+)</a>', page.read_text())
    assert set(links) >= {("my%20run.matmul.html", "matmul")}
    assert "kernel_of_another" not in {words for _, words in links}
    own = tmp_path / "my run.matmul.html"
    assert "300 us" in re.sub("<[^>]+>", " ", own.read_text())
    assert str(own) in ran.out


def test_several_targets_read_the_traces_once(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """One analysis of all; a kernel that no trace has is named on the run's page, and has none of its own."""
    from kprof_analyzers.profiles.measured import reading

    read, times = reading.read, []
    monkeypatch.setattr(reading, "read", lambda *given, **named: times.append(given) or read(*given, **named))
    other = MATMUL.with_name("scaled_exp.triton-3.9.0.amdgcn")
    page = tmp_path / "run.html"
    found = kprof.run_report(trace=matmul_trace(tmp_path), target=[MATMUL, other], output=page)
    assert len(times) == 1
    assert found.kernel_pages == {"matmul": "run.matmul.html"}
    assert sorted(one.name for one in tmp_path.glob("*.html")) == ["run.html", "run.matmul.html"]
    assert "scaled_exp has no page: no trace contains this kernel" in found.notes
    assert "scaled_exp has no page" in page.read_text()


def test_targets_that_cannot_be_linked_are_one_message(kprof: Callable[..., Any], tmp_path: Path) -> None:
    """Nothing to stand beside, nothing measured, no such kernel, and options for nothing."""
    trace, model = matmul_trace(tmp_path), write_model(tmp_path / "m.json")
    for options, words in (
        (("--trace", trace, "--target", MATMUL, "-o", "-"), "are written next to the page of a run"),
        (
            ("--counters", *COUNTERS[:1], "--target", MATMUL, "-o", tmp_path / "r.html"),
            "--target can only be used with traces",
        ),
        (
            ("--trace", model, "--target", MATMUL, "-o", tmp_path / "r.html"),
            "no kernel matmul in",
        ),
        (("--trace", trace, "--case", "x", "-o", tmp_path / "r.html"), "--case can only be used with a target"),
        ((MATMUL, "--target", MATMUL, "-o", tmp_path / "r.html"), "--target can only be used for the page of a run"),
    ):
        ran = kprof("report", *options)
        assert ran.code == 2
        assert words in ran.err
        assert not (tmp_path / "r.html").exists()
