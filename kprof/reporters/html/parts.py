"""Shared parts of the page's templates: the environment, and cleaning of text."""

import base64
import hashlib
import re
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar
from urllib.parse import quote

if TYPE_CHECKING:
    from jinja2 import Environment

T = TypeVar("T")

_FOLDER = Path(__file__).parent / "templates"
# Matches control characters, surrogates, noncharacters, and characters that reverse or hide text.
_ODD = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2060-\u2069\ud800-\udfff\ufeff\ufffe\uffff]")
_LONGEST = 400


def clean(text: str, longest: int | None = None) -> str:
    """Replace characters that hide or reorder text, and truncate long text."""
    shown = _ODD.sub("\N{REPLACEMENT CHARACTER}", text)
    if longest is not None and len(shown) > longest:
        return f"{shown[:longest]}… ({len(text):,} characters)"
    return shown


class Cutter:
    """Truncates long lists, and counts the dropped items."""

    def __init__(self) -> None:
        self._left: dict[str, int] = {}

    def __call__(self, what: str, items: Iterable[T], most: int) -> list[T]:
        """Return the first ``most`` items of a list, and count the others."""
        found = list(items)
        if len(found) > most:
            self._left[what] = self._left.get(what, 0) + len(found) - most
        return found[:most]

    def notes(self) -> list[str]:
        """Return a sentence with the number of dropped items of each kind; empty if none was dropped."""
        words = ", ".join(f"{count:,} {what}" for what, count in self._left.items())
        return [f"left out here, and in the JSON document: {words}"] if words else []


@cache
def environment() -> "Environment":
    """Return the template environment, with escaping, in which a missing value is an error instead of empty text."""
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    env = Environment(
        loader=FileSystemLoader(_FOLDER),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=_final,
    )
    env.filters["cut"] = lambda text, longest=_LONGEST: clean(str(text), longest)
    env.filters["image"] = image
    env.globals["script"] = _trusted("script.js")
    env.globals["run_script"] = _trusted("run.js")
    env.globals["run_style"] = _trusted("run.css")
    env.globals["style"] = _trusted("style.css")
    env.globals["script_hash"] = script_hash()
    env.globals["run_script_hash"] = script_hash("run.js")
    return env


def _final(value: Any) -> Any:
    """Clean a value that a template inserts into the page; markup is not changed."""
    if isinstance(value, str) and not hasattr(value, "__html__"):
        return clean(value)
    return value


def image(svg: str) -> str:
    """Return an SVG file as a data URL: scripts in an image do not run, and its identifiers cannot collide."""
    return "data:image/svg+xml," + quote(clean(svg), safe=" /:;,=()'!*+@?$")


@cache
def _file(name: str) -> str:
    return (_FOLDER / name).read_text(encoding="utf-8").strip("\n")


def _trusted(name: str) -> Any:
    from markupsafe import Markup

    return Markup(_file(name))  # noqa: S704 - our own file


def script_hash(name: str = "script.js") -> str:
    """Return the hash by which the content security policy identifies a script."""
    digest = hashlib.sha256(_file(name).encode()).digest()
    return f"sha256-{base64.b64encode(digest).decode()}"
