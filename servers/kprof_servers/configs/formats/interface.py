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
        order: position in the sequence in which formats are tried; the smallest comes first.
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
        """Parse a file. If its text cannot be parsed, set :attr:`ConfigFile.broken`."""


def opened(text: str) -> tuple[JsonNode, Broken | None]:
    """Return a parsed JSON document and None or, if it is invalid, an empty document and the reason."""
    try:
        document = parse(text)
    except JsonError as error:
        return JsonNode(error.place, members=()), Broken(error.place, error.reason)
    if document.members is None:
        return JsonNode(document.place, members=()), Broken(document.place, "the document is not an object")
    return document, None
