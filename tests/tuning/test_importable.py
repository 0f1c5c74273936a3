"""Which scripts other processes can import."""

from pathlib import Path

import pytest

from kprof.tuning.importable import runs_on_import

FINE = """
\"\"\"A script.\"\"\"
import os
try:
    import torch
except ImportError:
    torch = None
DEVICE = os.environ.get("DEVICE", "cuda:0")
CONFIGS = [Config({"BLOCK": 2**n}, num_warps=w) for n in range(4) for w in (4, 8)]
if torch is not None and torch.cuda.is_available():
    DEVICE = "cuda"

def kernel():
    print("never")

if __name__ == "__main__":
    main()
"""


def test_definitions_are_no_program(tmp_path: Path) -> None:
    """Imports that may fail, lists of configurations, the environment, and what is guarded."""
    script = tmp_path / "script.py"
    script.write_text(FINE)

    assert runs_on_import(script) is None


@pytest.mark.parametrize(
    ("line", "where"),
    [
        ("main()", "line 2"),
        ("x = torch.randn(4096, 4096)", "line 2"),
        ("for i in range(3):\n    pass", "line 2"),
        ("if torch.cuda.is_available():\n    main()", "line 3"),
        ("with open('x') as file:\n    pass", "line 2"),
        ("try:\n    import a\nexcept ImportError:\n    install()", "line 5"),
        ("def (", "it cannot be read"),
    ],
)
def test_what_runs_is_named(tmp_path: Path, line: str, where: str) -> None:
    """The first statement that does something, by its line."""
    script = tmp_path / "script.py"
    script.write_text(f"import torch\n{line}\n")

    assert runs_on_import(script) == where
