"""``docs/architecture.md`` says what is so."""

import re
import sys
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

import pytest

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "architecture.md"
# A file, a group of entry points, and a module that must not be there.
OTHERS = {
    "kprof.toml",
    "kprof.analyzers",
    "kprof.capture",
    "kprof.commands",
    "kprof.functions",
    "kprof.checks",
    "kprof.documents",
}
NAMES = sorted(set(re.findall(r"`(kprof(?:_analyzers|_servers)?(?:\.\w+)+)`", PAGE.read_text("utf-8"))) - OTHERS)


def test_the_layers_are_those_of_the_contract():
    """In the same order."""
    (listed,) = re.findall(r"^```\n(kprof_servers\n.*?)^```", PAGE.read_text("utf-8"), re.MULTILINE | re.DOTALL)
    with (ROOT / "pyproject.toml").open("rb") as file:
        contracts = tomllib.load(file)["tool"]["importlinter"]["contracts"]
    contract = next(each for each in contracts if each["type"] == "layers")
    assert listed.splitlines() == contract["layers"]
    assert not contract.get("ignore_imports")


def test_the_way_of_a_kernel_is_told_with_names():
    """Those that the next test looks up."""
    assert len(NAMES) > 30


@pytest.mark.parametrize("name", NAMES)
def test_every_name_is_there(name):
    """A module, a class or a function of the product, where the page has it."""
    module, _, attribute = name.rpartition(".")
    found = import_module(module)
    assert hasattr(found, attribute) or find_spec(name) is not None


def test_every_folder_and_file_is_there():
    """Placeholders in angle brackets are left out."""
    for path in re.findall(r"`((?:kprof|analyzers|servers|kernels|tests)/[^`]*)`", PAGE.read_text("utf-8")):
        assert (ROOT / path.partition("<")[0]).exists(), path
