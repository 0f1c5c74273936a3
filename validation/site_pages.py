"""Add pages from outside docs/ to the site: README, contributing, changes and benchmarks, with adapted links."""

import os
import posixpath
import re
from pathlib import Path
from typing import Any

from mkdocs.structure.files import File, Files

ROOT = Path(__file__).resolve().parent.parent
PAGES = {
    "README.md": "index.md",
    "CONTRIBUTING.md": "contributing.md",
    "CHANGELOG.md": "changelog.md",
    "validation/benchmarks/README.md": "benchmarks.md",
}
"""Map a file of the repository to its page on the site."""

BOOSTS = {"questions.md": 6, "rules/": 1, "skill/": 0.1, "validation/": 0.1, "schema/": 0.3, "kernels/": 1}
"""Search weights of pages or folders; other pages below docs/ have the weight :data:`GUIDE`."""

GUIDE = 3
OUTSIDE = 0.1
"""Weight of guides, and of changes, contributing and benchmarks, because readers mostly search for instructions."""

_LINK = re.compile(r"(?<!!)\[([^\]]*)\]\((?!https?://|#|mailto:)([^)\s#]*)(#[^)\s]*)?\)")


def on_files(files: Files, config: Any) -> Files:
    """Add the pages that are not below docs/."""
    for source, page in PAGES.items():
        text = (ROOT / source).read_text(encoding="utf-8")
        files.append(File.generated(config, page, content=followed(text, source, page)))
    return files


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    """Make links that leave docs/ point to the pages above, or to the repository."""
    path = page.file.src_uri
    page.meta.setdefault("search", {"boost": _boost(path)})
    return markdown if path in PAGES.values() else followed(markdown, f"docs/{path}", path)


def _boost(path: str) -> float:
    if path in PAGES.values() and path != "index.md":
        return OUTSIDE
    return next((weight for start, weight in BOOSTS.items() if path.startswith(start)), GUIDE)


def followed(text: str, source: str, page: str) -> str:
    """Return a file's text with its links adapted to its page on the site.

    Args:
        text: Markdown whose links are relative to ``source``.
        source: path of the file in the repository.
        page: path of the page on the site.
    """

    def link(found: re.Match[str]) -> str:
        label, target, anchor = found[1], found[2], found[3] or ""
        path = posixpath.normpath(posixpath.join(posixpath.dirname(source), target))
        if path in PAGES:
            wanted = PAGES[path]
        elif path.startswith("docs/"):
            wanted = path.removeprefix("docs/")
            wanted += "/README.md" if (ROOT / path).is_dir() else ""
        else:
            repository = os.environ.get("KPROF_REPOSITORY", "").rstrip("/").removesuffix(".git")
            return f"[{label}]({repository}/blob/main/{path}{anchor})" if repository else label
        return f"[{label}]({posixpath.relpath(wanted, posixpath.dirname(page) or '.')}{anchor})"

    return _LINK.sub(link, text)
