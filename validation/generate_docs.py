"""Write the parts of ``docs/`` that are derived from the code: JSON Schemas of the documents, rule pages, tables.

Run ``make docs`` after a change; a test fails if the files are out of date.
"""

import argparse
import json
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT / folder) for folder in ("", "analyzers", "servers", "validation")]

_FORMATS = """\
A command prints text for people and writes any of these besides; `-` as a path is standard output, in place of the
text, and so is `--format FORMAT`. A format is one file in `kprof/reporters/`: its options, `--help` and this
page follow from it. A format that a command cannot write is an error, exit code 2."""


def generated() -> dict[Path, str]:
    """Map the path of every generated file to its content."""
    from kprof.api.schema import DOCUMENTS as SCHEMAS
    from kprof.api.schema import schema_of
    from kprof.reporters.rule_list import all_rules

    schemas = {f"{name}-1": schema_of(name) for name in SCHEMAS}
    files = {ROOT / f"docs/schema/{name}.json": json.dumps(each, indent=2) + "\n" for name, each in schemas.items()}
    index = ["# Rules", "", "`kprof explain KP101` prints a rule's page.", ""]
    index += ["KP0: the gate and ignores. KP1 to KP6: kernels. KP7: tuned-configuration files.", ""]
    index += ["| rule | name | severity |", "|---|---|---|"]
    for rule in all_rules():
        page = f"{rule.id}-{rule.name}.md"
        index.append(f"| [{rule.id}]({page}) | {rule.name} | {rule.severity.value} |")
        files[ROOT / "docs/rules" / page] = f"# {rule.id} {rule.name}\n\n{rule.help}\n"
    files[ROOT / "docs/rules/README.md"] = "\n".join(index) + "\n"
    files[ROOT / "docs/formats.md"] = _formats()
    files[ROOT / "kprof/__init__.pyi"] = _stub()
    files[ROOT / "docs/doctor.md"] = _doctor((ROOT / "docs/doctor.md").read_text())
    return files


def _stub() -> str:
    """Return the stub of the public functions with their options, in ruff's format."""
    from public_stub import stub

    import kprof
    from kprof import plug_ins

    # Only functions of packages in this repository are known here.
    apart = {
        name: entry.value.partition(":")[0]
        for name, entry in plug_ins.entries("kprof.functions").items()
        if name in kprof.__all__
    }
    text = stub({**kprof._PUBLIC, **apart})  # noqa: SLF001 - where each name is
    for arguments in (("check", "--fix", "--quiet", "--select", "I"), ("format", "--quiet")):
        command = [sys.executable, "-m", "ruff", *arguments, "--stdin-filename", "kprof/__init__.pyi", "-"]
        text = subprocess.run(command, input=text, capture_output=True, text=True, check=True, cwd=ROOT).stdout
    return text


def _formats() -> str:
    """Return the page of output formats."""
    from kprof.reporters.interface import DOCUMENTS
    from kprof.reporters.registry import formats

    lines = ["# Output formats", "", _FORMATS, "", "| format | files | option | what it is | commands |"]
    lines.append("|---|---|---|---|---|")
    for each in formats():
        option = {"path": f"`--{each.name} PATH`", "flag": f"`--{each.name}`"}.get(each.option, "")
        option = " ".join([option or f"`--format {each.name}`", *(f"`--{each.name}-{f}`" for f in each.flags)])
        commands = ", ".join(f"`{DOCUMENTS[kind]}`" for kind in each.documents)
        lines.append(f"| {each.name} | `{each.extension}` | {option} | {each.help} | {commands} |")
    return "\n".join(lines) + "\n"


def _doctor(page: str) -> str:
    """Return the page of ``kprof doctor`` with an updated table of settings."""
    from kprof.doctor.judging import wanted
    from kprof.doctor.settings import settings

    first, last = "<!-- settings: made by `make docs` -->", "<!-- end of settings -->"
    before, _, rest = page.partition(first)
    _, _, after = rest.partition(last)
    lines = ["| setting | wanted | why | source |", "|---|---|---|---|"]
    for name, each in settings().items():
        versions = "; ".join(
            f"{word} {bound}" for word, bound in (("since", each.since), ("until", each.until)) if bound
        )
        value = wanted(each).replace("*", r"\*")
        value += f"; {versions}" if versions else ""
        value += f"; or `{each.program}`" if each.program else ""
        lines.append(f"| `{name}` | {value} | {each.why} | {each.source} |")
    return f"{before}{first}\n" + "\n".join(lines) + f"\n{last}{after}"


def main() -> None:
    """Write all files, and remove the pages of deleted rules."""
    argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter).parse_args()
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
