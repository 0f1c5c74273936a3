"""The public names of the package."""

import subprocess
import sys
from importlib import import_module
from pathlib import Path
from statistics import median

import pytest

import kprof

ROOT = Path(__file__).resolve().parents[2]


def test_names_are_listed_and_found() -> None:
    assert dir(kprof) == sorted(kprof.__all__)
    # These are of a package beside the core.
    assert set(kprof._PUBLIC) | {"__version__", "lint_configs", "server_configs"} == set(kprof.__all__)
    for name, module in kprof._PUBLIC.items():
        assert getattr(kprof, name) is getattr(import_module(module), name)


def test_an_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="'analize'"):
        _ = kprof.analize


@pytest.mark.slow
def test_a_type_checker_sees_the_functions(tmp_path: Path) -> None:
    """The names that are loaded on first use have their own types, and a wrong one is an error."""
    pytest.importorskip("mypy")
    checked = tmp_path / "user.py"
    checked.write_text(
        "import kprof\n"
        "reveal_type(kprof.occupancy(arch='gfx942', vgpr=3).waves_per_simd)\n"
        "reveal_type(kprof.Tensor)\n"
        "kprof.occupancy(vgpr='many')\n"
        "kprof.analize()\n"
    )
    # With the options of the project's own check: both read and fill one cache.
    command = [sys.executable, "-m", "mypy", str(checked)]
    ran = subprocess.run(
        [*command, "--config-file", str(ROOT / "pyproject.toml")], capture_output=True, text=True, cwd=ROOT, check=False
    )
    assert 'Revealed type is "float"' in ran.stdout.replace("builtins.float", "float")
    assert "Tensor" in ran.stdout
    assert "[arg-type]" in ran.stdout
    assert "[attr-defined]" in ran.stdout
    assert ran.stdout.count("error:") == 2, ran.stdout


def test_importing_costs_nothing() -> None:
    """Beside an empty program: measured in turn, so that what else runs is part of both."""

    def seconds(code: str) -> float:
        before = _children()
        subprocess.run([sys.executable, "-c", code], check=True, cwd=ROOT)
        return _children() - before

    pairs = [(seconds("pass"), seconds("import kprof")) for _ in range(9)]
    assert median(imported - empty for empty, imported in pairs) < 0.02


def _children() -> float:
    import resource

    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime
