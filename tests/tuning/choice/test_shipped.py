"""The table of predicted times that comes with kprof: what is in it, when it answers, and whether it is up to date."""

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from kprof.errors import KprofError
from kprof.hardware.machine import find_product, load_gpu
from kprof.targets.library import bundled
from kprof.targets.without_triton import described
from kprof.tuning.choice import ImplementationChoice, select
from kprof.tuning.choice import kernels as kernels_of_choice
from kprof.tuning.choice.shipped import FILE, ShippedRow, ShippedTable, ShippedTime, written

CHOOSE = sys.modules["kprof.tuning.choice.choose"]
SHIPPED = sys.modules["kprof.tuning.choice.shipped"]
TABLE = ShippedTable.read()
SQUARE = {"M": 4096, "N": 4096, "K": 4096}


def installed(monkeypatch: pytest.MonkeyPatch, version: str) -> None:
    """Have this Triton installed; an empty one: none."""
    monkeypatch.setattr(SHIPPED, "usable_triton", lambda: version)
    monkeypatch.setattr(CHOOSE, "usable_triton", lambda: version)
    if not version:
        monkeypatch.setattr(kernels_of_choice, "find_spec", lambda _name: None)


def compiled(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """What is given to the compiler, which knows nothing."""
    asked: list[Any] = []

    def predicted(forms: Any, *_: Any) -> Any:
        asked.append(forms)
        return [one for _, one in forms]

    monkeypatch.setattr(CHOOSE, "predicted", predicted)
    return asked


def notes(found: ImplementationChoice) -> str:
    """All of an answer's notes."""
    return "\n".join(found.notes)


def test_the_file_is_small_and_says_what_it_is_of() -> None:
    """Three generations, and times inside their ranges."""
    assert FILE.stat().st_size < 240_000
    assert (TABLE.triton.count("."), len(TABLE.revision) >= 7, bool(TABLE.kprof)) == (2, True, True)
    assert TABLE.kernels.keys() <= bundled().keys()
    rows = [row for of_kernel in TABLE.kernels.values() for row in of_kernel]
    assert {row.product for row in rows} >= {"MI300X", "MI355X", "MI250X"}
    for row in rows:
        assert row.times
        assert all(0 < time.low_ms <= time.ms <= time.high_ms for time in row.times.values())


@pytest.mark.parametrize("name", sorted(bundled()))
def test_rows_are_problems_of_the_kernel_as_it_is(name: str) -> None:
    """With its parameters, its types, and configurations that it takes."""
    kernel = described(bundled()[name])
    for row in TABLE.kernels.get(name, ()):
        product = find_product(row.product)
        assert product is not None
        assert kernel.problem(product.arch, None, row.shape) == row.shape
        for one, time in row.times.items():
            described(bundled()[one]).configure(product.arch, time.config)


def test_what_is_written_is_read_again(tmp_path: Path) -> None:
    """Four digits of each time are kept."""
    time = ShippedTime(0.123456, 0.1, 0.2, {"BLOCK": 8}, "memory")
    rows = [ShippedRow("MI300X", {"M": 1, "dtype": "fp16"}, {"a": time, "b": time._replace(ms=0.15)})]
    path = tmp_path / "table.json"
    path.write_text(written(ShippedTable("3.9.0", "0.1.0", "abc", {"a": rows, "empty": []})))

    found = ShippedTable.read(path)

    assert len(json.loads(path.read_text())["variants"]) == 1
    assert (found.triton, found.kprof, found.revision, set(found.kernels)) == ("3.9.0", "0.1.0", "abc", {"a"})
    assert found.kernels["a"] == [
        rows[0]._replace(times={"a": time._replace(ms=0.1235), "b": time._replace(ms=0.15)}),
    ]


def test_without_triton_the_table_answers(monkeypatch: pytest.MonkeyPatch) -> None:
    """And says what it is of; nothing is given to a compiler."""
    installed(monkeypatch, "")
    asked = compiled(monkeypatch)

    found = select("gemm", SQUARE, "MI300X")

    assert (found.rule, found.basis, found.implementation, found.distance) == ("predicted", "predicted", "gemm", 0)
    row = next(r for r in TABLE.kernels["gemm"] if r.product == "MI300X" and r.shape == found.shape)
    assert found.ms == row.times["gemm"].ms
    assert found.config == row.times["gemm"].config
    assert f"Triton {TABLE.triton}; there is no usable Triton here" in notes(found)
    assert not asked


def test_without_triton_the_nearest_shape_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    """With its distance; one that is too far away gives the defaults, and no time."""
    installed(monkeypatch, "")

    near = select("gemm", {"M": 3000, "N": 4096, "K": 4096}, "MI300X")
    far = select("gemm", {"M": 1 << 20, "N": 4096, "K": 4096}, "MI300X")

    assert near.measured is not None
    assert near.distance is not None
    assert (near.measured["M"], 0 < near.distance < 1) == (4096, True)
    assert "nearest shape of the shipped table (M=4096" in near.reason
    assert (far.rule, far.ms, far.distance) == ("default", None, None)
    assert "M=1048576 for" in notes(far)


def test_without_triton_published_times_come_first(monkeypatch: pytest.MonkeyPatch) -> None:
    """The order is the same as with it."""
    installed(monkeypatch, "")

    found = select("mlstm_chunkwise", {"B": 1, "S": 2048, "DQK": 64, "DV": 64}, "MI300X")

    assert (found.rule, found.distance) == ("published", 0)


def test_a_compile_that_is_asked_for_needs_triton(monkeypatch: pytest.MonkeyPatch) -> None:
    """--predict is no wish that can be passed over."""
    from kprof.compiler import versions

    def none() -> None:
        raise KprofError("Triton is not installed")

    monkeypatch.setattr(versions, "installed", none)
    monkeypatch.setattr(kernels_of_choice, "find_spec", lambda _name: None)

    with pytest.raises(KprofError, match="Triton is not installed"):
        select("rmsnorm", {}, "MI300X", predict=True)


@pytest.mark.triton
def test_with_triton_the_model_is_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    """Also for a shape that the table has: its times are those of the model of a release, which may be an older one."""
    installed(monkeypatch, TABLE.triton)
    asked = compiled(monkeypatch)

    select("gemm", SQUARE, "MI300X")
    assert len(asked) == 1
    assert select("gemm", SQUARE, "MI300X", predict=False).measured is not None
    assert len(asked) == 1


@pytest.mark.triton
def test_another_triton_than_the_tables_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where nothing may be compiled the table answers all the same."""
    installed(monkeypatch, "3.6.0")

    found = select("gemm", SQUARE, "MI300X", predict=False)

    assert "Triton 3.6.0 is installed, which may compile other code" in notes(found)


@pytest.mark.triton
def test_a_file_of_the_users_has_no_shipped_times(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Even where it has the name of a bundled kernel."""
    installed(monkeypatch, TABLE.triton)
    asked = compiled(monkeypatch)
    mine = tmp_path / "gemm.py"
    mine.write_text(bundled()["gemm"].read_text())

    found = select(str(mine), SQUARE, "MI300X")

    assert (found.kernel, found.rule, len(asked)) == ("gemm", "default", 1)


@pytest.mark.triton
@pytest.mark.parametrize("name", sorted(bundled()))
def test_described_without_triton_is_what_triton_loads(name: str) -> None:
    """Cases, knobs and legality of each kernel are the same as of the file imported with Triton."""
    from kprof.targets.library import load

    real = load(name)
    before = sys.modules["triton"]
    mine = described.__wrapped__(bundled()[name])

    assert sys.modules["triton"] is before
    assert (mine.shapes, mine.alternatives, mine.arch_config) == (real.shapes, real.alternatives, real.arch_config)
    for case in real.shapes:
        shape = real.problem("gfx942", case)
        assert mine.configure("gfx942", None, shape) == real.configure("gfx942", None, shape)
        config = real.configure("gfx942", None, shape)
        if real.legal is not None and mine.legal is not None:
            assert mine.legal(shape, config, "gfx942") == real.legal(shape, config, "gfx942")


@pytest.mark.triton
@pytest.mark.parametrize(
    ("kernel", "gpu"), [("rmsnorm", "MI300X"), ("softmax", "MI250X"), ("gemm", "MI300X"), ("swiglu_fp8", "MI300X")]
)
def test_the_model_says_the_same_now(kernel: str, gpu: str) -> None:
    """A failure means that predictions changed by more than 5 %: run validation/predict_shipped.py again."""
    from kprof.compiler.versions import installed as find

    if find().version != TABLE.triton:
        pytest.skip(f"the table is of Triton {TABLE.triton}")
    row = next(row for row in TABLE.kernels[kernel] if row.product == gpu)

    found = select(kernel, row.shape, gpu, predict=True, condition="flushed")

    # The table is without events, which stand around all launches of a call.
    now = {one.implementation: one.ms - 0.0048 for one in found.candidates if one.basis == "predicted"}
    assert load_gpu(gpu)[1] is not None
    assert now == pytest.approx({name: time.ms for name, time in row.times.items()}, rel=0.05)
