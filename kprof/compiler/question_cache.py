"""Cache answers that require a kernel file's import, so neither the file nor Triton is loaded the next time.

A question is, for example, "which compile corresponds to this case of this kernel with these knobs". Its answer is
valid as long as the files that were read for it have the same content.
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
    """Return the stored answer to a question as JSON values, or ``None`` if no valid answer is stored.

    Args:
        question: JSON values. The identities of Triton, the environment switches and kprof are added automatically.

    Raises:
        KprofError: if no usable Triton is installed.
    """
    for variant in _ANSWERS.read_json(_key(question)) or ():
        match variant:
            case {"files": dict() as files, "answer": answer} if unchanged(files):
                _RECALLED.update(dict.fromkeys(files))
                return answer
    return None


def recalled_files() -> list[str]:
    """Return the files on which the answers recalled since the last call depend; these files were not imported."""
    found = list(_RECALLED)
    _RECALLED.clear()
    return found


def remember(question: Mapping[str, Any], answer: Any, module: ModuleType, *modules: ModuleType) -> bool:
    """Store an answer that depends on the files of these modules and of their imports.

    Returns:
        Whether it was stored. The answer is not stored if a module reads more than its files: the environment, or other
        files.
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
