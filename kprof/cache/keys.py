"""The one way to make a key."""

import hashlib
import json
from typing import Any


def key(*parts: Any) -> str:
    """SHA-256 of values that JSON can hold: all that an entry depends on."""
    text = json.dumps(parts, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()
