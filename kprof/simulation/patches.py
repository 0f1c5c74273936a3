"""Replace attributes of foreign modules so that they can be restored. Imports only the standard library."""

from collections.abc import Mapping
from typing import Any

_ABSENT = object()


class Patches:
    """The replaced attributes, with their original values."""

    def __init__(self) -> None:
        self._undo: list[tuple[Any, str, Any]] = []
        self._items: list[tuple[dict[Any, Any], Any, Any]] = []

    def set(self, owner: Any, name: str, value: Any) -> None:
        """Set an attribute. If the owner had only inherited it, :meth:`undo` deletes it from the owner."""
        self._undo.append((owner, name, vars(owner).get(name, _ABSENT)))
        setattr(owner, name, value)

    def set_value(self, owner: Any, name: str, value: Any) -> None:
        """Set an attribute to a value, even if the owner does not store it in its ``__dict__``."""
        self._undo.append((owner, name, getattr(owner, name)))
        setattr(owner, name, value)

    def set_item(self, owner: dict[Any, Any], key: Any, value: Any) -> None:
        """Replace an entry of a dictionary."""
        self._items.append((owner, key, owner[key]))
        owner[key] = value

    def update(self, owner: Any, values: Mapping[str, Any]) -> None:
        """Set several attributes."""
        for name, value in values.items():
            self.set(owner, name, value)

    def undo(self) -> None:
        """Restore everything, last change first."""
        while self._items:
            mapping, key, entry = self._items.pop()
            mapping[key] = entry
        while self._undo:
            owner, name, before = self._undo.pop()
            if before is _ABSENT:
                delattr(owner, name)
            else:
                setattr(owner, name, before)
