"""Run actions right after a module was imported, without importing it. Imports only the standard library."""

import importlib.util
import sys
from collections.abc import Callable, Sequence
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any


class AfterImport(MetaPathFinder):
    """Calls an action once after a module was executed, or at once if the module is already loaded."""

    def __init__(self, actions: dict[str, Callable[[], None]]) -> None:
        self.actions = dict(actions)
        self._finding: set[str] = set()

    def install(self) -> None:
        """Start watching."""
        # Insert first, because an action may import a module that another action waits for.
        sys.meta_path.insert(0, self)
        for name in list(self.actions):
            if name in sys.modules:
                self.done(name)

    def remove(self) -> None:
        """Stop watching."""
        if self in sys.meta_path:
            sys.meta_path.remove(self)

    def done(self, name: str) -> None:
        """Run the action of a module that was executed."""
        action = self.actions.pop(name, None)
        if action is not None:
            action()

    def find_spec(
        self, fullname: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Return the spec from the other import finders, with a loader that reports when the module was executed."""
        del path, target
        if fullname not in self.actions or fullname in self._finding:
            return None
        self._finding.add(fullname)
        try:
            spec = importlib.util.find_spec(fullname)
        finally:
            self._finding.discard(fullname)
        if spec is not None and spec.loader is not None:
            spec.loader = _ReportingLoader(spec.loader, self)
        return spec


class _ReportingLoader(Loader):
    """A loader that wraps another one and reports when it is done."""

    def __init__(self, inner: Any, watcher: AfterImport) -> None:
        self._inner = inner
        self._watcher = watcher

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)

    def create_module(self, spec: ModuleSpec) -> ModuleType | None:
        """See the wrapped loader."""
        made: ModuleType | None = self._inner.create_module(spec)
        return made

    def exec_module(self, module: ModuleType) -> None:
        """Execute the module with the wrapped loader, then run the action."""
        # Code that reads the module's loader later must see the real one.
        if module.__spec__ is not None:
            module.__spec__.loader = self._inner
        module.__loader__ = self._inner
        self._inner.exec_module(module)
        self._watcher.done(module.__name__)
