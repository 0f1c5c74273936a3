"""The made-up run, and how fixtures are written."""

import sqlite3
from pathlib import Path

HERE = Path(__file__).parent
COPY = "void copy<float, 4>(float const*, float*, int)"
GEMM = "gemm_kernel"
# kernel, dispatch id, start, end, grid x y z, workgroup x, lds, vgprs, agprs, sgprs
RUN = [
    (COPY, 1, 1_000_000, 1_010_000, (4096, 1, 1), 256, 0, 8, 4, 16),
    (GEMM, 2, 1_020_000, 1_060_000, (2048, 4, 1), 512, 32768, 128, 64, 32),
    (COPY, 3, 1_070_000, 1_079_000, (4096, 1, 1), 256, 0, 8, 4, 16),
]
COUNTS = {
    "SQ_WAVES": (64, 128, 64),
    "SQ_INSTS_VALU": (1024, 65536, 1024),
    "TCC_HIT_sum": (100, 9000, 110),
    "TCC_MISS_sum": (300, 1000, 290),
}


def write(name: str, text: str) -> None:
    """Write a text fixture, making its folder."""
    path = HERE / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8", newline="")


def line(*cells: object) -> str:
    """A CSV line; texts with a comma are quoted."""
    texts = (f'"{c}"' if isinstance(c, str) and "," in c else str(c) for c in cells)
    return ",".join(texts) + "\n"


def quoted(*cells: object) -> str:
    """A CSV line with every text quoted."""
    return ",".join(f'"{c}"' if isinstance(c, str) else str(c) for c in cells) + "\n"


def fresh(name: str) -> sqlite3.Connection:
    """A new database in place of the old one."""
    path = HERE / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.unlink(missing_ok=True)
    return sqlite3.connect(path)


def insert(database: sqlite3.Connection, table: str, columns: list[str], rows: list[tuple[object, ...]]) -> None:
    """Create a table without types, and fill it."""
    names = ", ".join(f'"{column}"' for column in columns)
    database.execute(f"CREATE TABLE {table} ({names})")
    marks = ", ".join("?" * len(columns))
    database.executemany(f"INSERT INTO {table} VALUES ({marks})", rows)
