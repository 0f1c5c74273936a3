"""Counter files in SQLite: rocprof v1's database and rocpd."""

from validation.fuzz.readers._counters import read_named
from validation.fuzz.target import Target

TARGET = Target(
    lambda data, folder: read_named(data, folder, "c.db"),
    ("rocprof/**/*.db",),
    words=("SQLite format 3", "CREATE TABLE", "rocpd_kernel_dispatch", "rocpd_string", "INTEGER", "TEXT", "REAL"),
    runs=150,
)
