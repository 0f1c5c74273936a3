"""AITER's tables of products."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kprof.errors import KprofError
from kprof.inputs.weight_format import WeightFormat
from kprof_servers.served.aiter_tables import padded, table_files
from kprof_servers.served.devices import served_gpu
from kprof_servers.served.shapes import ProductShape

BLOCKS = WeightFormat("fp8-block", block=(128, 128))
HEADER = "gfx,cu_num,M,N,K,libtype,kernelId,us\n"
PRODUCT = ProductShape("o_proj", 7168, 2048, 61)


def tables(folder, text, more=""):
    configs = folder / "aiter" / "configs"
    (configs / "model_configs").mkdir(parents=True, exist_ok=True)
    (configs / "a8w8_blockscale_tuned_gemm.csv").write_text(HEADER + text)
    (configs / "model_configs" / "a8w8_blockscale_tuned_gemm_mine.csv").write_text(HEADER + more)
    (configs / "model_configs" / "a8w8_blockscale_untuned_gemm_mine.csv").write_text("M,N,K\n1,7168,2048\n")
    return folder


def of(folder, batches, arch="MI300X"):
    return table_files([PRODUCT], BLOCKS, served_gpu(arch), folder, batches)[0]


def test_lines_of_the_gpu_and_shape(tmp_path):
    """The exact number of rows, else rounded up; other GPUs' and shapes' lines do not count."""
    text = "gfx942,304,16,7168,2048,ck,1,5.0\ngfx950,256,64,7168,2048,ck,1,5.0\ngfx942,304,64,7168,4096,ck,1,5.0\n"
    root = tables(tmp_path, text)
    found = of(root, [1, 16, 64])
    assert [(batch.rows, batch.bucket) for batch in found.batches] == [(1, 16), (16, 16), (64, None)]
    assert (found.status, found.notes) == ("fallback", ["no line for 64 rows: the code's default is used"])
    assert of(root, [64], "MI355X").status == "exact"
    assert of(root, [8, 16]).status == "exact"
    assert of(root, [64, 128]).status == "default"
    assert of(root, [16], "MI308X").status == "default"


def test_tables_of_models_count(tmp_path):
    """They are merged into the same table when the server starts."""
    found = of(tables(tmp_path, "", "gfx942,304,16,7168,2048,ck,1,5.0\n"), [16])
    assert (found.status, found.opened) == (
        "exact",
        "aiter/configs/model_configs/a8w8_blockscale_tuned_gemm_mine.csv",
    )


def test_another_table_is_an_error(tmp_path):
    """One message, with the file."""
    (tables(tmp_path, "") / "aiter/configs/a8w8_blockscale_tuned_gemm.csv").write_text("a,b\n1,2\n")
    with pytest.raises(KprofError, match="is no table of products"):
        of(tmp_path, [1])


@pytest.mark.parametrize(
    ("rows", "columns", "looked_up"),
    [
        (1, 512, (1, 16, 1)),
        (17, 512, (17, 32, 32)),
        (300, 512, (300, 320, 512)),
        (1100, 512, (1100, 1152, 2048)),
        (5000, 512, (5000, 5120, 8192)),
        (9000, 512, (9000, 9088, 16384)),
        (9000, 8192, (9000, 9088, 8192)),
    ],
)
def test_rounding(rows, columns, looked_up):
    """As AITER's ``getPaddedM`` does with its two granularities."""
    assert padded(rows, columns) == looked_up


@given(st.integers(1, 1 << 20), st.integers(1, 4096))
def test_rounding_is_up_and_not_twice_as_much(rows, columns):
    """The fine step is never further away than the coarse one's own distance allows."""
    exact, fine, coarse = padded(rows, columns)
    assert exact == rows <= fine < rows + 128
    assert rows <= coarse < 2 * rows or rows == coarse == 1
