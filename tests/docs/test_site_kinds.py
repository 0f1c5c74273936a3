"""The site keeps four kinds of pages apart, and a guide is in one of them."""

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
NAV = (ROOT / "mkdocs.yml").read_text(encoding="utf-8").partition("\nnav:\n")[2]
KINDS = dict(re.findall(r"^  - ([\w ]+):\n((?:      - .*\n)+)", NAV, re.MULTILINE))


def test_tutorials_how_to_reference_and_explanation() -> None:
    assert list(KINDS) == ["Tutorials", "How to", "Reference", "Explanation", "Project"]


def test_each_guide_is_of_one_kind() -> None:
    """Pages at the top of docs/; those in folders are led to by the first page of their folder."""
    pages = re.findall(r": ([\w/]+\.md)$", NAV, re.MULTILINE)
    assert len(pages) == len(set(pages))
    assert {path.name for path in (ROOT / "docs").glob("*.md")} <= set(pages)
