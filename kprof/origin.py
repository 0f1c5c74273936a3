"""The repository and the commit that this kprof was installed from."""

import json
import subprocess
from importlib.metadata import PackageNotFoundError, distribution
from urllib.parse import urlparse
from urllib.request import url2pathname

from kprof import children


def installed_from() -> tuple[str, str]:
    """Return the repository's address and the commit that this kprof was installed from, or empty strings.

    For an installation from a checkout, these are its remote repository and the commit that is checked out.
    """
    try:
        told = distribution("kprof").read_text("direct_url.json")
    except PackageNotFoundError:
        return "", ""
    place = json.loads(told) if told else {}
    url, commit = place.get("url", ""), place.get("vcs_info", {}).get("commit_id", "")
    if not commit and url.startswith("file://"):
        folder = url2pathname(urlparse(url).path)
        return _git(folder, "config", "--get", "remote.origin.url"), _git(folder, "rev-parse", "HEAD")
    return url, commit


def _git(folder: str, *words: str) -> str:
    """Return git's output for a folder, or "" if git fails or the folder does not exist."""
    try:
        said = children.run(["git", "-C", folder, *words], capture_output=True, text=True, check=False, timeout=10)
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return str(said.stdout).strip()
