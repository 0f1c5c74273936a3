"""Parts of a recording that need neither Triton nor torch."""

import json
import sys
import textwrap
import types

import pytest

from kprof.errors import KprofError
from kprof.recording import command
from kprof.recording.describe import argument, given_options, key_of
from kprof.recording.device_marks import cuda_index
from kprof.recording.settings import BOOTSTRAP, VARIABLE, Settings, environment, from_json
from kprof.recording.tuning import UnknownTimes
from kprof.simulation.after_import import AfterImport
from kprof.simulation.patches import Patches


def test_settings_survive_the_environment(tmp_path):
    """What a process is told is what was meant."""
    settings = Settings(str(tmp_path), command.gpu_of("MI355X"), jobs=3, cache="/somewhere", timeout=5.0)
    passed = environment(settings, {"PYTHONPATH": "/a:/b", "HOME": "/h"})
    assert from_json(passed[VARIABLE]) == settings
    assert passed["PYTHONPATH"] == f"{BOOTSTRAP}:/a:/b"
    assert passed["HOME"] == "/h"


@pytest.mark.parametrize(
    ("name", "capability", "full", "lanes"),
    [
        ("gfx942", (9, 4), "gfx942:sramecc+:xnack-", 64),
        ("gfx90a", (9, 0), "gfx90a:sramecc+:xnack-", 64),
        ("gfx950", (9, 5), "gfx950:sramecc+:xnack-", 64),
        ("RX7900XTX", (11, 0), "gfx1100", 32),
    ],
)
def test_devices_answer_as_rocm_does(name, capability, full, lanes):
    """Major and minor version are the digits of the architecture."""
    device = command.gpu_of(name)
    assert (device.capability, device.full_arch, device.wavefront_size) == (capability, full, lanes)
    assert device.lds_bytes >= 65536
    assert device.compute_units > 1


def test_a_directory_in_use_is_left_alone(tmp_path):
    """A capture needs --force, anything else another name."""
    options = command.RecordOptions("gfx942", tmp_path / "capture")
    command.prepare(options)
    with pytest.raises(KprofError, match="already contains a capture"):
        command.prepare(options)
    keep = tmp_path / "capture" / "notes.txt"
    keep.write_text("mine")
    command.prepare(command.RecordOptions("gfx942", tmp_path / "capture", force=True))
    assert keep.read_text() == "mine"
    with pytest.raises(KprofError, match="not empty"):
        command.prepare(command.RecordOptions("gfx942", tmp_path, force=True))


def test_a_directory_that_cannot_be_made_is_one_message(tmp_path):
    """The place is below a file."""
    (tmp_path / "file").write_text("")
    with pytest.raises(KprofError, match="cannot be written"):
        command.prepare(command.RecordOptions("gfx942", tmp_path / "file" / "capture"))


def test_a_program_that_is_not_there_is_one_message(tmp_path):
    """With a word on where the program goes."""
    settings = command.prepare(command.RecordOptions("gfx942", tmp_path / "capture"))
    with pytest.raises(KprofError, match="cannot be run"):
        command.run(settings, ["no-such-program"])


def test_patches_put_everything_back():
    """Own attributes, inherited ones, entries of dictionaries."""

    class Base:
        inherited = 1

    class Owner(Base):
        own = 2

    table = {"a": 1}
    patches = Patches()
    patches.update(Owner, {"own": 3, "inherited": 4, "new": 5})
    patches.set(Owner, "own", 6)
    patches.set_item(table, "a", 7)
    assert (Owner.own, Owner.inherited, table) == (6, 4, {"a": 7})
    patches.undo()
    assert (Owner.own, Owner.inherited, table) == (2, 1, {"a": 1})
    assert vars(Owner).keys().isdisjoint({"inherited", "new"})


def test_actions_follow_the_import_and_nothing_else(tmp_path, monkeypatch):
    """Once, after the module is complete; the module looks as without."""
    (tmp_path / "watched_one.py").write_text("value = 1\n")
    monkeypatch.syspath_prepend(tmp_path)
    seen = []
    watcher = AfterImport({"watched_one": lambda: seen.append(sys.modules["watched_one"].value), "json": seen.clear})
    watcher.install()
    try:
        import watched_one

        assert seen == [1]
        assert type(watched_one.__spec__.loader).__name__ == "SourceFileLoader"
        assert "json" not in watcher.actions
    finally:
        watcher.remove()
        sys.modules.pop("watched_one", None)
    assert watcher not in sys.meta_path


def test_arguments_become_json():
    """Numbers as they are, tensors as their form, the rest in words."""
    tensor = types.SimpleNamespace(dtype="torch.float16", shape=(2, 3), stride=lambda: (3, 1), data_ptr=lambda: 0)
    assert argument(tensor) == {"dtype": "float16", "shape": [2, 3], "strides": [3, 1]}
    assert argument((1, None, tensor))[:2] == [1, None]
    assert argument(float("inf")) == "inf"
    assert json.loads(json.dumps(argument(float("nan")))) == "nan"
    assert key_of(1) != key_of(True)
    assert key_of(argument(tensor)) == key_of(argument(tensor))


def test_given_options_are_those_that_differ():
    """Warps and stages always; derived ones and tuples never."""
    defaults = types.SimpleNamespace(num_warps=4, num_stages=2, kpack=1, libs=("a",), arch="gfx942")
    options = types.SimpleNamespace(num_warps=4, num_stages=2, kpack=2, libs=("b",), arch="gfx942")
    assert given_options(options, defaults) == {"num_warps": 4, "num_stages": 2, "kpack": 2}


@pytest.mark.parametrize(
    ("device", "index"),
    [("cuda", 5), ("cuda:1", 1), (2, 2), ("cpu", None), (None, None), (True, None), ("meta", None)],
)
def test_devices_by_their_names(device, index):
    """What a program may write for a device."""
    assert cuda_index(device, 5) == index


def test_the_first_usable_configuration_is_the_fastest():
    """``min`` over times that are not known; those after the first usable one are not waited for."""
    asked = []

    def timing(name, usable):
        return UnknownTimes(lambda: asked.append(name) or usable)

    times = {"too large": timing("too large", False), "first": timing("first", True), "other": timing("other", True)}
    assert min(times, key=times.get) == "first"
    assert "other" not in asked


@pytest.mark.triton
def test_written_arguments_follow_pointers():
    """Through assignments, not through loads; what a helper is given counts."""
    from kprof.recording.written_arguments import written_arguments

    class Jit:
        def __init__(self, source, names):
            self.source = textwrap.dedent(source)
            self.params = [types.SimpleNamespace(name=name) for name in names]

        def parse(self):
            import ast

            return ast.parse(self.source)

    source = """
    def kernel(x, out, sums, index, handed, n):
        at = out + tl.load(index)
        moved = at + n
        value = tl.load(x + n)
        tl.store(moved, value)
        tl.atomic_add(sums, 1)
        helper(handed)
    """
    names = ["x", "out", "sums", "index", "handed", "n"]
    assert written_arguments(Jit(source, names)) == {"out", "sums", "handed", "n"}

    inner = Jit(
        "def inner(source, target, by):\n    tl.store(target, tl.math.exp2(tl.load(source)))\n",
        ["source", "target", "by"],
    )
    again = Jit("def again(x, y):\n    again(y, x)\n", ["x", "y"])
    again.fn = types.SimpleNamespace(__globals__={"again": again})
    outer = """
    def outer(lengths, x, out, most, other):
        inner(lengths, out, by=most)
        again(other, x)
        inner(*other)
    """
    kernel = Jit(outer, ["lengths", "x", "out", "most", "other"])
    kernel.fn = types.SimpleNamespace(__globals__={"inner": inner, "again": again})
    # The called function only reads lengths; a recursive function counts as writing all that it is given.
    assert written_arguments(kernel) == {"out", "x", "other"}

    # A place that a function looks up derives from what it returns, and not from what it only loads from.
    found = Jit(
        "def found(starts, n, base):\n    at = tl.load(starts + n)\n    return base + at\n", ["starts", "n", "base"]
    )
    found.fn = types.SimpleNamespace(__globals__={})
    searching = Jit(
        "def searching(starts, n, out):\n    place = found(starts, n, out)\n    tl.store(place, 1)\n",
        ["starts", "n", "out"],
    )
    searching.fn = types.SimpleNamespace(__globals__={"found": found})
    assert written_arguments(searching) == {"out"}


def test_an_interpreter_of_the_work_tree_is_no_source(tmp_path):
    """A capture would be stale with every new Python."""
    from kprof.recording.program_sources import of_command

    python = tmp_path / ".venv" / "bin" / "python"
    python.parent.mkdir(parents=True)
    python.symlink_to(sys.executable)
    (tmp_path / ".venv" / "pyvenv.cfg").write_text("")
    (tmp_path / "step.py").write_text("")
    assert list(of_command(tmp_path, tmp_path, [str(python), "step.py"])) == ["step.py"]
