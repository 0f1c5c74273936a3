"""kprof's own cache of compiled kernels on disk."""

import hashlib
import json
from typing import Any

from kprof.harness import environment as switches
from kprof.harness.request import CompileRequest
from kprof.harness.triton_versions import identity


def content_hash(request: CompileRequest, jit: Any) -> str:
    """SHA-256 of what decides the result: source with its helpers, request, Triton, environment."""
    parts = [jit.cache_key, identity(), request.to_json(), switches.relevant(request.environment)]
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()
