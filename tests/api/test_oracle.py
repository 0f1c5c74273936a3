"""``kprof.oracle``: candidates are judged rightly, and hostile ones reach nothing."""

import json
import socket
import subprocess
import sys
from pathlib import Path

import pytest

import kprof
from kprof.api.live.answers import OracleAnswer
from tests.api.cheats import CHEATS

pytestmark = [pytest.mark.triton, pytest.mark.skipif(sys.platform != "linux", reason="Linux contains candidates")]

SCALE = """
import triton
import triton.language as tl


@triton.jit
def scale(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out_ptr + at, tl.load(x_ptr + at, mask=at < n) * 2, mask=at < n)
"""
CASE = f"""{SCALE}

from kprof.kernel_spec import Check, Kernel, Launch, Tensor, execute


def launch(shape, config):
    tensors = {{name: Tensor("fp32", (shape["N"],)) for name in ("x_ptr", "out_ptr")}}
    return Launch({{**tensors, "n": shape["N"], "BLOCK": config["BLOCK"]}}, (triton.cdiv(shape["N"], config["BLOCK"]),))


def inputs(shape, device, seed):
    import torch

    return {{"x": torch.randn(shape["N"], generator=torch.Generator(device).manual_seed(seed))}}


def run(inputs, shape, config):
    import torch

    out = torch.empty_like(inputs["x"])
    execute(scale, launch(shape, config), {{"x_ptr": inputs["x"], "out_ptr": out}}, config)
    return {{"out": out}}


KERNEL = Kernel(
    name="scale", entry=scale, summary="", launch=launch, run=run, inputs=inputs,
    shapes={{"large": {{"N": 1 << 24}}, "small": {{"N": 1 << 16}}}}, config={{"BLOCK": 1024, "num_warps": 4}},
    reference=lambda inputs, shape: {{"out": inputs["x"].double() * 2}}, tolerance=lambda shape: (0.0, 0.0),
    checks={{"odd": Check({{"N": 1000}})}},
)
"""


@pytest.fixture(scope="module")
def case(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A case that doubles numbers, exactly; two variants of it have no reference, or launch something else."""
    pytest.importorskip("torch")
    folder = tmp_path_factory.mktemp("case")
    (folder / "scale.py").write_text(CASE)
    (folder / "no_reference.py").write_text(CASE.replace("    reference=", "    bytes="))
    return str(folder / "scale.py")


HONEST = {
    "right": SCALE,
    "wrong": SCALE.replace("* 2", "* 2.0001"),
    "other knobs": SCALE + '\nCONFIG = {"BLOCK": 512, "num_warps": 2}\n',
    "another order": SCALE.replace("tl.program_id(0)", "(tl.num_programs(0) - 1 - tl.program_id(0))"),
    "no such knob": SCALE + '\nCONFIG = {"BLOK": 512}\n',
    "no compile": SCALE.replace("mask=at < n)", "mask=at < m)"),
    "no function": SCALE.replace("def scale", "def double"),
    "no Python": "def scale(",
    "too large": SCALE.replace("BLOCK)\n", "BLOCK)\n    at += tl.sum(tl.arange(0, 1 << 40), 0)\n"),
    "python": "import os\n" + SCALE,
    "os by Triton": SCALE.replace("    at =", "    triton.runtime.driver.os.system('true')\n    at ="),
}


@pytest.fixture(scope="module")
def honest(case: str) -> dict[str, OracleAnswer]:
    """The answers for candidates of Triton functions, all at once."""
    return dict(zip(HONEST, kprof.oracle(list(HONEST.values()), case, arch="MI300X"), strict=True))


def test_a_right_candidate_has_figures_and_a_time(honest, case):
    """They are those of ``kprof.analyze``, which compiles the case's own function: the same code."""
    answer = honest["right"]
    assert (answer.status, answer.compiled, answer.correct, answer.reasons) == ("ok", True, True, [])
    (own,) = kprof.analyze(case, arch="MI300X").kernels
    assert answer.kernel.vgprs == own.resources.vgpr
    assert answer.kernel.time.us == round(own.model.time_us, 3)
    assert answer.kernel.time.low_us <= answer.kernel.time.us <= answer.kernel.time.high_us
    names = ["odd", "odd, other values", "odd, as compiled", "as timed"]
    assert [(check.name, check.correct) for check in answer.checks] == [(name, True) for name in names]


def test_other_candidates_are_told_apart(honest):
    """Each by its status, with a reason that names the place; answers are in the order of the questions."""
    expected = {
        "right": ("ok", True, True, ""),
        "wrong": ("wrong", True, False, "1,000 of 1,000 elements are wrong"),
        "other knobs": ("ok", True, True, ""),
        "another order": ("ok", True, True, ""),
        "no such knob": ("failed", False, None, "no knob 'BLOK'; did you mean 'BLOCK'"),
        "no compile": ("failed", False, None, "m is not defined"),
        "no function": ("failed", False, None, "no Triton function scale, which the case launches"),
        "no Python": ("failed", False, None, "line 1: is not valid Python"),
        "too large": ("failed", False, None, ""),
        "python": ("refused", False, None, "line 1: contains import os"),
        "os by Triton": ("refused", False, None, "line 8: contains triton.runtime"),
    }
    for name, (status, compiled, correct, reason) in expected.items():
        answer = honest[name]
        assert (answer.status, answer.compiled, answer.correct) == (status, compiled, correct), (name, answer.reasons)
        assert reason in "; ".join(answer.reasons), (name, answer.reasons)
    assert honest["other knobs"].kernel.vgprs != 0
    assert honest["other knobs"].kernel.grid == [2 << 14]


def test_equal_questions_have_equal_answers(case, honest):
    """Also alone, and in another process."""
    assert kprof.oracle(SCALE, case, arch="MI300X") == honest["right"]


def test_without_a_reference_nothing_is_said_of_the_result(case):
    path = Path(case).with_name("no_reference.py")
    answer = kprof.oracle(SCALE, f"{path}@small", arch="MI300X")
    assert (answer.status, answer.correct) == ("ok", None)
    assert answer.reasons == ["not checked: scale has no reference"]
    assert answer.kernel.grid == [64]


HOSTILE = {
    "memory": ("x = []\nwhile True: x.append(bytearray(1 << 26))", "limit", "memory limit"),
    "exit": ("import os\nos._exit(0)", "failed", "exited with status 0"),
    "write": ("open(r'{outside}', 'w')", "failed", "outside'"),
    "read": ("open(r'{secret}').read()", "failed", "PermissionError"),
    "fork": ("import os\nwhile True: os.fork()", "failed", "PermissionError"),
    "program": ("import subprocess\nsubprocess.run(['true'])", "failed", "PermissionError"),
    "kill": ("import os\nos.kill(os.getppid(), 9)", "failed", "PermissionError"),
    "parent's memory": ("import os\nopen(f'/proc/{{os.getppid()}}/mem')", "failed", "/mem'"),
    "network": ("import socket\nsocket.create_connection(('127.0.0.1', {port}))", "failed", "Operation not permitted"),
    "environment": ("import os\nassert 'KPROF_TEST_SECRET' in os.environ", "failed", "AssertionError"),
    "channel": (
        (
            "import os\nprint('{{}}' * 99)\n"
            "for d in range(3, 64):\n    try: os.write(d, b'garbage' * 9)\n    except OSError: pass"
        ),
        "tampered",
        "wrote an invalid answer",
    ),
    "replaced": ("tl.sum = tl.max", "tampered", "replaces triton.language.sum"),
    "own judge": ("import kprof_analyzers.pipeline as p\np.analyze = None", "tampered", "kprof_analyzers.pipeline"),
}


def test_hostile_candidates_reach_nothing(case, tmp_path, monkeypatch):
    """What each tries is refused, or it ends; the answers for the others stand, and nothing is left running."""
    monkeypatch.setenv("KPROF_TEST_SECRET", "1")
    secret, outside = tmp_path / "secret", tmp_path / "outside"
    secret.write_text("secret")
    with socket.create_server(("127.0.0.1", 0)) as server:
        places = {"outside": outside, "secret": secret, "port": server.getsockname()[1]}
        sources = [SCALE + attack.format(**places) for attack, _, _ in HOSTILE.values()]
        answers = kprof.oracle([*sources, SCALE], case, memory=1024, any_python=True)
        server.settimeout(0)
        with pytest.raises(BlockingIOError):
            server.accept()
    assert answers[-1].status == "ok"
    for (name, (_, status, reason)), answer in zip(HOSTILE.items(), answers, strict=False):
        assert answer.status == status, (name, answer)
        assert reason in "; ".join(answer.reasons), (name, answer.reasons)
        assert not answer.compiled
    assert not outside.exists()


def test_what_does_not_end_is_ended(case):
    """In the compiler's process, in the interpreter, and where a fork has told its parent that it is done."""
    endless = SCALE.replace("    at =", "    while n > 0:\n        n += 0\n    at =")
    silent = f"{SCALE}\nimport os\nos.closerange(0, 64)\nwhile True: pass\n"
    loop = f"{SCALE}\nwhile True: pass\n"
    found = kprof.oracle([loop, endless, silent], case, timeout=4, any_python=True)
    assert [answer.status for answer in found] == ["limit"] * 3
    assert "takes longer than 4 s" in found[0].reasons


def test_the_network_is_left_when_it_is_asked_for(case):
    with socket.create_server(("127.0.0.1", 0)) as server:
        attack = f"import socket\nsocket.create_connection(('127.0.0.1', {server.getsockname()[1]}))\n"
        answer = kprof.oracle(SCALE + attack, case, any_python=True, allow_network=True)
        assert answer.status == "ok", answer.reasons
        server.settimeout(5)
        server.accept()[0].close()


def test_a_case_that_cannot_be_used_is_an_error():
    with pytest.raises(kprof.KprofError, match="no kernel 'softmux'; did you mean 'softmax'"):
        kprof.oracle(SCALE, "softmux")
    with pytest.raises(kprof.KprofError, match="softmax has no case 'rows_9k'"):
        kprof.oracle(SCALE, "softmax@rows_9k")
    with pytest.raises(kprof.KprofError, match="no architecture or product 'MI3000X'"):
        kprof.oracle(SCALE, "softmax", arch="MI3000X")


def test_the_command_writes_the_answers(case, tmp_path):
    """Exit code 1 when one candidate is not ok."""
    for name in ("right", "wrong"):
        (tmp_path / f"{name}.py").write_text(HONEST[name])
    command = [sys.executable, "-m", "kprof", "oracle", "right.py", "wrong.py", "--reference", case, "-j", "1"]
    ran = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert ran.returncode == 1, ran.stderr
    document = json.loads(ran.stdout)
    assert document["schema"] == "kprof.oracle/1"
    assert [(one["file"], one["status"]) for one in document["answers"]] == [("right.py", "ok"), ("wrong.py", "wrong")]


@pytest.fixture(scope="module")
def cheated(case: str) -> dict[str, OracleAnswer]:
    """The answers for all of them, from one pair of processes: a second one takes longer to start than it saves."""
    texts = [cheat.text for cheat in CHEATS.values()]
    return dict(zip(CHEATS, kprof.oracle(texts, case, jobs=1), strict=True))


@pytest.fixture(scope="module")
def cheated_with_python(case: str) -> dict[str, OracleAnswer]:
    """The answers for all of them, which may hold any Python."""
    texts = [cheat.text for cheat in CHEATS.values()]
    return dict(zip(CHEATS, kprof.oracle(texts, case, any_python=True, jobs=1), strict=True))


@pytest.mark.parametrize("name", CHEATS)
def test_a_cheat_is_found_out(cheated, name):
    """By its form, by what its compiled code does, or by a result."""
    answer = cheated[name]
    assert not answer.ok
    assert (answer.status, bool(answer.reasons)) == (CHEATS[name].status, True), answer.reasons


@pytest.mark.parametrize("name", CHEATS)
def test_a_cheat_is_found_out_with_any_python(cheated_with_python, name):
    """Python of a candidate has no influence on the judgement: what it leaves is found out."""
    answer = cheated_with_python[name]
    assert not answer.ok
    assert (answer.status, bool(answer.reasons)) == (CHEATS[name].any_python, True), answer.reasons


def test_a_launch_that_is_too_large_is_not_checked_at_its_size_and_named(case):
    """Its two tensors take 134 MB: a third of the memory must hold them."""
    from kprof.api.live.candidate import TrialCase, with_timed_launch
    from kprof.targets.library import load

    asked = TrialCase(load(case), "MI300X", None, 0)
    small, large = (with_timed_launch(asked, 3 * size) for size in ((2 << 26) - 1, 2 << 26))
    assert small.timed is None
    assert small.not_timed == ("not checked at the timed size: its tensors take 0.1 GB, more than a third of --memory")
    assert large.timed is not None
    assert (dict(large.timed.shape), large.not_timed) == ({"N": 1 << 24}, "")
    assert large.timed.inputs["x"].numel() == 1 << 24


def test_a_system_that_cannot_contain_judges_nothing(tmp_path):
    """One message with what is missing, and exit code 2."""
    from tests.containment.conftest import ENOSYS, refuse_call

    (tmp_path / "right.py").write_text(SCALE)
    command = [sys.executable, "-m", "kprof", "oracle", "right.py", "--reference", "softmax", "--any-python"]
    ran = subprocess.run(
        command, cwd=tmp_path, capture_output=True, text=True, check=False, preexec_fn=lambda: refuse_call(444, ENOSYS)
    )
    assert (ran.returncode, ran.stdout) == (2, ""), ran.stderr
    assert "cannot be sandboxed: Landlock: Function not implemented" in ran.stderr
    assert "Traceback" not in ran.stderr


def test_the_page_has_every_cheat():
    """By its name, and none that there is not; thirty at least are tried."""
    page = (Path(__file__).resolve().parents[2] / "docs/validation/cheats.md").read_text(encoding="utf-8")
    rows = [line.split("|")[1].strip() for line in page.splitlines() if line.startswith("| ")][1:]
    assert rows == list(CHEATS)
    assert len(CHEATS) >= 30


def test_honest_variants_of_a_bundled_kernel_are_accepted():
    """A sample of those of ``validation/honest_variants.py``: configurations and edits."""
    sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "validation"))
    try:
        import honest_variants
    finally:
        sys.path.pop(0)
    found = honest_variants.judge(["memory_copy@mib64"], 4, any_python=False)
    found += honest_variants.judge(["rmsnorm"], 2, any_python=True)
    assert [(name, label, answer.reasons) for name, label, answer in found if not answer.ok] == []
    assert len(found) == 6


def test_a_cheat_says_what_the_case_needs(cheated):
    """The time that it claims, what its code does, and what the case needs."""
    (reason,) = cheated["nothing at all"].reasons
    assert reason.startswith("not plausible: ")
    assert "for 0 bytes to load and store, where the case needs " in reason


def test_inputs_are_not_known_to_a_candidate(case):
    """They follow from its own text: equal questions have equal answers, and no text can hold its own inputs."""
    from kprof.api.live.judges import seed_of

    assert seed_of(0, SCALE) == seed_of(0, SCALE)
    assert len({seed_of(0, SCALE), seed_of(1, SCALE), seed_of(0, SCALE + " ")}) == 3
