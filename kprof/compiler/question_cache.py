"""Caches answers that need a kernel file to be imported: the next time neither the file nor Triton is loaded.

A question is, say, "which compile does this case of this kernel with these knobs mean"; its answer holds as long as
the files that were read for it have the same content.
"""

from collections.abc import Mapping
from types import ModuleType
from typing import Any

from kprof.cache.entries import CacheSection
from kprof.cache.own import derived_key
from kprof.compiler import environment as switches
from kprof.compiler.versions import identity
from kprof.importing.dependencies import unchanged
from kprof.importing.loading import dependencies_of

_ANSWERS = CacheSection("answers")
_VARIANTS = 4
_RECALLED: dict[str, None] = {}


def recall(question: Mapping[str, Any]) -> Any:
    """The answer that was remembered for a question, as JSON; ``None`` when there is none that still holds.

    Args:
        question: JSON values. The installed Triton, the environment switches and kprof are added by themselves.

    Raises:
        KprofError: no usable Triton.
    """
    for variant in _ANSWERS.read_json(_key(question)) or ():
        match variant:
            case {"files": dict() as files, "answer": answer} if unchanged(files):
                _RECALLED.update(dict.fromkeys(files))
                return answer
    return None


def recalled_files() -> list[str]:
    """Files that the answers recalled in this process since the last call rest on: nothing of them was imported."""
    found = list(_RECALLED)
    _RECALLED.clear()
    return found


def remember(question: Mapping[str, Any], answer: Any, module: ModuleType, *modules: ModuleType) -> bool:
    """Keep an answer that depends on these modules' files and on those that they import.

    Returns:
        Whether it was kept. It is not when a module reads more than its files: the environment, other files.
    """
    files: dict[str, str] = {}
    for each in (module, *modules):
        found = dependencies_of(each)
        if not found.complete:
            return False
        files.update(found.files)
    name = _key(question)
    variant = {"files": files, "answer": answer}
    kept = [v for v in _ANSWERS.read_json(name) or () if v != variant][: _VARIANTS - 1]
    return _ANSWERS.write_json(name, [variant, *kept])


def _key(question: Mapping[str, Any]) -> str:
    return derived_key(question, identity(), switches.relevant({}))
