"""Make keys of cache entries; all keys are made here."""

import hashlib
import json
from typing import Any


def key(*parts: Any) -> str:
    """Return the SHA-256 of JSON-compatible values: everything that an entry depends on."""
    text = json.dumps(parts, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()
