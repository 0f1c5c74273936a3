"""What ``import kprof`` gives stays what it is, whatever else is imported."""

import subprocess
import sys

import pytest

import kprof

PUBLIC = sorted(({*getattr(kprof, "__all__", ())} | {*kprof._PUBLIC}) - {"__version__"})


def test_there_are_public_names():
    """Those that kernels' own files need among them."""
    assert {"Kernel", "Launch", "Tensor", "select"} <= set(PUBLIC)


IMPORT_ALL = """
import importlib, sys
from types import ModuleType
import kprof
for module in sys.stdin.read().split():
    importlib.import_module(module)
found = {name: getattr(kprof, name) for name in sys.argv[1:]}
sys.exit(", ".join(n for n, v in found.items() if isinstance(v, ModuleType) or not callable(v)) or None)
"""


def test_every_module_can_be_imported_and_hides_no_public_name(graph):
    """A module directly under kprof takes its name there as soon as anything imports it.

    In a process of its own: what other tests see depends on what has been imported.
    """
    modules = [name for name in sorted(graph.modules) if name.startswith("kprof") and not name.endswith("__main__")]
    ran = subprocess.run(
        [sys.executable, "-c", IMPORT_ALL, *PUBLIC],
        input="\n".join(modules),
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == 0, ran.stderr


def test_no_module_bears_a_public_name(graph):
    """Also one that a platform or a missing package keeps from being imported."""
    directly = {module.split(".")[1] for module in graph.modules if module.startswith("kprof.")}
    assert directly.isdisjoint(PUBLIC)


@pytest.mark.parametrize("name", PUBLIC)
def test_a_public_name_says_what_it_is(name):
    """Documented, and the same object each time."""
    value = getattr(kprof, name)
    assert (value.__doc__ or "").strip(), name
    assert getattr(kprof, name) is value


def test_importing_kprof_loads_none_of_it():
    """The names are looked up when they are used."""
    code = "import sys, kprof; print(sorted(m for m in sys.modules if m.startswith('kprof')))"
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60)
    assert set(eval(ran.stdout)) <= {"kprof", "kprof.version"}  # a list of names that the line above printed
