"""Build hook that sets the README and the project's URLs in the package metadata.

Links in the README are relative, for readers of a checkout. If ``KPROF_REPOSITORY`` is set to the repository's URL
when a distribution is built, the links point into that repository and the project's URLs are derived from it.
Otherwise there are no URLs.
"""

import os
import re
from pathlib import Path
from typing import Any

try:
    from hatchling.metadata.plugin.interface import MetadataHookInterface
except ImportError:  # The tests import this file without the build backend.
    MetadataHookInterface = object  # type: ignore[assignment,misc]

_LINK = re.compile(r"\]\((?!https?://|#|mailto:)([^)\s]+)\)")


class ProjectMetadata(MetadataHookInterface):
    """Metadata hook that sets ``readme`` and ``urls``."""

    PLUGIN_NAME = "custom"

    def update(self, metadata: dict[str, Any]) -> None:
        """See hatchling's metadata hooks."""
        text = (Path(self.root) / "README.md").read_text(encoding="utf-8")
        repository = os.environ.get("KPROF_REPOSITORY", "").rstrip("/").removesuffix(".git")
        metadata["readme"] = {"content-type": "text/markdown", "text": absolute(text, repository)}
        metadata["urls"] = urls(repository)


def absolute(text: str, repository: str) -> str:
    """Return the text with its relative links pointing into a repository; unchanged without a repository."""
    return _LINK.sub(rf"]({repository}/blob/main/\1)", text) if repository else text


def urls(repository: str) -> dict[str, str]:
    """Return the project's URLs by label; empty if the repository is unknown."""
    if not repository:
        return {}
    return {
        "Source": repository,
        "Documentation": f"{repository}/tree/main/docs",
        "Issues": f"{repository}/issues",
        "Changelog": f"{repository}/blob/main/CHANGELOG.md",
    }
