"""Start the recording in every Python with this folder on its path, then run the sitecustomize that this file hides.

This file runs before the program, in any Python from 3.10 on, even in one without kprof.
"""

import os
import sys


def _start() -> None:
    import importlib.util
    from pathlib import Path

    package = Path(__file__).resolve().parents[2]
    found = None if "kprof" in sys.modules else importlib.util.find_spec("kprof")
    is_own = found is not None and found.origin is not None and Path(found.origin).resolve().parent == package
    if "kprof" not in sys.modules and not is_own:
        # A folder of the program that is called kprof is a different package. Only kprof itself is made importable,
        # without the packages that are installed next to it.
        spec = importlib.util.spec_from_file_location(
            "kprof", package / "__init__.py", submodule_search_locations=[str(package)]
        )
        if spec is None or spec.loader is None:
            return
        module = importlib.util.module_from_spec(spec)
        sys.modules["kprof"] = module
        spec.loader.exec_module(module)
    from kprof.recording.session import start_from_environment

    start_from_environment()


def _run_hidden() -> None:
    """Run the sitecustomize that this one hides, if there is one."""
    import importlib
    import importlib.util

    here = os.path.realpath(os.path.dirname(__file__))  # noqa: PTH120  # before anything else is imported
    kept = list(sys.path)
    sys.path[:] = [entry for entry in kept if os.path.realpath(entry) != here]
    own = sys.modules.pop("sitecustomize", None)
    try:
        if importlib.util.find_spec("sitecustomize") is not None:
            importlib.import_module("sitecustomize")
    finally:
        if "sitecustomize" not in sys.modules and own is not None:
            sys.modules["sitecustomize"] = own
        sys.path[:] = [entry for entry in sys.path if os.path.realpath(entry) != here]


_run_hidden()
if os.environ.get("KPROF_CAPTURE"):
    _start()
