"""Names that compilers make: they are long, begin alike, and differ at their ends."""

from pathlib import Path

import pytest

from kprof.captures.reader import read
from kprof.output.tables import reasons_table
from kprof.reporters import capture_text

CAPTURE = Path(__file__).parents[1] / "artifacts" / "capture"
NAMES = [
    "triton_per_fused__softmax__to_copy_add_gelu_prepare_softmax_online_1",
    "triton_per_fused__softmax__to_copy_add_gelu_prepare_softmax_online_2",
    "triton_poi_fused_add_mul_0",
]


@pytest.mark.parametrize("width", [80, 110, 120])
def test_a_capture_shows_whole_names(monkeypatch, width):
    """No two rows look alike, and the numbers stay in their columns."""
    rows = [capture_text.Row(name, launches=number + 1, specialisations=1) for number, name in enumerate(NAMES)]
    monkeypatch.setattr(capture_text, "rows", lambda _capture: rows)
    lines = capture_text.CaptureTextReporter(width).render(read(CAPTURE)).splitlines()
    heading = next(line for line in lines if line.startswith("  kernel "))
    table = lines[lines.index(heading) + 1 :][:6]
    assert "…" not in "".join(table)
    assert [name for name in NAMES if any(line.split()[:1] == [name] for line in table)] == NAMES
    counts = [line for line in table if line.endswith(" s")]
    assert [line[heading.index("launches") :].split()[0] for line in counts] == ["1", "2", "3"]
    assert {len(line) for line in counts} == {len(heading)}
    assert all(len(line) <= width for line in table)


@pytest.mark.parametrize("width", [60, 80, 120])
def test_sentences_in_a_table_continue_on_further_lines(width):
    """Every word is there at every width, below the heading of its column or below its row."""
    reason = "not measured or published near this shape; the model predicts Triton kernels only"
    rows = [["gemm", "2.12", "shipped table: by the model for MI300X"], ["gemm_multiply_reduce", "-", reason]]
    lines = reasons_table(["considered", "ms", "where from, or why not"], rows, width=width).splitlines()
    assert all(len(line) <= width for line in lines)
    assert set(" ".join(lines).split()) == set(
        f"considered ms where from, or why not gemm 2.12 {rows[0][2]} gemm_multiply_reduce - {reason}".split()
    )
    start = lines[0].index("where from")
    assert all(line[:start].strip() == "" for line in lines if not line.startswith(("considered", "gemm")))


def test_sentences_without_room_beside_their_row_stand_below_it():
    """A narrow terminal."""
    text = reasons_table(["name", "why"], [["k" * 30, "as fast as the first one"]], width=40)
    assert text.splitlines() == ["name", "    why", "k" * 30, "    as fast as the first one"]
