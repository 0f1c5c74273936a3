"""Remembering what a kernel file answered, so that a repeated question need not import it, nor Triton.

A question is, say, "which compile does this case of this kernel with these knobs mean"; its answer holds as long as
the files that were read for it have the same content.
"""

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from types import ModuleType
from typing import Any

from kprof.cache import files as store
from kprof.compiler import environment as switches
from kprof.compiler.versions import identity
from kprof.importing.dependencies import unchanged
from kprof.importing.loading import dependencies_of

_VERSION = "1"
_VARIANTS = 4


def recall(question: Mapping[str, Any]) -> Any:
    """The answer that was remembered for a question, as JSON; ``None`` when there is none that still holds.

    Args:
        question: JSON values. The installed Triton and the environment switches are added by themselves.

    Raises:
        KprofError: no usable Triton.
    """
    variants = store.read_json(_path(question))
    for variant in variants if isinstance(variants, list) else ():
        match variant:
            case {"files": dict() as files, "answer": answer} if unchanged(files):
                return answer
    return None


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
    files.update(_own_files())
    path = _path(question)
    others = store.read_json(path)
    variant = {"files": files, "answer": answer}
    kept = [v for v in others if v != variant][: _VARIANTS - 1] if isinstance(others, list) else []
    return store.write_json(path, [variant, *kept])


def _own_files() -> dict[str, str]:
    """Files of kprof that have a share in an answer."""
    package = Path(__file__).parent.parent
    names = ("kernel_spec", "kernel_library", "importing/loading", "harness/specialize", "harness/signature")
    paths = [package / f"{name}.py" for name in names]
    return {str(path): hashlib.sha256(path.read_bytes()).hexdigest() for path in paths if path.is_file()}


def _path(question: Mapping[str, Any]) -> Path:
    text = json.dumps([question, identity(), switches.relevant({})], sort_keys=True)
    key = hashlib.sha256(text.encode()).hexdigest()
    return store.root() / f"answers-{_VERSION}" / key[:2] / f"{key}.json"
