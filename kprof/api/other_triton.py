"""Calls of the API with ``triton=``: each is made in a process of its own that imports that Triton.

What a process has imported stays imported. So the call and its answer go through files, and the other process compiles,
records and judges with the Triton that was named, as if it were the installed one.
"""

import functools
import inspect
import os
import pickle
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from kprof import children
from kprof.errors import KprofError, TargetError
from kprof.options.groups import TritonOptions
from kprof.output.writing import log
from kprof.targets.target import TargetKind, resolve

if TYPE_CHECKING:
    from kprof.compiler.locations import TritonLocation

Function = TypeVar("Function", bound=Callable[..., Any])

_MODULE = "kprof.api.other_triton"
_SOURCES = frozenset({TargetKind.SOURCE, TargetKind.KERNEL, TargetKind.FUNCTION})
_HERE = frozenset({"progress", "tell", "waiting"})
"""Callbacks belong to this process: the other one reports to standard error."""


def takes_triton(function: Function) -> Function:
    """Make each call of a function of the API whose options name a Triton in a process that imports it.

    The decorated function raises KprofError where the Triton cannot be had, or does not go together with the target.
    """

    @functools.wraps(function)
    def called(*args: Any, options: TritonOptions, **given: Any) -> Any:
        name = options.one_triton(f"kprof.{function.__name__}")
        if not name:
            return function(*args, options=options, **given)
        return _elsewhere(name, function, list(args), options, {n: v for n, v in given.items() if n not in _HERE})

    return called  # type: ignore[return-value]  # as the function, whose signature it has


def _elsewhere(
    name: str, function: Callable[..., Any], args: list[Any], options: TritonOptions, given: dict[str, Any]
) -> Any:
    from kprof.compiler.locations import locate

    recompiles = function.__name__ == "advise"
    command = _command_of(args, given)
    for target in args:
        if target is not None and target is not command:
            _check(target, recompiled=recompiles)
    with tempfile.TemporaryDirectory(prefix="kprof-triton-") as folder:
        place = locate(name, Path(folder) / "triton", log)
        if place.environment is None:
            raise TargetError(
                f"its Triton is for another version of Python than {sys.version.split()[0]}",
                path=name,
                hint="Run kprof with that interpreter, or name the release.",
            )
        if command is not None:
            command[:] = place.command(command)
        return _answer(Path(folder), place, function, args, options, given)


def _command_of(args: list[Any], given: dict[str, Any]) -> list[str] | None:
    """The command line among the arguments of a call, as a list that can be changed in place."""
    if args and isinstance(args[0], list | tuple):
        args[0] = [str(part) for part in args[0]]
        return args[0]  # type: ignore[no-any-return]  # made just now
    if given.get("program") and not any(target is not None for target in args):
        given["program"] = list(given["program"])
        return given["program"]  # type: ignore[no-any-return]  # made just now
    return None


def _check(target: Any, *, recompiled: bool) -> None:
    """See that another Triton can compile a target.

    Raises:
        TargetError: it is an object of this process, or compiled already.
    """
    if not isinstance(target, str | os.PathLike):
        raise TargetError(
            "--triton compiles in another process, and this is an object of this one",
            hint="Name it as FILE.py::FUNCTION.",
        )
    found = resolve(target)
    if found.kind in _SOURCES or (recompiled and found.kind is TargetKind.CAPTURE):
        return
    again = "Record the program with it: kprof capture --triton VERSION -- PROGRAM."
    source = "Name the kernel's source: a bundled kernel or FILE.py::FUNCTION."
    raise TargetError(
        f"this is {found.kind.value}, compiled already: another Triton does not compile it",
        path=found.text,
        hint=again if found.kind is TargetKind.CAPTURE else source,
    )


def _answer(
    folder: Path,
    place: "TritonLocation",
    function: Callable[..., Any],
    args: Sequence[Any],
    options: TritonOptions,
    given: Mapping[str, Any],
) -> Any:
    question, answer = folder / "question", folder / "answer"
    python = str(place.interpreter or sys.executable)
    question.write_bytes(pickle.dumps((function.__module__, function.__name__, python, args, options, given)))
    assert place.environment is not None
    imports = children.encoded_path(place.environment.module_path)
    command = [sys.executable, "-c", children.START, _MODULE, str(question), str(answer), imports]
    process = children.popen(command, env=place.variables)
    try:
        status = process.wait()
    except KeyboardInterrupt:
        # The terminal has sent it to the other process too.
        process.wait()
        raise
    if not answer.is_file():
        raise KprofError(f"the process with {place.label} ended with exit status {status}")
    kind, found = pickle.loads(answer.read_bytes())  # noqa: S301  # kprof's own process wrote it into a private folder
    if kind == "exit":
        raise SystemExit(found)
    if kind == "error":
        raise found
    return found


def main() -> None:
    """Make the call that a file describes, and write its answer to another one."""
    from kprof.api.programs import PYTHON

    children.end_with_parent()
    question, answer = map(Path, sys.argv[1:])
    # Written by the process that started this one, into a folder that only its user can open.
    module, name, python, args, options, given = pickle.loads(question.read_bytes())  # noqa: S301
    PYTHON.set(python)
    function = inspect.unwrap(getattr(import_module(module), name))
    found: tuple[str, Any]
    try:
        found = "result", function(*args, options=options, **given)
    except KprofError as error:
        found = "error", error
    except SystemExit as stop:
        found = "exit", stop.code
    except KeyboardInterrupt:
        raise SystemExit(130) from None
    partial = answer.with_suffix(".part")
    partial.write_bytes(pickle.dumps(found))
    partial.replace(answer)
