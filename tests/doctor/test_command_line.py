"""Command lines of servers and launchers: what is read of them, and how their arguments are judged."""

import shlex

import pytest

import kprof as package
from kprof.doctor import examine, read_command
from kprof.doctor.settings import settings
from kprof.errors import KprofError
from kprof.inputs.gpu_report import ReportedGpu
from kprof.reporters.doctor_text import DoctorTextReporter

MI300X = ReportedGpu("gfx942", "AMD Instinct MI300X", 304)


def read(line):
    """A command line as the shell gives it."""
    return read_command(shlex.split(line))


@pytest.fixture
def judged(eight):
    """Argument to outcome, of a line on a machine with eight MI300X."""

    def judge(line, **changes):
        eight.environment |= changes
        return {each.name: each for each in examine(eight.machine(), None, read(line)).arguments}

    return judge


@pytest.mark.parametrize(
    ("line", "programs", "workload", "environment", "parallel"),
    [
        ("vllm serve m -tp 2", ("vllm",), "vllm", {}, "2"),
        ("A=1 B=x=y vllm serve m --tensor-parallel-size=8", ("vllm",), "vllm", {"A": "1", "B": "x=y"}, "8"),
        ("env A=1 python3 -m vllm.entrypoints.openai.api_server -tp 4 &", ("vllm",), "vllm", {"A": "1"}, "4"),
        ("python -m sglang.launch_server --tp-size 8 | tee --tp 1", ("sglang",), "sglang", {}, "8"),
        ("/usr/bin/sglang serve --tp 8", ("sglang",), "sglang", {}, "8"),
        ("docker run --rm -e A=1 --env=B=2 image vllm serve m -tp 1", ("vllm",), "vllm", {"A": "1", "B": "2"}, "1"),
        ("torchrun --nproc_per_node=8 benchmark_latency.py -tp 8", ("torchrun", "vllm"), "vllm", {}, "8"),
        ("torchrun --standalone --nproc-per-node 8 train.py", ("torchrun",), "training", {}, None),
        ("mpirun -np 8 -x A=1 -genv B 2 ./all_reduce_perf -g 1", ("mpirun",), "multi-gpu", {"A": "1", "B": "2"}, None),
    ],
)
def test_what_is_read_of_a_line(line, programs, workload, environment, parallel):
    """Programs by path, script or module; variables from everywhere; aliases of options."""
    found = read(line)
    assert (found.programs, found.workload, found.environment) == (programs, workload, environment)
    assert found.arguments.get("--tensor-parallel-size") == parallel


def test_a_launched_program_has_options_of_its_own():
    """``-n`` and ``-c`` of rccl-tests are not mpirun's number of processes."""
    found = read("mpirun --allow-run-as-root -np 8 --mca pml ob1 ./all_reduce_perf -n 20 -c 1 -g 1")
    assert found.arguments["-np"] == "8"
    assert found.arguments["-n"] == "20"


@pytest.mark.parametrize("line", ["python train.py", "ls -l", ""])
def test_another_program_is_refused(line):
    """With the programs that are known."""
    with pytest.raises(KprofError, match="no known program") as error:
        read(line)
    assert "vllm, sglang, torchrun, mpirun" in error.value.hint


def test_a_huge_line_is_refused():
    """Neither many words nor a long one is read."""
    for words in (["vllm"] * 5000, ["vllm", "x" * 5000]):
        with pytest.raises(KprofError, match="command line"):
            read_command(words)


@pytest.mark.parametrize(
    ("line", "name", "status", "wanted"),
    [
        ("vllm serve m -tp 8", "--tensor-parallel-size", "ok", "1 or 8"),
        ("vllm serve m -tp 4", "--tensor-parallel-size", "warn", "1 or 8"),
        ("sglang serve --tp 2", "--tensor-parallel-size", "warn", "1 or 8"),
        ("vllm serve m -tp $TP", "--tensor-parallel-size", "unknown", "1 or 8"),
        ("vllm serve m", "--kv-cache-dtype", "unknown", "fp8"),
        ("vllm serve m --kv-cache-dtype fp8_e4m3", "--kv-cache-dtype", "ok", "fp8 or fp8_*"),
        ("vllm serve m --kv-cache-dtype auto", "--kv-cache-dtype", "unknown", "fp8"),
        ("sglang serve --kv-cache-dtype=auto", "--kv-cache-dtype", "unknown", "fp8"),
        ("vllm serve m --kv-cache-dtype bfloat16", "--kv-cache-dtype", "warn", "fp8 or fp8_*"),
        ("vllm serve m --kv-cache-dtype fp8", "--quantization-param-path", "unknown", "the file of the model's scales"),
        ("vllm serve m --enforce-eager", "--enforce-eager", "warn", "not set"),
        ("vllm serve m --enable-chunked-prefill", "--enable-chunked-prefill", "ok", "given or true"),
        ("vllm serve m --max-num-batched-tokens 512", "--max-num-batched-tokens", "warn", "4096 or more"),
        ("vllm serve m --max-num-batched-tokens 8192", "--max-num-batched-tokens", "ok", "4096 or more"),
        ("vllm serve m --gpu-memory-utilization 0.4", "--gpu-memory-utilization", "ok", "0.01 to 1"),
        ("vllm serve m --gpu-memory-utilization 90", "--gpu-memory-utilization", "fail", "0.01 to 1"),
        ("vllm serve m --distributed-executor-backend ray", "--distributed-executor-backend", "warn", "mp, torchrun"),
        ("sglang serve --attention-backend fa3", "--attention-backend", "warn", "aiter"),
        ("sglang serve --attention-backend aiter", "--attention-backend", "ok", "aiter"),
        ("torchrun --nproc-per-node=8 train.py", "--nproc-per-node", "ok", "8"),
        ("torchrun --nproc-per-node=4 train.py", "--nproc-per-node", "warn", "8, a process for each GPU"),
        ("torchrun --nproc-per-node=4 benchmark_latency.py -tp 8", "--nproc-per-node", "fail", "8, as"),
        ("mpirun -np 1 ./all_reduce_perf -g 8", "-g", "warn", "1"),
        ("mpirun -np 8 ./all_reduce_perf -g 1", "-np", "ok", "8"),
        ("CUDA_VISIBLE_DEVICES=0,1 vllm serve m -tp 8", "--tensor-parallel-size", "ok", "1 or 8"),
    ],
)
def test_arguments_are_judged(judged, line, name, status, wanted):
    """Each with what is wanted, a reason and a source."""
    found = judged(line)[name] if "VISIBLE" not in line else examine_first(judged, line, name)
    assert found.status == status
    assert found.wanted.startswith(wanted)
    assert found.why.endswith(".")
    assert found.source


ARGUMENTS = [
    (program, setting.name, rule)
    for program in ("vllm", "sglang")
    for setting in settings().values()
    if setting.kind == "argument" and program in setting.programs
    for rule in setting.rules
    if setting.default_of(rule) is not None
]


@pytest.mark.parametrize(("program", "name", "rule"), ARGUMENTS)
def test_the_default_is_judged_as_an_argument_that_is_not_given(bare, program, name, rule):
    """Quiet where the guides want the default, the same proposal where they want another value."""
    default = settings()[name].default_of(rule)
    # The rule for GPUs of less memory follows the one for gfx942.
    gpu = ReportedGpu("gfx90a", "AMD Instinct MI210", 104) if rule.default == "2048" else MI300X
    machine = bare.machine()
    machine = type(machine)(root=machine.root, environment={}, packages=[], reported=(gpu,))

    def outcome(*words):
        found = examine(machine, None, read_command([program, "serve", "m", *words])).arguments
        return next((each for each in found if each.name == name), None)

    without, given = outcome(), outcome(name, *([] if default == "given" else [default]))
    assert given is not None
    if without is None:
        assert given.status == "ok"
    else:
        assert (given.status, given.wanted, given.why) == (without.status, without.wanted, without.why)
        assert given.status == "unknown"
        assert given.found == f"{default}, the default; another value may help"


def test_flags_that_the_server_sets_itself_are_not_proposed(judged):
    """The V1 engine of vLLM reads long prompts in pieces and takes 8192 tokens; the older engine has to be told."""
    assert not {"--enable-chunked-prefill", "--max-num-batched-tokens"} & set(judged("vllm serve m"))
    found = judged("VLLM_USE_V1=0 vllm serve m")["--enable-chunked-prefill"]
    assert (found.status, found.found) == ("unknown", "not given, may help")


def examine_first(judged, line, name):
    """The argument's own outcome; the last one, of the GPUs that are seen, is a failure."""
    assert judged(line)[name].status == "fail"
    return judged(line.partition(" ")[2])[name]


def test_variables_of_the_line_count_as_set(good):
    """They are judged as those of the shell."""
    found = examine(good.machine(), None, read("VLLM_ROCM_USE_AITER=0 vllm serve m"))
    settings = {each.name: each for each in found.settings}
    assert (settings["VLLM_ROCM_USE_AITER"].status, settings["VLLM_ROCM_USE_AITER"].found) == ("warn", "0")
    assert found.unseen == []


def test_only_what_cannot_work_fails(good, bare):
    """A line that the guides would change is a warning; one that contradicts itself a failure."""
    assert examine(good.machine(), None, read("vllm serve m -tp 2 --enforce-eager")).verdict.status == "ok"
    line = read("CUDA_VISIBLE_DEVICES=0 vllm serve m -tp 8")
    for machine in (good.machine(), bare.machine()):
        found = examine(machine, None, line).verdict
        assert (found.status, "--tensor-parallel-size" in found.summary) == ("fail", True)


def test_the_text_names_every_argument(good):
    """Those that the guides say nothing about by name only."""
    found = examine(good.machine(), None, read("vllm serve m -tp 2 --port 8000"))
    text = " ".join(DoctorTextReporter(100).render(found).split())
    assert "warn --tensor-parallel-size 2, wanted: 1 or 8" in text
    assert "not mentioned by the guides: --port" in text
    assert "not seen from here" not in text


def test_the_gpus_of_a_report_count(bare):
    """On a machine without a GPU the report says how many there are, and of what architecture."""
    machine = bare.machine()
    reported = type(machine)(root=machine.root, environment={}, packages=[], reported=(MI300X,) * 8)
    found = examine(reported, None, read("torchrun --nproc-per-node=8 train.py"))
    assert {each.name: each.status for each in found.arguments} == {"--nproc-per-node": "ok"}
    assert found.reported == [MI300X.words] * 8
    outcome = {each.check: each for each in found.checks}["reported-gpus"]
    assert (outcome.status, outcome.found) == ("ok", "8 x AMD Instinct MI300X (gfx942), 304 CUs")


@pytest.mark.parametrize(
    ("gpu", "status", "words"),
    [
        (ReportedGpu("gfx942", "AMD Instinct MI300X", 38), "warn", "38 of the 304 CUs of an MI300X"),
        (ReportedGpu("gfx942", "AMD Instinct MI300X", 304, "CPX", "NPS4"), "warn", "partitioned as CPX and NPS4"),
        (ReportedGpu("gfx9f9", "", 10), "warn", "gfx9f9"),
        (ReportedGpu("", "AMD Instinct MI300X", None), "unknown", "does not name the architecture"),
    ],
)
def test_a_reported_gpu_that_is_not_whole_or_not_known(bare, gpu, status, words):
    """Partitions and unknown architectures are named."""
    machine = bare.machine()
    found = examine(type(machine)(root=machine.root, environment={}, packages=[], reported=(gpu,)))
    outcome = {each.check: each for each in found.checks}["reported-gpus"]
    assert outcome.status == status
    assert words in outcome.found


def test_the_api_and_the_command(kprof, tmp_path):
    """Words behind ``--`` are the program's; a workload of another server is an error."""
    found = package.diagnose(["vllm", "serve", "m", "-tp", "2"], root=tmp_path)
    assert found.document.workload == "vllm"
    with pytest.raises(KprofError, match="--workload vllm does not fit a command line of sglang"):
        package.diagnose(["sglang", "serve"], root=tmp_path, workload="vllm")
    ran = kprof("doctor", "--root", tmp_path, "--workload", "vllm", "--", "vllm", "serve", "m", "-tp", "2")
    assert ran.code == 0
    assert "--tensor-parallel-size 2, wanted: 1 or 8" in ran.out
    assert kprof("doctor", "--root", tmp_path, "--", "ls").code == 2
