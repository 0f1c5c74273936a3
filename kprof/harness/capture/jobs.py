"""One compile that a recorded program asks for: what identifies it, and how it is done."""

import hashlib
import json
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from kprof.errors import KprofError
from kprof.harness import triton_versions as versions
from kprof.harness.capture import describe, layout
from kprof.harness.request import Compiled, from_json


@dataclass(frozen=True)
class Job:
    """A compile: Triton's own objects, and the identifier of what comes of them."""

    id: str
    source: Any
    target: Any
    options: Any
    backend: Any


def identifier(source: Any, target: Any, options: Any, switches: Mapping[str, str]) -> str:
    """The identifier of a specialisation: Triton, source with its helpers and place, target, options, switches."""
    parts = [
        versions.identity(),
        source.hash(),
        source.fn.fn.__code__.co_filename,
        source.fn.starting_line_number,
        str(target),
        options.hash(),
        dict(switches),
    ]
    digest = hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()
    return digest[: layout.ID_LENGTH]


def compile_source(job: Job, progress: Callable[[str], None]) -> Compiled:
    """Compile in this process.

    Raises:
        KprofError: the compiler refused.
    """
    from kprof.harness.engine import Build, Target, run_stages
    from kprof.harness.failures import explain
    from kprof.harness.source import Function

    api = versions.api()
    jit = job.source.fn
    function = Function(Path(jit.fn.__code__.co_filename), jit.fn.__qualname__, jit)
    request = from_json({**describe.request_of(job.source, job.target.arch, {}, {}), "passes": False})
    build = Build(request, function)
    started = time.perf_counter()
    try:
        run_stages(api, build, Target(job.target, job.backend, job.options), job.source, progress)
    except KprofError:
        raise
    except Exception as error:
        raise explain(error, build.stage, function, build.stages) from error
    return Compiled(
        request=request,
        stages=build.stages,
        metadata=build.metadata,
        triton_version=api.version,
        seconds=time.perf_counter() - started,
        cached=False,
        hash=job.id,
        source_line=function.line,
        stage_seconds=build.stage_seconds,
        diagnostics="\n".join(build.warnings),
        missing=build.missing,
    )
