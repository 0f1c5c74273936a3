"""An option of ``advise`` and ``tune`` is one field: everything else follows from it."""

import json

FIELD = """
    patience: Annotated[
        float, Option("Seconds without a better configuration after which a search ends.", metavar="SECONDS", least=1)
    ] = 7.0
"""
ASK = """
import inspect, json, kprof
found = {}
for name in ("advise", "tune"):
    function = getattr(kprof, name)
    found[name] = [
        inspect.signature(function).parameters["patience"].default,
        "patience: Seconds without a better configuration" in function.__doc__,
    ]
    try:
        function("softmax", patience=0)
    except kprof.KprofError as error:
        found[name].append(str(error))
    found[name].append(inspect.unwrap(function).__annotations__["options"](patience=9).patience)
print(json.dumps(found))
"""
TYPED = """
import sys; sys.path.insert(0, 'validation'); import generate_docs as g
text = g.generated()[g.ROOT / 'kprof/__init__.pyi']
print(text.count('patience: float = 7.0'), text.count('patience: Seconds without a better'))
"""


def test_an_option_is_one_field(copy):
    """The command line, the functions with their documentation and checks, and what editors know."""
    groups = copy.root / "kprof/options/groups.py"
    before = groups.read_text()
    head = 'class SearchOptions(BudgetOptions, RunOptions):\n    """Limits of a search for configurations."""\n'
    assert before.count(head) == 1
    groups.write_text(before.replace(head, head + FIELD))
    try:
        for command in ("advise", "tune"):
            shown = " ".join(copy.kprof(command, "--help").split())
            assert "--patience SECONDS" in shown
            assert "Seconds without a better configuration after which a search ends. [default: 7.0; x>=1]" in shown
            assert "--patience" in copy.kprof(command, "softmax", "--patience", "0", code=2)
        assert "--patience" not in copy.kprof("analyze", "kernel", "--help")
        found = json.loads(copy.python("-c", ASK).stdout)
        said = "--patience is 0: it must be at least 1"
        assert found == {"advise": [7.0, True, said, 9], "tune": [7.0, True, said, 9]}
        assert copy.python("-c", TYPED, cwd=copy.root).stdout.split() == ["2", "2"]
    finally:
        groups.write_text(before)
