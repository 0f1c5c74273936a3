"""The tests of one rule that need no compiler, for ``validation/mutate.py``: faster than a run of pytest."""

import inspect

from kprof_analyzers.rules import rules
from tests.rules import test_literate, test_measurements, test_rule
from tests.rules.literate import cases


def check(stem: str) -> None:
    """Call every test that is about a rule.

    Args:
        stem: the rule's folder and file: ``registers.spill_in_loop``.

    Raises:
        AssertionError: a test fails, as may any other exception.
    """
    (rule,) = (r for r in rules() if type(r).__module__.endswith(f".{stem}"))
    mine = {id(case) for case in cases() if f"{case.file.parent.name}.{case.file.stem}" == stem}
    for module in (test_literate, test_measurements, test_rule):
        for name, test in inspect.getmembers(module, inspect.isfunction):
            if name.startswith("test_"):
                for arguments in _of(test, rule, mine):
                    test(**arguments)


def _of(test, rule, mine):
    """The arguments of each call of a parametrised test that is about the rule."""
    calls = [{}]
    for mark in getattr(test, "pytestmark", []):
        names = [n.strip() for n in mark.args[0].split(",")] if isinstance(mark.args[0], str) else list(mark.args[0])
        calls = [
            {**call, **dict(zip(names, values if len(names) > 1 else [values], strict=True))}
            for call in calls
            for values in mark.args[1]
        ]
    about = {"rule", "case"} & set(inspect.signature(test).parameters)
    if not about:
        return []
    return [
        call for call in calls if any(v is rule or v in (rule.name, rule.id) or id(v) in mine for v in call.values())
    ]
