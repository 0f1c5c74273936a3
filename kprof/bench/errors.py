"""A provider that is not there."""

from importlib.util import find_spec


class NotInstalled(Exception):  # noqa: N818 - says what it is
    """The provider needs a package that is not there."""


def need(package: str, what: str) -> None:
    """Say that a package is missing, without importing it.

    Raises:
        NotInstalled: it is.
    """
    if find_spec(package) is None:
        raise NotInstalled(f"{what} needs the package {package!r}, which is not installed")
