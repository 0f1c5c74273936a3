"""The examination of a machine as JSON."""

import msgspec

from kprof.doctor.document import Diagnosis


def render(found: Diagnosis) -> str:
    """``kprof.doctor/1`` with two spaces of indentation and keys in the document's order."""
    return msgspec.json.format(msgspec.json.encode(found), indent=2).decode() + "\n"
