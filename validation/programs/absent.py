"""Replacement for packages that a recorded package imports but that the recording does not need."""

import importlib.abc
import importlib.machinery
import importlib.util
import sys
from types import ModuleType
from typing import Any, ClassVar


class _Nothing(type):
    """A class for every name: it can be a base class, be called, and has any attribute."""

    def __getattr__(cls, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return _Nothing(name, (), {})

    def __or__(cls, other: Any) -> Any:
        return other

    def __ror__(cls, other: Any) -> Any:
        return other

    def __getitem__(cls, item: Any) -> Any:
        return cls


def _ignore(*_arguments: Any, **_options: Any) -> None:
    """Accept and ignore any arguments."""


def _same(kind: Any, _item: Any) -> Any:
    return kind


class _Module(ModuleType):
    """A module that has every name."""

    __path__: ClassVar[list[str]] = []
    __version__ = "0.0"

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return _Nothing(name, (), {"__init__": _ignore, "__class_getitem__": classmethod(_same)})


class _Absent(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    def __init__(self, names: set[str]) -> None:
        self.names = names

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> Any:
        del path, target
        if name.partition(".")[0] not in self.names:
            return None
        return importlib.machinery.ModuleSpec(name, self, is_package=True)

    def create_module(self, spec: Any) -> ModuleType:
        return _Module(spec.name)

    def exec_module(self, module: ModuleType) -> None:
        pass


def without(*names: str) -> None:
    """Make these packages importable as empty ones if they are not installed."""
    sys.meta_path.append(_Absent(set(names)))
