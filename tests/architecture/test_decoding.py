"""What decodes bytes from outside stands where its errors are caught: damaged, nested too deep, a number too long."""

import ast
from collections.abc import Iterator

import pytest

from tests.architecture.conftest import ROOT, tree_of

# What hostile content makes a decoder raise: one set for each kind of error, of names that catch it.
_ALL = {"Exception", "JSON_ERRORS", "_ERRORS"}
JSON = ({"ValueError", *_ALL}, {"RecursionError", *_ALL})
MSGSPEC = ({"DecodeError", *_ALL}, {"RecursionError", *_ALL}, {"UnicodeDecodeError", *_ALL})
DECODERS = {
    "json.loads": JSON,
    "json.load": JSON,
    "msgspec.json.decode": MSGSPEC,
    "msgspec.msgpack.decode": MSGSPEC,
    "zipfile.ZipFile": ({"BadZipFile"},),
}
NEVER = {"pickle", "marshal", "shelve", "dill", "plistlib", "bz2", "gzip"}
"""They run, or unpack without bound, what a file says."""
PARSERS = {"tomllib", "tomli", "yaml"}
"""What only the boundary imports for files from outside."""

OWN = "a file of kprof itself, or what it wrote a moment ago"
SUMMED = "an entry of the cache, whose checksum was compared"
WIRE = "between processes of kprof"
READERS = (
    "kprof/inputs/",
    "kprof/captures/",
    "kprof/cache/",
    "kprof/tuning/",
    "kprof/diffing/",
    "kprof_analyzers/",
    "kprof_servers/",
)
ALLOWED = {
    "kprof/cache/entries.py": SUMMED,
    "kprof/diffing/compiled_sides.py": WIRE,
    "kprof/inputs/boundary.py": "says that it raises what JSON raises; its callers decode the same text",
    "kprof/tuning/choice/shipped.py": OWN,
    "kprof_servers/configs/json_text.py": "one text or number, whose form and length a pattern has held",
    "kprof/tuning/cures.py": SUMMED,
    "kprof/tuning/known_advice.py": SUMMED,
    "kprof/tuning/recorded/answer.py": "entries that were JSON a moment ago",
    "kprof/tuning/trials/releases.py": SUMMED,
    "kprof/tuning/trials/serve.py": WIRE,
    "kprof_servers/served/lookup_process.py": WIRE,
    "kprof_servers/served/served_kernel.py": "what kprof wrote into the file that calls it",
    "kprof_analyzers/directories.py": SUMMED,
    "kprof_analyzers/report_cache.py": SUMMED,
}
IMPORTED = {
    "kprof/hardware/reader.py": OWN,
    "kprof/inputs/boundary.py": "the boundary",
    "kprof_analyzers/profiles/counters/catalogue.py": OWN,
    "kprof_analyzers/profiles/timeline/categories.py": OWN,
    "kprof_analyzers/model/ranges.py": OWN,
    "kprof_analyzers/whole_step/efficiency.py": OWN,
}


def dotted(node: ast.expr) -> str:
    """``a.b.c`` of such an expression; empty for any other."""
    if isinstance(node, ast.Name):
        return node.id
    owner = dotted(node.value) if isinstance(node, ast.Attribute) else ""
    return f"{owner}.{node.attr}" if isinstance(node, ast.Attribute) and owner else ""


def decoders_in(tree: ast.Module) -> dict[str, tuple[set[str], ...]]:
    """The decoders that a module may call: those above, and those that it makes of them."""
    made = {
        f"{target.id}.decode": MSGSPEC
        for node in tree.body
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Call)
        for target in node.targets
        if isinstance(target, ast.Name) and dotted(node.value.func).startswith("msgspec.")
    }
    return DECODERS | made


def written_here(call: ast.Call) -> bool:
    """Whether it decodes what ``json.dumps`` makes in the same place."""
    return bool(call.args) and isinstance(call.args[0], ast.Call) and dotted(call.args[0].func) == "json.dumps"


def unguarded(tree: ast.Module) -> list[int]:
    """Lines that decode where an error of the content would come through."""
    known = decoders_in(tree)

    def calls(node: ast.AST, caught: frozenset[str]) -> Iterator[int]:
        if (
            isinstance(node, ast.Call)
            and not written_here(node)
            and any(not kinds & caught for kinds in known.get(dotted(node.func), ()))
        ):
            yield node.lineno
        if isinstance(node, ast.Try):
            inside = caught | {
                dotted(name.value if isinstance(name, ast.Starred) else name).rpartition(".")[2]
                for handler in node.handlers
                for name in (handler.type.elts if isinstance(handler.type, ast.Tuple) else [handler.type])
                if name is not None
            }
            for child in node.body:
                yield from calls(child, inside)
            for child in (*node.handlers, *node.orelse, *node.finalbody):
                yield from calls(child, caught)
        else:
            for child in ast.iter_child_nodes(node):
                yield from calls(child, caught)

    names = {name.rpartition(".")[2] for name in known}
    if not any(isinstance(node, ast.Attribute) and node.attr in names for node in ast.walk(tree)):
        return []
    return sorted(calls(tree, frozenset()))


def imported(tree: ast.Module) -> set[str]:
    """Top packages that a module imports, wherever it does."""
    names = [alias.name for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names]
    names += [node.module or "" for node in ast.walk(tree) if isinstance(node, ast.ImportFrom) and not node.level]
    return {name.partition(".")[0] for name in names}


def trees() -> dict[str, ast.Module]:
    """Every module by its path from the folder that it is installed into."""
    packages = (ROOT / "kprof", ROOT / "analyzers" / "kprof_analyzers", ROOT / "servers" / "kprof_servers")
    return {
        path.relative_to(package.parent).as_posix(): tree_of(path)
        for package in packages
        for path in package.rglob("*.py")
    }


def test_what_decodes_catches_what_that_raises():
    """Or stands above with its reason."""
    read = {name: tree for name, tree in trees().items() if name.startswith(READERS)}
    open_ = {name: lines for name, tree in read.items() if (lines := unguarded(tree))}
    assert {name: lines for name, lines in open_.items() if name not in ALLOWED} == {}
    assert sorted(set(ALLOWED) - set(open_)) == []


def test_formats_are_parsed_in_one_place():
    """TOML and YAML by the boundary alone, and nothing by what would run it."""
    found = {name: imported(tree) for name, tree in trees().items()}
    assert {name: names & NEVER for name, names in found.items() if names & NEVER} == {}
    assert {name for name, names in found.items() if names & PARSERS} == set(IMPORTED)


@pytest.mark.parametrize(
    ("code", "seen"),
    [
        ("json.loads(x)", True),
        ("try:\n    json.loads(x)\nexcept ValueError:\n    pass", True),
        ("try:\n    json.loads(x)\nexcept (OSError, ValueError, RecursionError):\n    pass", False),
        ("json.loads(json.dumps(x))", False),
        ("try:\n    pass\nexcept Exception:\n    json.loads(x)", True),
        ("try:\n    msgspec.json.decode(x)\nexcept boundary.JSON_ERRORS:\n    pass", False),
        ("try:\n    msgspec.json.decode(x)\nexcept (KprofError, *JSON_ERRORS):\n    pass", False),
        ("try:\n    msgspec.json.decode(x)\nexcept msgspec.DecodeError:\n    pass", True),
        ("D = msgspec.json.Decoder(int)\ndef f(x):\n    return D.decode(x)", True),
        ("def f(x):\n    return x.decode()", False),
    ],
)
def test_what_is_open_is_seen(code, seen):
    """A decoder in a handler, or behind half of its errors, is open."""
    assert bool(unguarded(ast.parse(code))) == seen
