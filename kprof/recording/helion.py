"""Record programs with Helion kernels: no configuration is timed, and the first one is used.

Helion's searches time hundreds of configurations, some of them in processes of their own. Nothing can be timed while a
program is recorded, so a search of Helion's does not run. Its cache of best configurations is neither read nor written.
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from kprof.recording.recorder import Recorder
    from kprof.simulation.patches import Patches

SEARCH = "helion.autotuner.base_search"
"""Module after whose import :func:`install_search` has to run."""

CACHE = "helion.autotuner.base_cache"
"""Module after whose import :func:`install_cache` has to run."""

_OWN = "helion."


def install_search(recorder: "Recorder", patches: "Patches") -> None:
    """Make Helion's searches choose their first configuration; searches defined by the program run, as trials."""
    from helion.autotuner.base_search import BaseSearch

    search: Any = BaseSearch
    original = search.autotune

    def autotune(self: Any, *args: Any, **kwargs: Any) -> Any:
        if not type(self).__module__.startswith(_OWN):
            with recorder.trial():
                return original(self, *args, **kwargs)
        listed = list(getattr(self, "configs", None) or ())
        name = str(getattr(getattr(self.kernel, "kernel", None), "name", "a kernel"))
        if len(listed) > 1:
            recorder.note(f"Helion: the first of {len(listed)} configurations of {name} is recorded, none is timed")
        elif not listed:
            recorder.note(f"Helion: the default configuration of {name} is recorded, its search is not run")
        return listed[0] if listed else self.config_spec.default_config()

    patches.set(search, "autotune", autotune)


def install_cache(patches: "Patches") -> None:
    """Let Helion ignore its files of best configurations, which other programs share."""
    from helion.autotuner.base_cache import AutotuneCacheBase

    def autotune(self: Any, *args: Any, **kwargs: Any) -> Any:
        return self.autotuner.autotune(*args, **kwargs)

    patches.set(AutotuneCacheBase, "autotune", autotune)
