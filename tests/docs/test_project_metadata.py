"""The README as an index page shows it, and the links of the site's pages."""

import importlib.util
import re
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).resolve().parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")


def load(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, ROOT / "validation" / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_links_are_absolute_where_the_repository_is_known() -> None:
    """No link of an index page is relative; every one names a file that is there."""
    text = load("project_metadata").absolute(README, "https://example.org/kprof")
    links = re.findall(r"\]\(([^)]*)\)", text)
    assert len(links) > 20
    assert all(link.startswith("https://example.org/kprof/blob/main/") for link in links)
    assert all((ROOT / link.removeprefix("https://example.org/kprof/blob/main/")).exists() for link in links)


def test_nothing_is_invented_where_it_is_not() -> None:
    """Without an address the README stays as it is and no address is given."""
    module = load("project_metadata")
    assert module.absolute(README, "") == README
    assert module.urls("") == {}
    assert module.urls("https://example.org/kprof")["Issues"] == "https://example.org/kprof/issues"


@pytest.mark.parametrize(
    ("link", "source", "page", "expected"),
    [
        ("[a](docs/tune.md)", "README.md", "index.md", "[a](tune.md)"),
        ("[a](docs/validation)", "README.md", "index.md", "[a](validation/README.md)"),
        ("[a](../diff.md#x)", "docs/measurements/diff.md", "measurements/diff.md", "[a](../diff.md#x)"),
        (
            "[a](../../validation/benchmarks/README.md)",
            "docs/rules/README.md",
            "rules/README.md",
            "[a](../benchmarks.md)",
        ),
        ("[a](../kprof/hardware)", "docs/model.md", "model.md", "a"),
        ("[a](https://example.org)", "README.md", "index.md", "[a](https://example.org)"),
    ],
)
def test_links_follow_their_page(
    link: str, source: str, page: str, expected: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A link leads to the page of the site that its file became; out of the site only to a known repository."""
    pytest.importorskip("mkdocs")
    monkeypatch.delenv("KPROF_REPOSITORY", raising=False)
    assert load("site_pages").followed(link, source, page) == expected
