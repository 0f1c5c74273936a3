"""Write the parts of ``docs/`` that follow from the code: the document's JSON Schema and the rule pages.

Run ``make docs`` after a change; a test fails when the files are stale.
"""

import json
import sys
from inspect import cleandoc
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / "analyzers")]


def generated() -> dict[Path, str]:
    """Path to content of every generated file."""
    from kprof.reporters.json_document import schema
    from kprof_analyzers.advice import rules

    files = {ROOT / "docs/schema/report-1.json": json.dumps(schema(), indent=2) + "\n"}
    index = ["# Rules", "", "Each rule's page is its docstring; `kprof rules explain KP101` prints the same.", ""]
    index += ["| rule | name | severity |", "|---|---|---|"]
    for rule in rules():
        page = f"{rule.id}-{rule.name}.md"
        index.append(f"| [{rule.id}]({page}) | {rule.name} | {rule.severity.value} |")
        files[ROOT / "docs/rules" / page] = f"# {rule.id} {rule.name}\n\n{cleandoc(type(rule).__doc__ or '')}\n"
    files[ROOT / "docs/rules/README.md"] = "\n".join(index) + "\n"
    return files


def main() -> None:
    """Write all files and remove rule pages that have no rule any more."""
    files = generated()
    for old in (ROOT / "docs/rules").glob("*.md"):
        if old not in files:
            old.unlink()
    for path, content in files.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content)
    print(f"{len(files)} files written")


if __name__ == "__main__":
    main()
