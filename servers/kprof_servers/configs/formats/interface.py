"""Interface of the formats of tuned configurations."""

from abc import ABC, abstractmethod
from pathlib import PurePath
from typing import ClassVar

from kprof_servers.configs.json_text import JsonError, JsonNode, parse
from kprof_servers.configs.model import Broken, ConfigFile


class ConfigFormat(ABC):
    """Base of all formats.

    Attributes:
        name: display name.
        order: position in which formats are tried, smallest first.
        suffix: suffix of the files.
    """

    name: ClassVar[str]
    order: ClassVar[int]
    suffix: ClassVar[str] = ".json"

    @abstractmethod
    def claims(self, path: PurePath) -> bool:
        """Return whether the path alone shows that the file has this format."""

    @abstractmethod
    def resembles(self, document: JsonNode) -> bool:
        """Return whether the content has this format, for a file whose path does not show its format."""

    @abstractmethod
    def read(self, path: str, text: str) -> ConfigFile:
        """Parse a file; ``broken`` is set if the text cannot be parsed."""


def opened(text: str) -> tuple[JsonNode, Broken | None]:
    """Parse a JSON document. Return it with None, or an empty document with the reason of the failure."""
    try:
        document = parse(text)
    except JsonError as error:
        return JsonNode(error.place, members=()), Broken(error.place, error.reason)
    if document.members is None:
        return JsonNode(document.place, members=()), Broken(document.place, "the document is not an object")
    return document, None
