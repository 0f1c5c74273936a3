"""Run the tests of a file without pytest, whose start-up takes longer than most of them, for ``mutate.py``.

Supported are parametrised tests, property tests, fixtures of the file and its folder, ``tmp_path`` and
``monkeypatch``. Tests with other fixtures are skipped, as are tests that need Triton, LLVM's tools or much time.
"""

import contextlib
import importlib
import importlib.util
import inspect
import itertools
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, given, settings, strategies

_ELSEWHERE = {"triton", "llvm", "slow", "skip", "skipif"}
_EXAMPLES = 25
_SETTINGS = "_hypothesis_internal_use_settings"
Test = Callable[..., object]


class _NoFixtureError(Exception):
    """A test requests a fixture that only pytest has."""


def warm_up() -> None:
    """Import the modules of property tests, so that forked processes have them."""
    given(strategies.integers())(lambda _: None)()


def run(file: str) -> int:
    """Run the tests of a file; return the number of calls.

    Raises:
        Exception: the error of the first failing test.
    """
    module = importlib.import_module(file.removesuffix(".py").replace("/", "."))
    count = 0
    for name, test in list(vars(module).items()):
        marks = getattr(test, "pytestmark", [])
        if not name.startswith("test_") or _ELSEWHERE & {mark.name for mark in marks}:
            continue
        _with_few_examples(test)
        for given_ in _calls(marks):
            count += _call(module, test, given_)
    return count


def _with_few_examples(test: Test) -> None:
    """Make a property test use the same few examples every time, and not search for a smaller one."""
    own = getattr(test, _SETTINGS, None)
    if own is not None:
        few = settings(
            own,
            max_examples=min(own.max_examples, _EXAMPLES),
            phases=(Phase.explicit, Phase.generate),
            derandomize=True,
            database=None,
            deadline=None,
            suppress_health_check=list(HealthCheck),
        )
        setattr(test, _SETTINGS, few)


def _calls(marks: list[Any]) -> Iterator[dict[str, Any]]:
    """Return the arguments of each call of a parametrised test."""
    axes = []
    for mark in marks:
        if mark.name == "parametrize":
            names = mark.args[0].split(",") if isinstance(mark.args[0], str) else mark.args[0]
            axes.append([_named([n.strip() for n in names], value) for value in mark.args[1]])
    for chosen in itertools.product(*axes):
        yield {name: value for one in chosen for name, value in one.items()}


def _named(names: list[str], value: Any) -> dict[str, Any]:
    values = getattr(value, "values", None) if hasattr(value, "marks") else None
    if values is None:
        values = value if len(names) > 1 else [value]
    return dict(zip(names, values, strict=True))


def _call(module: ModuleType, test: Test, given_: dict[str, Any]) -> bool:
    """Call a test; return ``False`` if it requests an unsupported fixture."""
    asked = [name for name in inspect.signature(test).parameters if name not in given_]
    unseen = [name for mark in getattr(test, "pytestmark", []) if mark.name == "usefixtures" for name in mark.args]
    with contextlib.ExitStack() as stack:
        folder = stack.enter_context(tempfile.TemporaryDirectory())
        patch = stack.enter_context(pytest.MonkeyPatch.context())
        known: dict[str, Any] = {"tmp_path": Path(folder), "monkeypatch": patch}
        places = [module, *_conftest(module)]
        for name in [n for place in places for n, made in vars(place).items() if _is_automatic(made)]:
            _fixture(places, name, known, stack)
        try:
            for name in unseen:
                _fixture(places, name, known, stack)
            fixtures = {name: _fixture(places, name, known, stack) for name in asked}
        except _NoFixtureError:
            return False
        test(**given_, **fixtures)
    return True


def _conftest(module: ModuleType) -> list[ModuleType]:
    """Return the fixtures of the file's folder."""
    name = f"{module.__name__.rpartition('.')[0]}.conftest"
    return [importlib.import_module(name)] if importlib.util.find_spec(name) is not None else []


def _is_automatic(made: object) -> bool:
    marker = getattr(made, "_fixture_function_marker", None)
    return marker is not None and marker.autouse and marker.scope == "function"


def _fixture(places: list[ModuleType], name: str, known: dict[str, Any], stack: contextlib.ExitStack) -> Any:
    """Return the value of a fixture; its teardown is added to the stack.

    Raises:
        _NoFixtureError: no supported fixture has this name.
    """
    if name in known:
        return known[name]
    made = next((vars(place)[name] for place in places if hasattr(vars(place).get(name), "__wrapped__")), None)
    if made is None:
        raise _NoFixtureError(name)
    function = made.__wrapped__
    value = function(
        **{asked: _fixture(places, asked, known, stack) for asked in inspect.signature(function).parameters}
    )
    if inspect.isgenerator(value):
        stack.callback(next, value, None)
        value = next(value)
    known[name] = value
    return value


if __name__ == "__main__":
    for each in sys.argv[1:]:
        print(each, run(each))
