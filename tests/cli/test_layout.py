"""``kprof draw layout``."""

from xml.etree import ElementTree as ET

import pytest

BLOCKED = "#ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [8, 8], warpsPerCTA = [4, 1], order = [1, 0]}>"
MFMA = (
    "mfma",
    "--setting",
    "version=3",
    "--setting",
    "warpsPerCTA=2x2",
    "--setting",
    "instrShape=16x16x16",
    "--setting",
    "isTransposed=true",
)


def test_an_attribute_becomes_a_file(kprof, tmp_path):
    """The picture is XML, and the last line says what was drawn."""
    file = tmp_path / "x.svg"
    ran = kprof("draw", "layout", BLOCKED, "--size", "64x64", "-o", str(file))
    assert (ran.code, ran.err) == (0, "")
    assert ran.out.splitlines()[-1].startswith("blocked 64x64 drawn in ")
    assert ET.fromstring(file.read_text()).tag.endswith("svg")


def test_parameters_and_operands(kprof):
    """The same from a kind and its fields; an operand of it too."""
    result = kprof("draw", "layout", *MFMA, "--size", "32x32")
    operand = kprof("draw", "layout", *MFMA, "--size", "32x32", "--operand", "0")
    assert "Mfma" in result.out
    assert "DotOperand" in operand.out
    assert result.code == operand.code == 0


@pytest.mark.parametrize("kind", ["blocked", "mfma", "wmma", "swizzled", "rotating"])
def test_fields_that_are_left_out_are_the_usual_ones(kprof, kind):
    """A kind alone can be drawn."""
    ran = kprof("draw", "layout", kind, "--size", "32x32")
    assert (ran.code, ran.err) == (0, "")
    assert ET.fromstring(ran.out).tag.endswith("svg")


def test_an_alias_of_a_file(kprof, tmp_path):
    """Aliases are looked up where they are defined."""
    file = tmp_path / "k.ttgir"
    file.write_text(f"#b = {BLOCKED}\nmodule {{\n}}\n")
    assert kprof("draw", "layout", "#b", "--module", str(file)).code == 0


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("blockd",), "did you mean 'blocked'"),
        (("#mma",), "--module"),
        ((BLOCKED, "--size", "64xx"), "--size takes sizes"),
        ((BLOCKED, "--size", "3x3"), "powers of two"),
        ((BLOCKED, "--bits", "7"), "--bits takes"),
        ((BLOCKED, "--setting", "order=1x0"), "not with an attribute"),
        (("blocked", "--setting", "order"), "NAME=VALUE"),
        (("blocked", "--setting", "sizePerThreads=1x8"), "did you mean 'sizePerThread'"),
        (("mfma", "--setting", "warpPerCTA=2x2"), "did you mean 'warpsPerCTA'"),
        (("wmma", "--setting", "warpsPerCTA=0x2"), "warpsPerCTA cannot be 0"),
        (("mfma", "--operand", "2"), "--operand"),
        (("#b", "--module", "/nowhere/k.ttgir"), "no such file"),
        (("#ttg.blocked<{sizePerThread = [",), "cannot be drawn|cannot draw"),
    ],
)
def test_mistakes_are_one_message(kprof, arguments, words):
    """Exit 2, and what to do."""
    import re

    ran = kprof("draw", "layout", *arguments)
    assert ran.code == 2
    assert re.search(words, ran.err)
    assert "Traceback" not in ran.err
