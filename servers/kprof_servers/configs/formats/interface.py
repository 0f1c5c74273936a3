"""What a format of tuned configurations is."""

from abc import ABC, abstractmethod
from pathlib import PurePath
from typing import ClassVar

from kprof_servers.configs.json_text import JsonError, JsonNode, parse
from kprof_servers.configs.model import Broken, ConfigFile


class ConfigFormat(ABC):
    """Base of all formats.

    Attributes:
        name: for people.
        order: smaller ones are asked first.
        suffix: of the files.
    """

    name: ClassVar[str]
    order: ClassVar[int]
    suffix: ClassVar[str] = ".json"

    @abstractmethod
    def claims(self, path: PurePath) -> bool:
        """Whether the path alone says that the file is of this format."""

    @abstractmethod
    def resembles(self, document: JsonNode) -> bool:
        """Whether a document under another name looks like it."""

    @abstractmethod
    def read(self, path: str, text: str) -> ConfigFile:
        """The file; with ``broken`` set when the text cannot be read."""


def opened(text: str) -> tuple[JsonNode, Broken | None]:
    """A JSON document, or an empty one and why there is none."""
    try:
        document = parse(text)
    except JsonError as error:
        return JsonNode(error.place, members=()), Broken(error.place, error.reason)
    if document.members is None:
        return JsonNode(document.place, members=()), Broken(document.place, "the document is not an object")
    return document, None
