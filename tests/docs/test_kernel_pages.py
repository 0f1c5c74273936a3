"""A page for each bundled kernel: its four parts, its shipped configurations, and a profile that holds for one."""

import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import kprof
from kprof.targets.library import bundled
from kprof.targets.without_triton import described

ROOT = Path(__file__).parents[2]
PAGES = ROOT / "docs" / "kernels"
HEADINGS = ["Idea", "Layout", "What bounds it", "Predicted profile"]
KERNELS = sorted(bundled())
ROW = re.compile(r"^\| `(\w+)` \|", re.MULTILINE)


@pytest.fixture(name="script", scope="module")
def _script() -> Any:
    sys.path.insert(0, str(ROOT / "validation"))
    try:
        import kernel_pages
    finally:
        sys.path.remove(str(ROOT / "validation"))
    return kernel_pages


def page(kernel: str) -> str:
    """Text of a kernel's page."""
    return (PAGES / f"{kernel}.md").read_text(encoding="utf-8")


def profiles(kernel: str) -> Iterator[tuple[str, list[list[str]]]]:
    """Yield each GPU of a profile with its tables, each the lines behind the two of its head."""
    profile = page(kernel).partition("\n## Predicted profile\n")[2]
    for section in profile.split("\n### ")[1:]:
        product, _, text = section.partition("\n")
        yield product, [table.split("\n")[2:] for table in re.findall(r"(?:^\|.*\n?)+", text, re.MULTILINE)]


@pytest.mark.parametrize("kernel", KERNELS)
def test_a_page_has_its_four_parts_with_something_in_each(kernel: str) -> None:
    parts = page(kernel).split("\n## ")[1:]

    assert [part.partition("\n")[0] for part in parts] == HEADINGS
    assert all(len(part.split()) > 30 for part in parts)


@pytest.mark.parametrize("kernel", KERNELS)
def test_a_profile_has_both_gpus_and_every_launch(script: Any, kernel: str) -> None:
    """Each case has its rows in the three tables of each GPU, one for each launch in the last two."""
    spec = described(bundled()[kernel])
    found = dict(profiles(kernel))

    assert list(found) == list(script.PRODUCTS)
    for problems, code, times in found.values():
        cases = script.cases_of(spec)
        assert [row.split("`")[1] for row in problems if row] == list(cases)
        for rows in (code, times):
            assert all(any(row.startswith(f"| `{case}` | `{kernel}` |") for row in rows) for case in cases)
            launched = {row.split("`")[3] for row in rows if row.count("`") >= 4}
            assert launched <= {kernel, *spec.parts}
        assert not any("not known" in row for row in [*code, *times])
        assert [row.split(" | ")[:2] for row in code if row] == [
            row.split(" | ")[:2] for row in times if row and " | all launches | " not in row
        ]


@pytest.mark.parametrize("kernel", KERNELS)
def test_a_profile_is_of_the_configurations_that_are_shipped(script: Any, kernel: str) -> None:
    """A default that was changed, or a case, has to be predicted again."""
    spec = described(bundled()[kernel])
    for product, (problems, *_) in profiles(kernel):
        for case, row in zip(script.cases_of(spec), problems, strict=False):
            assert row == script.problem_row(case, *script.shipped(spec, product, case)), (
                f"{kernel} has another problem or configuration for {product} than its page: "
                f"python validation/kernel_pages.py --only {kernel}"
            )


def test_every_page_is_in_the_navigation_and_in_the_list() -> None:
    """The navigation of the site and the first page of the folder list every kernel page."""
    navigation = (ROOT / "mkdocs.yml").read_text(encoding="utf-8")
    index = (PAGES / "README.md").read_text(encoding="utf-8")

    assert re.findall(r"^          - (\w+): kernels/\1\.md$", navigation, re.MULTILINE) == KERNELS
    assert [kernel for kernel in KERNELS if f"[{kernel}]({kernel}.md)" not in index] == []


@pytest.mark.parametrize("path", sorted(PAGES.glob("*.md")), ids=lambda path: path.stem)
def test_links_lead_somewhere(path: Path) -> None:
    """To files that exist, and to headings that they have."""
    for target, anchor in re.findall(r"\]\((?!https?://)([^)#\s]*)(?:#([^)\s]*))?\)", path.read_text(encoding="utf-8")):
        there = (path.parent / target).resolve() if target else path
        assert there.exists(), target
        if anchor:
            titles = re.findall(r"^#+ (.*)$", there.read_text(encoding="utf-8"), re.MULTILINE)
            anchors = {re.sub(r"[^\w -]", "", title.lower()).replace(" ", "-") for title in titles}
            assert anchor in anchors, f"{target}#{anchor}"


@pytest.mark.triton("3.9.")
def test_a_profile_holds(script: Any) -> None:
    """Two rows of the RMS norm on an MI300X, predicted again."""
    (kernel,) = kprof.analyze("rmsnorm", arch="MI300X", case="rows_8k", try_cures=False).kernels
    rows = page("rmsnorm").split("\n")

    for row in (script.code_row("rows_8k", kernel), script.time_row("rows_8k", kernel)):
        assert row in rows, "the model or Triton moved: python validation/kernel_pages.py"


@pytest.mark.parametrize("text", ["no markers", "{0}\n{1}\n{0}\n{1}\n", "{0}\n"])
def test_a_page_without_its_markers_is_not_written(script: Any, text: str) -> None:
    with pytest.raises(ValueError, match="the page needs the lines"):
        script.with_profile(text.format(script.BEGIN, script.END), ["new"])


def test_the_prose_around_a_profile_stays(script: Any) -> None:
    written = script.with_profile(f"before\n{script.BEGIN}\nold\n{script.END}\nafter\n", ["new", ""])

    assert written == f"before\n{script.BEGIN}\nnew\n{script.END}\nafter\n"
