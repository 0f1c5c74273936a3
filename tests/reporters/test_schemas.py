"""Published schemas: what documents are held to, and what stands in docs/schema."""

import json
from pathlib import Path

import jsonschema
import pytest

import kprof
from kprof.api.schema import DOCUMENTS, schema_of

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.parametrize("name", DOCUMENTS)
def test_published_schemas_are_the_documents_own(name):
    """A page for each, made by validation/generate_docs.py, that is a JSON Schema."""
    found = schema_of(name)
    jsonschema.Draft202012Validator.check_schema(found)
    published = json.loads((ROOT / "docs" / "schema" / f"{name}-1.json").read_text())
    assert published == json.loads(json.dumps(found))
    assert published["title"] == f"kprof.{name}/1"


def test_tuned_files_of_a_server_fit_theirs():
    """A document with needed files, batches and notes; one with a wrong status does not."""
    model = ROOT / "tests" / "artifacts" / "model_configs" / "deepseek-v3"
    document = json.loads(kprof.server_configs(model, server="vllm", arch="MI300X", tp=8).to_json())
    jsonschema.validate(document, schema_of("server-configs"))
    document["needed"][0]["status"] = "perhaps"
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(document, schema_of("server-configs"))
