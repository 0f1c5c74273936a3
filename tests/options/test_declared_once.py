"""An option is written once: the command line, the functions, the tools of agents, the page and the gate agree."""

import inspect
import re
from collections import defaultdict
from collections.abc import Iterator

import msgspec
import pytest
from typer.main import get_command

import kprof
from kprof.api.live.view.asked import OccupancyQuery, ViewQuery
from kprof.cli.app import app
from kprof.gate.config import KernelEntry
from kprof.options import groups, kernels, measurements, programs, searches, tools
from kprof.options.option import Declared, Options, declared
from kprof.reporters.registry import formats
from kprof_servers import options as servers

OF_THE_PAGE = {"target", "kernel", "stage", "triton", "rule", "file", "line", "loop", "cause"}


def every_group() -> list[type[Options]]:
    assert all(vars(module) for module in (kernels, measurements, programs, searches, servers, tools))
    found = [Options]
    for group in found:
        found += [one for one in group.__subclasses__() if one not in found]
    return [one for one in found if one.__module__.startswith(("kprof.options", "kprof_servers"))]


def every_option() -> dict[str, list[Declared]]:
    by_name = defaultdict(list)
    for group in every_group():
        for each in declared(group):
            by_name[each.name].append(each)
    return by_name


def commands() -> Iterator[tuple[str, object]]:
    """Every command with its path."""
    import click

    waiting = [("", get_command(app))]
    for path, command in waiting:
        context = click.Context(command)
        if not hasattr(command, "list_commands"):
            yield path, command
            continue
        waiting += [
            (f"{path} {name}".strip(), command.get_command(context, name)) for name in command.list_commands(context)
        ]


def test_an_option_has_one_declaration() -> None:
    """Of one name there is one option, with one default and one type, whatever inherits it."""
    for name, found in every_option().items():
        first = found[0]
        assert all(each.option is first.option for each in found), name
        assert all(each.default == first.default and each.type == first.type for each in found), name


def test_the_command_line_has_one_of_each() -> None:
    """No option with two metavars, two defaults, two grammars or two help texts, or without help."""
    seen: dict[str, dict[tuple[object, ...], list[str]]] = defaultdict(lambda: defaultdict(list))
    count = 0
    for path, command in commands():
        count += 1
        for each in command.params:
            if each.param_type_name != "option" or each.name == "help":
                continue
            flag = max(each.opts, key=len)
            kind = each.type if hasattr(each, "type") else each.type_descriptor.annotation
            facts = (each.metavar, str(each.default), each.help, str(kind), each.multiple, *sorted(each.opts))
            seen[flag][facts].append(path)
            assert each.help, (path, flag)
    assert count > 45
    assert {flag: dict(found) for flag, found in seen.items() if len(found) > 1} == {}


def test_every_command_has_the_options_of_the_display() -> None:
    """``--quiet``, ``--verbose`` and ``--no-color``; and where a document is made, ``--json`` and ``--format``."""
    for path, command in commands():
        flags = {flag for each in command.params for flag in each.opts}
        assert {"--quiet", "-q", "--verbose", "-v", "--no-color"} <= flags, path
        assert ("--json" in flags) == ("--format" in flags), path


def test_flags_are_the_names_of_fields() -> None:
    """What a group does not declare is a format's, or an argument of one command."""
    known = {each.flag for found in every_option().values() for each in found}
    of_formats = {f"--{one.name}" for one in formats()}
    of_formats |= {f"--{one.name}-{flag}" for one in formats() for flag in one.flags}
    for path, command in commands():
        for each in command.params:
            if each.param_type_name == "option" and each.name != "help":
                flag = max(each.opts, key=len)
                assert flag in known | of_formats | {"--format", "--config-file", "--list-tests"}, (path, flag)


def test_functions_take_what_is_declared() -> None:
    """By the same names, with the defaults of the command line; the documentation has each option's sentence."""
    known = every_option()
    functions = [getattr(kprof, name) for name in kprof.__all__]
    wrapped = [one for one in functions if inspect.isfunction(one) and "options" in inspect.unwrap(one).__annotations__]
    assert len(wrapped) >= 28
    for function in wrapped:
        own = inspect.signature(inspect.unwrap(function)).parameters
        for name, parameter in inspect.signature(function).parameters.items():
            if name in own:
                assert name not in known or name in {"program", "kernel", "target", "reference"}, (
                    function.__name__,
                    name,
                )
                continue
            assert parameter.default == known[name][0].default
            text = re.sub(r"\s+", " ", function.__doc__)
            assert f"{name}: {known[name][0].option.text}" in text, (function.__name__, name)


def test_tools_of_agents_have_the_same_names_and_sentences() -> None:
    """What a tool has besides is a target, a program, a rule or a side."""
    mcp = pytest.importorskip("kprof.api.live.mcp_server")
    known = every_option()
    own = {"self", "target", "program", "output", "rule", "old", "new"}
    shared = set()
    for name in mcp.NAMES:
        for field, parameter in inspect.signature(getattr(mcp.Tools, name)).parameters.items():
            if field not in own:
                described = parameter.annotation.__metadata__[0].description
                assert described == known[field][0].option.text, (name, field)
                shared.add(field)
    assert {"arch", "config", "shape", "case", "signature", "constexpr", "grid", "budget", "short_list"} <= shared


def test_the_page_and_the_gate_use_the_same_names() -> None:
    """A question of the page, and an entry of ``kprof.toml``."""
    known = set(every_option())
    for kind in (ViewQuery, OccupancyQuery):
        assert set(kind.__struct_fields__) - OF_THE_PAGE <= known
    compiling = {each.name for each in declared(groups.CompileOptions)}
    gate = {"target", "budget", "arch_budget", "forbid", "require"}
    assert {field.name for field in msgspec.structs.fields(KernelEntry)} - gate <= compiling


def test_a_page_of_a_step_is_the_page_of_every_command() -> None:
    """``kprof profile --html`` is no format, since pages of kernels are written beside it."""
    (html,) = (one for one in formats() if one.name == "html")
    assert every_option()["html"][0].option.text == f"{html.help} - is standard output."


def test_what_compiles_sources_takes_another_triton() -> None:
    """A command that says how a kernel is launched says with which Triton it is compiled, too: ``--good`` does."""
    flags = {path: {flag for each in command.params for flag in each.opts} for path, command in commands()}
    assert {path for path, own in flags.items() if "--grid" in own and not {"--triton", "--good"} & own} == set()
    assert {"capture", "check", "oracle", "profile", "select", "tune"} <= {
        p for p, own in flags.items() if "--triton" in own
    }
