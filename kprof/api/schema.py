"""JSON Schemas of kprof's documents."""

from typing import Any

from kprof.errors import KprofError, near_hint
from kprof.plug_ins import load

DOCUMENTS = ("report", "diff", "tune", "doctor", "bench", "profile", "server-configs")
"""Documents with a schema. The schema of ``server-configs`` needs the package ``kprof_servers``."""


def schema_of(document: str) -> dict[str, Any]:
    """Return the JSON Schema of a document, as published in ``docs/schema``.

    Raises:
        KprofError: the document is unknown, or its package is not installed.
    """
    if document not in DOCUMENTS:
        raise KprofError(f"no document {document!r}", hint=near_hint(document, DOCUMENTS, "They are"))
    from kprof.reporters.json_document import schema

    if document == "report":
        return schema()
    from kprof.bench import document as bench
    from kprof.diffing import document as diff
    from kprof.doctor import document as doctor
    from kprof.tuning import document as tune
    from kprof_analyzers.whole_step import document as profile

    kinds = {
        "bench": (bench.SCHEMA, bench.BenchReport),
        "diff": (diff.SCHEMA, diff.Diff),
        "doctor": (doctor.SCHEMA, doctor.Diagnosis),
        "profile": (profile.SCHEMA, profile.ProfileDocument),
        "tune": (tune.SCHEMA, tune.TuneReport),
    }
    if document not in kinds:
        found = load("kprof.documents", document)
        return schema(found.SCHEMA, found.DOCUMENT)
    return schema(*kinds[document])
