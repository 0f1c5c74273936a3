"""One file a reader, each with a ``TARGET``: the folder is the list."""

from functools import cache
from importlib import import_module
from pathlib import Path

from validation.fuzz.target import Target


def names() -> list[str]:
    """All readers."""
    return sorted(path.stem for path in Path(__file__).parent.glob("*.py") if not path.stem.startswith("_"))


@cache
def target(name: str) -> Target:
    """A reader's target."""
    found: Target = import_module(f"validation.fuzz.readers.{name}").TARGET
    return found
