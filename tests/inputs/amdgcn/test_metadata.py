"""The metadata reader against PyYAML."""

from pathlib import Path

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from kprof.inputs.amdgcn.metadata import read

ARTIFACTS = Path(__file__).parents[2] / "artifacts"
FILES = sorted([*ARTIFACTS.glob("*/*.amdgcn"), *ARTIFACTS.glob("*/*.s")])


@pytest.mark.parametrize("file", FILES, ids=[f"{file.parent.name}/{file.name}" for file in FILES])
def test_real_metadata(file: Path) -> None:
    """What compilers write reads as PyYAML reads it."""
    text = file.read_text("utf-8", "replace").partition(".amdgpu_metadata\n")[2].partition("\t.end_amdgpu_metadata")[0]
    expected = yaml.safe_load(text)
    assert read(text.split("\n")) == expected
    assert expected["amdhsa.kernels"]


WORDS = st.text(alphabet="abcxyz._0123456789", min_size=1, max_size=8).filter(lambda word: word[0] in "abcxyz.")
SCALARS = st.one_of(
    st.integers(-(2**60), 2**60), st.booleans(), WORDS, st.text(alphabet="ab: '\"#-{}", min_size=1, max_size=8)
)
TREES = st.dictionaries(
    WORDS,
    st.recursive(
        SCALARS, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(WORDS, inner, max_size=3), max_leaves=8
    ),
    min_size=1,
    max_size=4,
)


@given(TREES)
def test_any_tree_comes_back(tree: dict[str, object]) -> None:
    """Block style with nested sequences and mappings, quoted scalars included."""
    text = yaml.safe_dump(tree, default_flow_style=False, sort_keys=False)
    assert read(text.split("\n")) == yaml.safe_load(text)


@given(st.text(alphabet="ab:- \n'\"[]{}&*!|>#0123.\t", max_size=200))
def test_any_text_is_survived(text: str) -> None:
    """Hostile text gives a mapping or None."""
    found = read(text.split("\n"))
    assert found is None or isinstance(found, dict)
