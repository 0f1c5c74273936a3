"""Files from outside are opened in one place: what else opens a file is kprof's own, or stands here with its reason."""

import ast
from pathlib import Path

import pytest

from tests.architecture.conftest import ROOT, tree_of

PACKAGES = (ROOT / "kprof", ROOT / "analyzers" / "kprof_analyzers", ROOT / "servers" / "kprof_servers")
BOUNDARY = {"kprof/inputs/opening.py", "kprof/inputs/boundary.py", "kprof/inputs/plain_files.py"}
OPENS = {"open", "read_text", "read_bytes", "mmap", "ZipFile", "ParquetFile", "fdopen", "memmap"}
LAYER = {"boundary", "plain_files"}

OWN = "a file of kprof itself"
WRITES = "writes, or makes sure that nobody else does"
ALLOWED = {
    "kprof/api/check.py": "compares the baseline with what it is about to write there",
    "kprof/api/live/candidate.py": "a file that kprof wrote a moment ago; it is read in a contained process",
    "kprof/api/live/candidates.py": "its forks' pipes, and /proc",
    "kprof/api/live/view/application.py": OWN,
    "kprof/api/trace_summary.py": WRITES,
    "kprof/bench/published.py": OWN,
    "kprof/bench/worker.py": WRITES,
    "kprof/cache/content.py": "hashes, piece by piece; nothing of the content is looked at",
    "kprof/cache/entries.py": "entries of the cache, with their checksum",
    "kprof/cache/locks.py": WRITES,
    "kprof/children.py": "a worker's own standard input and output",
    "kprof/cli/_last_resort.py": WRITES,
    "kprof/cli/app.py": OWN,
    "kprof/cli/view.py": "a browser is opened, and no file",
    "kprof/compiler/environment.py": "a file of the installed Triton, which is run anyway",
    "kprof/compiler/in_memory.py": "compares a copy with what it is about to write there",
    "kprof/compiler/installations.py": "kprof's own mark in an installation that it made",
    "kprof/compiler/versions.py": "a file of the installed Triton, which is run anyway",
    "kprof/api/live/containment/__init__.py": "/proc, for the guard",
    "kprof/api/live/containment/guarding.py": "files of /proc, which have no size and are no plain files",
    "kprof/api/live/containment/places.py": "opens places for Landlock, and reads nothing of them",
    "kprof/doctor/host.py": "files of /proc and /sys, with a limit; they have no size and are no plain files",
    "kprof/doctor/settings.py": OWN,
    "kprof/gate/programs.py": "the mark in a recording that kprof made",
    "kprof/hardware/machine.py": OWN,
    "kprof/hardware/reader.py": OWN,
    "kprof/importing/dependencies.py": "modules that this process has already run",
    "kprof/importing/loading.py": "a module that is run next",
    "kprof/inputs/amdgcn/opcodes.py": OWN,
    "kprof/inputs/code_object/packing.py": "an archive in memory, with a limit on what it unpacks to",
    "kprof/inputs/rocprof/database.py": "SQLite opens its file itself: read only, guarded, with a clock",
    "kprof/inputs/torch_profiler/tables.py": "Parquet opens its file itself, and it writes",
    "kprof/origin.py": "what pip noted of where kprof came from",
    "kprof/output/writing.py": WRITES,
    "kprof/recording/compiler.py": WRITES,
    "kprof/recording/journal.py": WRITES,
    "kprof/recording/recorder.py": "what Triton wrote for this process a moment ago",
    "kprof/recording/compile_results.py": "files that the recording's own compiler wrote",
    "kprof/recording/torch_large.py": "memory, no file",
    "kprof/reporters/github.py": WRITES,
    "kprof/reporters/html/parts.py": OWN,
    "kprof/reporters/registry.py": OWN,
    "kprof/targets/hip_source.py": "what clang wrote into a folder of ours",
    "kprof/tuning/choice/shipped.py": OWN,
    "kprof/tuning/journal.py": "lines with a checksum each, and it writes",
    "kprof/tuning/trials/serve.py": WRITES,
    "servers/kprof_servers/served/lookup_process.py": "a server's own code, which is run next",
    "kprof_analyzers/profiles/counters/catalogue.py": OWN,
    "kprof_analyzers/profiles/timeline/categories.py": OWN,
    "kprof_analyzers/model/ranges.py": OWN,
    "kprof_analyzers/whole_step/efficiency.py": OWN,
}


def opened_in(tree: ast.AST) -> list[int]:
    """Lines that open a file, those that ask the layer left out."""
    found = []
    for node in ast.walk(tree):
        if not isinstance(node, ast.Call):
            continue
        match node.func:
            case ast.Name(id="open"):
                found.append(node.lineno)
            case ast.Attribute(value=ast.Name(id=owner), attr=name) if owner in LAYER:
                assert name
            case ast.Attribute(value=ast.Name(id="sqlite3"), attr="connect"):
                found.append(node.lineno)
            case ast.Attribute(attr=name) if name in OPENS:
                found.append(node.lineno)
    return found


def files() -> dict[str, Path]:
    """Every module by its path from the folder that it is installed into."""
    return {
        path.relative_to(package.parent if package.name == "kprof_analyzers" else ROOT).as_posix(): path
        for package in PACKAGES
        for path in package.rglob("*.py")
    }


def test_only_the_layer_opens_files_from_outside():
    """A new place that opens a file takes it from the layer, or gives its reason above."""
    opening = {name for name, path in files().items() if opened_in(tree_of(path))}
    assert sorted(opening - BOUNDARY - set(ALLOWED)) == []
    assert sorted(set(ALLOWED) - opening) == []


@pytest.mark.parametrize(
    ("line", "seen"),
    [
        ("open('x')", True),
        ("path.open()", True),
        ("Path('x').read_text()", True),
        ("os.open('x', 0)", True),
        ("sqlite3.connect('x')", True),
        ("socket.connect('x')", False),
        ("boundary.read_bytes('x')", False),
        ("plain_files.read_bytes('x', 1)", False),
        ("head_of('x', 4)", False),
    ],
)
def test_what_opens_a_file_is_seen(line, seen):
    """And asking the layer is not opening."""
    assert bool(opened_in(ast.parse(line))) == seen
