"""Build hook: the README and the project's addresses as an index page shows them.

Links in the README are relative, as a checkout wants them. With ``KPROF_REPOSITORY`` set to the repository's address
when a distribution is built, they point into that repository, and the project's addresses are derived from it;
without it nothing is invented.
"""

import os
import re
from pathlib import Path
from typing import Any

try:
    from hatchling.metadata.plugin.interface import MetadataHookInterface
except ImportError:  # the tests read this file without the build backend
    MetadataHookInterface = object  # type: ignore[assignment,misc]

_LINK = re.compile(r"\]\((?!https?://|#|mailto:)([^)\s]+)\)")


class ProjectMetadata(MetadataHookInterface):
    """Fills in ``readme`` and ``urls``."""

    PLUGIN_NAME = "custom"

    def update(self, metadata: dict[str, Any]) -> None:
        """See hatchling's metadata hooks."""
        text = (Path(self.root) / "README.md").read_text(encoding="utf-8")
        repository = os.environ.get("KPROF_REPOSITORY", "").rstrip("/").removesuffix(".git")
        metadata["readme"] = {"content-type": "text/markdown", "text": absolute(text, repository)}
        metadata["urls"] = urls(repository)


def absolute(text: str, repository: str) -> str:
    """The text with its relative links pointing into a repository; unchanged when none is given."""
    return _LINK.sub(rf"]({repository}/blob/main/\1)", text) if repository else text


def urls(repository: str) -> dict[str, str]:
    """Addresses of the project by their label; none when the repository is not known."""
    if not repository:
        return {}
    return {
        "Source": repository,
        "Documentation": f"{repository}/tree/main/docs",
        "Issues": f"{repository}/issues",
        "Changelog": f"{repository}/blob/main/CHANGELOG.md",
    }
