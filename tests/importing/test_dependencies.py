"""Which files decide a module."""

import pytest

from kprof.importing.dependencies import stale, stamps, unchanged
from kprof.importing.loading import dependencies_of, load_module


def test_files_of_helpers_are_followed(write):
    """Through imports of imports; the standard library is left out."""
    write("kprof_dep_c.py", "LAST = 5\n")
    write("kprof_dep_b.py", "import os.path, math\nfrom kprof_dep_c import LAST\n")
    found = dependencies_of(load_module(write("user.py", "import kprof_dep_b\nFIRST = 2.5\n")))
    assert {p.rpartition("/")[2] for p in found.files} == {"user.py", "kprof_dep_b.py", "kprof_dep_c.py"}
    assert found.complete
    assert any(text.endswith(".FIRST=2.5") for text in found.values)
    assert "kprof_dep_c.LAST=5" in found.values


@pytest.mark.parametrize(
    "text",
    [
        "import os\nSIZE = int(os.environ.get('S', '1'))\n",
        "from pathlib import Path\nSIZE = len(Path(__file__).read_text())\n",
        "import importlib\nm = importlib.import_module('math')\n",
        "try:\n    import kprof_no_such_module\nexcept ImportError:\n    pass\n",
    ],
)
def test_module_that_reads_more_than_its_files_is_not_trusted(write, text):
    """With the same files it may define something else the next time."""
    assert not dependencies_of(load_module(write("user.py", text))).complete


def test_import_inside_a_function_is_no_dependency(write):
    """Torch is imported where a kernel runs, not where it is compiled."""
    found = dependencies_of(load_module(write("user.py", "def run():\n    import kprof_no_such_module\n")))
    assert found.complete


def test_change_is_seen(write):
    """By content for the cache, by stamp for a running worker."""
    path = write("user.py", "A = 1\n")
    found = dependencies_of(load_module(path))
    known = stamps(found.files)
    assert unchanged(found.files)
    assert not stale(known)
    path.write_text("A = 22\n")
    assert not unchanged(found.files)
    assert stale(known)
    path.unlink()
    assert not unchanged(found.files)
    assert stale(known)
