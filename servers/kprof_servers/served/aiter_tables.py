"""AITER's CSV tables of products: one line per number of rows, shape and GPU.

AITER's lookup is partly C++ and writes files, so kprof does not call it but reimplements its rules.
``get_CKGEMM_config`` and ``get_GEMM_A16W16_config`` look for a line with the exact M, then with M rounded up in fine
steps, then with M rounded up to a power of two (``csrc/py_itfs_cu/gemm_common.cu``). They read ``configs/NAME.csv``
and all ``configs/model_configs/*NAME*.csv``. Taken from AITER e4048607a5.
"""

from collections.abc import Iterator, Sequence
from pathlib import Path

from kprof.errors import KprofError
from kprof.inputs import boundary
from kprof.inputs.csv_records import records
from kprof.inputs.weight_format import WeightFormat
from kprof.kernel_spec import ELEMENT_TYPES, resolve_fp8
from kprof_servers.served.devices import ServedGpu
from kprof_servers.served.document import Found, NeededFile, ServedBatch
from kprof_servers.served.shapes import ProductShape, by_shape

_CONFIGS = "aiter/configs"
_TABLES: dict[str, dict[str, dict[str, str]]] = {
    "bf16": {
        "bf16_tuned_gemm": {
            "bias": "False", "dtype": "torch.bfloat16", "outdtype": "torch.bfloat16", "scaleAB": "False",
            "bpreshuffle": "False",
        }
    },
    "fp8": {"a8w8_tuned_gemm": {"q_dtype_w": "fp8"}, "a8w8_bpreshuffle_tuned_gemm": {"q_dtype_w": "fp8"}},
    "int8": {
        "a8w8_tuned_gemm": {"q_dtype_w": "torch.int8"}, "a8w8_bpreshuffle_tuned_gemm": {"q_dtype_w": "torch.int8"},
    },
    "mxfp4": {"a4w4_blockscale_tuned_gemm": {}},
    "fp8-block": {"a8w8_blockscale_tuned_gemm": {}, "a8w8_blockscale_bpreshuffle_tuned_gemm": {}},
}  # fmt: skip
"""Map from weight format to the tables' names, and for each table the columns besides M, N and K that select lines."""
_STEPS = ((256, 16), (1024, 32), (4096, 64))
_LARGEST_STEP = 128
_FEW_COLUMNS, _MANY_ROWS = 4096, 8192

TableKey = tuple[int, int, int]
"""M, N and K of a line."""


def padded(rows: int, columns: int) -> tuple[int, ...]:
    """Return the numbers of rows to look up, in the order of the lookup: M itself, then M rounded up in two ways.

    Args:
        rows: M. It is rounded up to a multiple of 16, 32, 64 or 128, depending on M, and to a power of two.
        columns: N. If it is above 4096 and M is above 8192, 8192 replaces the power of two.
    """
    step = next((step for most, step in _STEPS if rows <= most), _LARGEST_STEP)
    fine = -(-rows // step) * step
    coarse = _MANY_ROWS if rows > _MANY_ROWS and columns > _FEW_COLUMNS else 1 << (rows - 1).bit_length()
    return rows, fine, coarse


def table_files(
    products: Sequence[ProductShape], weights: WeightFormat, gpu: ServedGpu, root: Path, batches: Sequence[int]
) -> list[NeededFile]:
    """Return the entries of AITER's tables for the products.

    Args:
        products: the products of one GPU.
        weights: format of the weights.
        gpu: the GPU; lines contain its architecture and number of compute units.
        root: the folder that contains the package.
        batches: rows of a step.

    Raises:
        KprofError: a table cannot be read.
    """
    found = []
    for name, other in _tables(weights, gpu).items():
        keys = dict(_rows(root, name, gpu, other))
        found += [_file(name, product, keys, batches) for product in by_shape(products)]
    return found


def _tables(weights: WeightFormat, gpu: ServedGpu) -> dict[str, dict[str, str]]:
    """Return the tables for a weight format by name, each with the columns besides M, N and K that select lines."""
    # With MXFP4 only in the experts' weights, the products are bfloat16.
    name = "bf16" if weights.name == "mxfp4" and not weights.everywhere else weights.name
    kind = "torch." + ELEMENT_TYPES[resolve_fp8({"dtype": "fp8_e4m3"}, gpu.arch)["dtype"]].torch
    return {
        table: {key: kind if value == "fp8" else value for key, value in other.items()}
        for table, other in _TABLES.get(name, {}).items()
    }


def _file(name: str, product: ProductShape, keys: dict[TableKey, str], batches: Sequence[int]) -> NeededFile:
    n, k = product.n, product.k
    taken = {rows: next((m for m in padded(rows, n) if (m, n, k) in keys), None) for rows in batches}
    without = [rows for rows, bucket in taken.items() if bucket is None]
    status: Found = "exact" if not without else "default" if len(without) == len(taken) else "fallback"
    opened = next((keys[bucket, n, k] for bucket in taken.values() if bucket is not None), "")
    notes = []
    if without and status == "fallback":
        notes.append(f"no line for {', '.join(f'{rows:,}' for rows in without)} rows: the code's default is used")
    return NeededFile(
        kernel=f"{name}.csv",
        layer=product.layer,
        layers=product.layers,
        shape={"N": n, "K": k},
        name=f"{name}.csv",
        folder=_CONFIGS,
        status=status,
        opened=opened,
        batches=[ServedBatch(rows, bucket) for rows, bucket in taken.items()],
        notes=notes,
    )


def _rows(root: Path, name: str, gpu: ServedGpu, other: dict[str, str]) -> Iterator[tuple[TableKey, str]]:
    folder = root / _CONFIGS
    every = [folder / f"{name}.csv", *sorted((folder / "model_configs").glob(f"*{name}*.csv"))]
    wanted = {"gfx": gpu.arch, "cu_num": str(gpu.compute_units), **other}
    for path in every:
        if path.is_file() and "untuned" not in path.name:
            text = boundary.read_text(path)
            lines = records(text.splitlines(keepends=True), str(path), skip_spaces=True)
            header = [cell.strip() for cell in next(lines, [])]
            if not {"M", "N", "K", "cu_num"} <= set(header):
                raise KprofError("is no table of products: M, N, K or cu_num is missing", path=str(path))
            for cells in lines:
                row = dict(zip(header, (cell.strip() for cell in cells), strict=False))
                key = [boundary.whole_number(row.get(part)) for part in ("M", "N", "K")]
                fits = all(row.get(part, value) == value for part, value in wanted.items())
                if fits and key[0] is not None and key[1] is not None and key[2] is not None:
                    yield (key[0], key[1], key[2]), str(path.relative_to(root))
