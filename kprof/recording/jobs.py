"""One compile requested by a recorded program: its identity and its execution."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from kprof.cache.keys import key
from kprof.captures import layout
from kprof.compiler import versions
from kprof.compiler.request import Compiled, from_json
from kprof.recording import describe


@dataclass(frozen=True)
class CaptureJob:
    """A compile: Triton's own objects, and the identifier of the result."""

    id: str
    source: Any
    target: Any
    options: Any
    backend: Any


def identifier(source: Any, target: Any, options: Any, switches: Mapping[str, str]) -> str:
    """Return a specialisation's identifier: a digest of Triton, source, helpers, place, target, options, switches."""
    place = [source.fn.fn.__code__.co_filename, source.fn.starting_line_number]
    whole = key(versions.identity(), source.hash(), place, str(target), options.hash(), dict(switches))
    return whole[: layout.ID_LENGTH]


def prepare() -> None:
    """Import the modules that every compile needs, once for all processes that are forked for compiles."""
    from kprof.compiler import in_process  # noqa: F401
    from kprof.importing import functions as source  # noqa: F401


def compile_source(job: CaptureJob, progress: Callable[[str], None]) -> Compiled:
    """Compile a kernel of the recorded program in this process.

    Raises:
        KprofError: if the compiler rejects the source.
    """
    from kprof.compiler.in_process import Build, CompileTarget, finished, run_stages
    from kprof.importing.functions import Function

    api = versions.api()
    jit = job.source.fn
    function = Function(Path(jit.fn.__code__.co_filename), jit.fn.__qualname__, jit)
    request = from_json({**describe.request_of(job.source, job.target.arch, {}, {}), "passes": False})
    build = Build(request, function)
    target = CompileTarget(job.target, job.backend, job.options)
    return finished(api, build, lambda: run_stages(api, build, target, job.source, progress), lambda: job.id)
