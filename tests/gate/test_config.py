"""Reading ``[tool.kprof]``: types, unknown keys with line and near matches, the nearest file."""

import datetime as dt
import re
import sys
from unittest.mock import ANY

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kprof.errors import KprofError
from kprof.gate.config import Allowance, Budget, Config, GateProgram, KernelEntry, find, load
from kprof.gate.toml_place import line_of

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

GOOD = """\
arch = ["gfx942"]
watch = ["vgpr_spills"]

[budget]
max_vgpr_spills = 4

[arch_budget.gfx942]
max_vgpr_spills = 2
max_lds_bytes = 65536

[[kernel]]
target = "a.py::a"

[[kernel]]
target = "b.py::b"
budget = {max_vgpr_spills = 1}
arch_budget.gfx950 = {min_waves_per_simd = 2}

[[allow]]
what = "KP301"
reason = "known"
until = 2030-01-31
"""


@pytest.fixture
def write(tmp_path):
    """Write ``kprof.toml``."""

    def written(text, name="kprof.toml"):
        path = tmp_path / name
        path.write_text(text)
        return path

    return written


def test_everything_is_read(write):
    """Values have their types, and dates are dates."""
    config = load(write(GOOD))
    assert [entry.target for entry in config.kernel] == ["a.py::a", "b.py::b"]
    assert config.allow[0].until == dt.date(2030, 1, 31)
    assert config.watch == ["vgpr_spills"]
    assert config.fail_on == "warning"


def test_most_particular_budget_wins(write):
    """Kernel and architecture, kernel, architecture, all."""
    config = load(write(GOOD))
    a, b = config.kernel
    assert config.budget_for(a, "gfx942").max_vgpr_spills == 2
    assert config.budget_for(a, "gfx950").max_vgpr_spills == 4
    assert config.budget_for(b, "gfx942").max_vgpr_spills == 1
    assert config.budget_for(b, "gfx942").max_lds_bytes == 65536
    assert config.budget_for(b, "gfx950").min_waves_per_simd == 2
    assert config.budget_for(b, "gfx950").max_lds_bytes is None


def test_zero_is_a_limit():
    """Zero spills is a budget and not the absence of one."""
    config = Config(budget=Budget(max_vgpr_spills=7))
    assert config.budget_for(KernelEntry(target="x", budget=Budget(max_vgpr_spills=0)), "gfx942").max_vgpr_spills == 0


@pytest.mark.parametrize(
    ("old", "new", "line", "message"),
    [
        ("max_lds_bytes", "max_lds_byte", 9, "has no key 'max_lds_byte'; did you mean 'max_lds_bytes'"),
        ('target = "b.py::b"', 'targets = "b.py::b"', 15, "kernel.1 has no key 'targets'; did you mean 'target'"),
        ("budget = {max_vgpr_spills = 1}", "budget = {max_spills = 1}", 16, "has no key 'max_spills'"),
        ('arch = ["gfx942"]', 'archs = ["gfx942"]', 1, "has no key 'archs'; did you mean 'arch'"),
        ("max_vgpr_spills = 4", 'max_vgpr_spills = "4"', 5, "budget.max_vgpr_spills: expected `int | null`, got `str`"),
        ('["vgpr_spills"]', '["spills"]', 2, "invalid enum value 'spills'"),
        ("until = 2030-01-31", 'until = "soon"', 22, "allow.0.until"),
        ('reason = "known"', 'reason = " "', 21, "an allowance needs a reason"),
        ('what = "KP301"', "", 19, "missing required field `what`"),
    ],
)
def test_mistakes_are_named_with_their_line(write, old, new, line, message):
    """File, line, what is wrong, and what was perhaps meant."""
    path = write(GOOD.replace(old, new))
    with pytest.raises(KprofError) as caught:
        load(path)
    assert message in caught.value.message
    assert caught.value.place == f"line {line}"
    assert caught.value.path == str(path)


@pytest.mark.parametrize("text", ["arch = [", "arch = 'x'\narch = 'y'", "\ufeff[", "", "[[kernel]]\ntarget = 3\n"])
def test_bad_files_are_errors(write, text):
    """Broken TOML, an empty file and wrong types end in one message."""
    with pytest.raises(KprofError):
        load(write(text))


def test_each_file_is_told_how_its_tables_are_called(write):
    """``tool.kprof`` belongs into pyproject.toml alone."""
    with pytest.raises(KprofError) as caught:
        load(write('[tool.kprof]\narch = ["gfx942"]\n'))
    assert "have no tool.kprof prefix" in caught.value.hint
    for name, table, kernel in (("kprof.toml", "", "[[kernel]]"), ("pyproject.toml", "[tool.kprof]\n", "[[tool.kprof")):
        with pytest.raises(KprofError, match="no kernel is configured") as caught:
            load(write(f'{table}arch = ["gfx942"]\n', name))
        assert f"Add {kernel}" in caught.value.hint


def test_bytes_that_are_no_text_are_an_error(tmp_path):
    """A file in another encoding is told apart from a missing one."""
    path = tmp_path / "kprof.toml"
    path.write_bytes(b"arch = ['\xff\xfe']")
    with pytest.raises(KprofError, match="UTF-8"):
        load(path)


def test_nearest_file_is_found(write, tmp_path):
    """A ``pyproject.toml`` without the table is passed over."""
    outer = write('[tool.kprof]\narch = ["gfx942"]\n', "pyproject.toml")
    inner = tmp_path / "sub" / "deeper"
    inner.mkdir(parents=True)
    (inner / "pyproject.toml").write_text("[tool.other]\n")
    assert find(inner) == outer
    with pytest.raises(KprofError, match=r"no kprof\.toml"):
        find(tmp_path.parent)


NAMES = st.sampled_from(["alpha", "beta", "gamma-1", "delta_2"])
VALUES = st.sampled_from(
    [
        "[{}]",
        "[{},\n [7, 8]\n]",
        '[{}, """\n[alpha]\nbeta = \\"""7\n"""]',
        "[{}, '''\n[[gamma-1]]\ndelta_2 = 7'''] # \"",
        '[{}, "[[", # ]]\n {{beta = 7}},\n]',
    ]
)


@given(
    st.lists(
        st.tuples(st.sampled_from(["table", "array"]), NAMES, st.dictionaries(NAMES, VALUES, min_size=1)), max_size=8
    )
)
def test_lines_are_where_the_reader_finds_the_values(sections):
    """For any text that Python's reader takes, the line of each key holds that key's own value."""
    lines, number = [], 0
    for kind, name, keys in sections:
        lines.append(f"[[{name}]]" if kind == "array" else f"[{name}]")
        for key, value in keys.items():
            number += 1
            lines += f"{key} = {value.format(number)}".split("\n")
    text = "\n".join(lines)
    try:
        data = tomllib.loads(text)
    except tomllib.TOMLDecodeError:
        return  # the same table twice
    for name, value in data.items():
        for at, table in (
            [((name, i), t) for i, t in enumerate(value)] if isinstance(value, list) else [((name,), value)]
        ):
            for key, found in table.items():
                line = lines[line_of(text, (*at, key)) - 1]
                assert re.match(rf"{key} = \[{found[0]}\b", line), line


def refused(path, read=load):
    """What is said of a configuration that is refused."""
    with pytest.raises(KprofError) as caught:
        read(path)
    return caught.value


def test_what_is_watched_and_where_an_allowance_holds_unless_something_is_said(write):
    """The metrics that cost most; every kernel and architecture."""
    config = load(write('[[kernel]]\ntarget = "a"\n[[allow]]\nwhat = "KP301"\nreason = "r"\nuntil = 2030-01-31\n'))
    assert config.watch == ["vgpr_spills", "sgpr_spills", "scratch_bytes", "waves_per_simd", "time_us"]
    (allowance,) = config.allow
    assert (allowance.kernel, allowance.arch, allowance.limit) == ("*", "*", None)
    (kernel,) = config.kernel
    assert (kernel.all_configs, kernel.case, kernel.config, kernel.signature) == (False, [], {}, None)
    assert (config.arch, config.baseline, config.program) == ([], None, [])


_K = '[[kernel]]\ntarget = "a"\n'
_ALLOW = '[[allow]]\nwhat = "KP1"\nreason = "r"\nuntil = 2030-01-31\n'


@pytest.mark.parametrize(
    ("text", "message", "line", "hint"),
    [
        ('arch = ["gfx942"]\n', "no kernel is configured", None, "Add [[kernel]] with a target."),
        ("[[program]]\ncommand = []\n", "a program needs a command", 2, None),
        (
            '[[kernel]]\ntarget = "a"\n[[allow]]\nwhat = "KP1"\nreason = ""\nuntil = 2030-01-31\n',
            "an allowance needs a reason",
            5,
            None,
        ),
        (
            "[tool]\n",
            "the configuration has no key 'tool'",
            1,
            "In kprof.toml, tables have no tool.kprof prefix: [budget], [[kernel]].",
        ),
        ('[[kernel]]\ntarget = "a"\n[kernel.tool]\n', "kernel.0 has no key 'tool'", 3, None),
        (
            f"{_K}[budget]\nmax_vgpr_spills = {10**400}\n",
            "max_vgpr_spills: a number of 1329 bits is not a valid limit",
            4,
            None,
        ),
        (f"{_K}budget.max_sgpr = -{2**53}\n", "max_sgpr: a number of 54 bits is not a valid limit", 3, None),
        (f"{_K}[budget]\nmin_waves_per_simd = nan\n", "min_waves_per_simd: nan is not a valid limit", 4, None),
        (
            f"{_K}[arch_budget.gfx942]\nmin_waves_per_simd = nan\n",
            "min_waves_per_simd: nan is not a valid limit",
            4,
            None,
        ),
        (f"{_K}{_ALLOW}limit = nan\n", "nan is not a valid limit", 7, None),
        (f'{_K}[[kernel]]\ntarget = " "\n', "target is empty", 4, None),
        (f'baseline = ""\n{_K}', "baseline is empty", 1, None),
        (
            f'arch = ["gfx942", "gfx9420"]\n{_K}',
            "no architecture or product 'gfx9420'; did you mean 'gfx942' or 'gfx950' or 'gfx90a'?",
            1,
            ANY,
        ),
        (
            f"{_K}arch_budget.gfx9420 = {{}}\n",
            "no architecture or product 'gfx9420'; did you mean 'gfx942' or 'gfx950' or 'gfx90a'?",
            3,
            ANY,
        ),
        (
            '[[program]]\ncommand = ["x"]\narch = ["gfx9420"]\n',
            "no architecture or product 'gfx9420'; did you mean 'gfx942' or 'gfx950' or 'gfx90a'?",
            3,
            ANY,
        ),
        (
            f"{_K}[arch_budget]\ngfx942 = {{}}\nMI300X = {{}}\n",
            "arch_budget.gfx942 and arch_budget.MI300X are both for gfx942",
            5,
            None,
        ),
        ("budgt = 1\n", "the configuration has no key 'budgt'; did you mean 'budget' or 'arch_budget'?", 1, None),
        ('fail_on = "sometimes"\n', "fail_on: invalid enum value 'sometimes'", 1, None),
    ],
)
def test_words_of_what_is_refused(write, text, message, line, hint):
    """The whole sentence, its line, and what to do."""
    path = write(text)
    error = refused(path)
    assert (error.message, error.path, error.hint) == (message, str(path), hint)
    assert error.place == (None if line is None else f"line {line}")


def test_words_in_pyproject(write, tmp_path):
    """Where tables have other names; an empty one is one."""
    path = write("[tool.other]\n", "pyproject.toml")
    assert refused(path).message == "there is no [tool.kprof]"
    assert refused(write("tool = 3\n", "pyproject.toml")).message == "there is no [tool.kprof]"
    empty = write("[tool.kprof]\n", "pyproject.toml")
    assert find(tmp_path) == empty
    assert refused(empty).hint == "Add [[tool.kprof.kernel]] with a target."
    bad = write("[tool.kprof]\nbudgt = 1\n", "pyproject.toml")
    assert (refused(bad).place, refused(bad).hint) == ("line 2", None)


def test_no_configuration_at_all(tmp_path):
    """The least that is needed; kprof.toml comes first where both are."""
    (tmp_path / "a").mkdir()
    error = refused(tmp_path / "a", find)
    assert error.message == "no kprof.toml and no [tool.kprof] in a pyproject.toml, here or above"
    assert error.path == str(tmp_path / "a")
    assert error.hint == (
        'Minimal pyproject.toml: [tool.kprof] with arch = ["gfx942"] and one '
        "[[tool.kprof.kernel]] with target; in kprof.toml the same without tool.kprof."
    )
    (tmp_path / "pyproject.toml").write_text("[tool.kprof]\n")
    assert find(tmp_path / "a") == tmp_path / "pyproject.toml"
    (tmp_path / "pyproject.toml").unlink()
    (tmp_path / "kprof.toml").write_text("")
    assert find(tmp_path / "a") == tmp_path / "kprof.toml"
    (tmp_path / "a" / "kprof.toml").mkdir()
    assert find(tmp_path / "a") == tmp_path / "kprof.toml"


def test_two_configurations_in_one_folder(write, tmp_path):
    """The other tool's file is read only where kprof stands in it."""
    both = [write("", "kprof.toml"), write("[tool.kprof]\n", "pyproject.toml")]
    error = refused(tmp_path, find)
    assert error.message == "kprof.toml and [tool.kprof] of pyproject.toml both configure this folder"
    assert (error.path, error.hint) == (str(both[0]), "Keep one of them, or select one with --config-file.")
    for other in ("[tool.other]\n# kprof\n", "no TOML ["):
        write(other, "pyproject.toml")
        assert find(tmp_path) == both[0]
    write("kprof is no TOML [", "pyproject.toml")
    assert "TOML" in refused(tmp_path, find).message


def test_a_product_and_its_architecture_in_arch_are_no_two_budgets(write):
    """Only budgets of one architecture would hide one another."""
    assert load(write(f'arch = ["gfx942", "MI300X"]\narch_budget.MI300X = {{}}\n{_K}')).arch == ["gfx942", "MI300X"]


@pytest.mark.parametrize("kind", [Budget, Config, KernelEntry, GateProgram, Allowance])
def test_what_was_read_is_never_changed_and_knows_no_other_keys(kind):
    """One configuration is used for every kernel; an unknown key is refused by the reader, too."""
    config = kind.__struct_config__
    assert config.frozen
    assert config.forbid_unknown_fields
    assert config.omit_defaults


def test_a_program_s_entry():
    """Its name, or its command as a shell would take it; and its own limits."""
    budget = Budget(max_sgpr=1)
    program = GateProgram(["python", "my train.py"], ["gfx942"], budget=budget, forbid=["KP1"], require=["KP2"])
    entry = program.entry()
    assert (entry.target, entry.arch, entry.budget) == ("python 'my train.py'", ["gfx942"], budget)
    assert (entry.forbid, entry.require) == (["KP1"], ["KP2"])
    assert GateProgram(["x"], name="train").entry().target == "train"
