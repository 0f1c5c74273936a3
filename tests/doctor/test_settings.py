"""Settings against ``settings.toml``: each entry right and wrong, and the environment that the guides ask for."""

import importlib.util
import re
import subprocess
from pathlib import Path

import msgspec
import pytest

from kprof.doctor import WORKLOADS, Diagnosis, checks, examine, script
from kprof.doctor.judging import acs
from kprof.doctor.settings import ANY, settings
from kprof.reporters.doctor_text import DoctorTextReporter
from kprof.reporters.json_document import encoded

SETTINGS = settings()
GPU = "/sys/devices/pci0000:00/0000:{:02x}:00.0"
ARCHS = {"gfx942": 90402, "gfx1100": 110000, "gfx90a": 90010}
VARIABLES = [name for name, each in SETTINGS.items() if each.kind == "environment" and not each.check]
# Below the first 64 bytes nothing is looked at; a capability's header is its number, and the next one's place << 20.
NO_ACS = bytes(0x100) + (0x0001 | 1 << 16 | 0x140 << 20).to_bytes(4, "little") + bytes(0x3C) + bytes(0xEC0)


def with_acs(control):
    """A device's configuration whose second extended capability is access control."""
    data = bytearray(NO_ACS)
    data[0x140:0x144] = (0x000D | 1 << 16).to_bytes(4, "little")
    data[0x146:0x148] = control.to_bytes(2, "little")
    return bytes(data)


def told(tree, workload=None):
    """Name to outcome of all settings that are not well."""
    return {each.name: each for each in examine(tree.machine(), workload).settings if each.status != "ok"}


def value_of(setting, rule):
    """What to set a variable to, as a rule wants it."""
    return setting.example if rule.value == ANY else rule.value


def asked_for(workload):
    """The environment that the file asks for, as it would be for a workload on gfx942."""
    environment = {}
    for name in VARIABLES:
        rule = SETTINGS[name].rule(workload, ["gfx942"], environment)
        if rule is not None and rule.value and not SETTINGS[name].until:
            environment[name] = value_of(SETTINGS[name], rule)
    return environment


def cases():
    """Variable, place of a rule, workload, GPU: each rule with each of its workloads, on a GPU that it is for."""
    for name in VARIABLES:
        for place, rule in enumerate(SETTINGS[name].rules):
            needed, _, value = rule.when.partition("=")
            for workload in rule.workloads or (None,):
                chosen = (a for a in ARCHS if SETTINGS[name].rule(workload, [a], {needed: value}) is rule)
                yield name, place, workload, next(chosen)


def equip(good, arch):
    """Give the machine two GPUs of another architecture."""
    for number in (1, 2):
        text = f"simd_count 192\ngfx_target_version {ARCHS[arch]}\ndrm_render_minor {127 + number}\n"
        good.write({f"/sys/class/kfd/kfd/topology/nodes/{number}/properties": text})


def prepared(good, setting, rule, arch):
    """The good machine with what a rule needs beside its variable."""
    equip(good, arch)
    name, _, value = rule.when.partition("=")
    if name:
        good.environment[name] = value
    if setting.until:
        package, _, _ = setting.until.partition(" ")
        good.write({f"/python/{package}/__init__.py": "__version__ = '2.1.0'"})


def test_the_file_has_what_the_guides_name():
    """Forty entries and more, of every kind, each with a reason that is a sentence and a source."""
    assert len(SETTINGS) >= 60
    assert {each.kind for each in SETTINGS.values()} == {
        "environment", "kernel parameter", "sysfs", "library", "argument",
    }  # fmt: skip
    for name, each in SETTINGS.items():
        assert each.why.endswith("."), name
        assert each.source, name
        assert each.rules, name
        assert each.kind in {"environment", "argument"} or each.fix, name
        assert (each.kind == "sysfs") <= bool(each.check or each.probe or each.file), name
        assert all(bool(rule.value != ANY or each.example) for rule in each.rules), name
    assert {workload for each in SETTINGS.values() for rule in each.rules for workload in rule.workloads} == set(
        WORKLOADS
    )


@pytest.mark.parametrize(("name", "place", "workload", "arch"), list(cases()))
def test_a_variable_as_it_is_wanted_is_quiet(good, name, place, workload, arch):
    """The wanted value, and each that does as well."""
    setting = SETTINGS[name]
    rule = setting.rules[place]
    prepared(good, setting, rule, arch)
    for value in (value_of(setting, rule), *rule.also):
        good.environment[name] = value
        assert name not in told(good, workload), value


@pytest.mark.parametrize(("name", "place", "workload", "arch"), list(cases()))
def test_a_variable_that_is_set_otherwise_is_told_with_its_reason(good, name, place, workload, arch):
    """Any other value is told, with what to do; so is none where a value is wanted."""
    setting = SETTINGS[name]
    rule = setting.rules[place]
    prepared(good, setting, rule, arch)
    wrong = next((each for each in ("1", "0", "7", "nonsense") if not rule.accepts(each)), None)
    if wrong is not None:
        good.environment[name] = wrong
        outcome = told(good, workload)[name]
        assert outcome.status == ("fail" if setting.fails else "warn")
        assert (outcome.found, outcome.why, outcome.source) == (wrong, setting.why, setting.source)
        assert outcome.fix == ([f"export {name}={rule.value}"] if rule.value else [f"unset {name}"])
    good.environment.pop(name, None)
    wanted = rule.value not in {"", setting.default}
    assert (name in told(good, workload)) == wanted
    if wanted:
        outcome = told(good, workload)[name]
        assert (outcome.status, outcome.found, outcome.why) == ("warn", "not set", setting.why)
        assert outcome.fix == [f"export {name}={value_of(setting, rule)}"]


@pytest.mark.parametrize("workload", WORKLOADS)
def test_the_environment_that_is_asked_for_gives_no_complaint(eight, workload):
    """On the good machine, with all eight GPUs and access control off, and after reading --fix it is the same."""
    eight.write({f"{GPU.format(n + 1)}/config": with_acs(0) for n in range(8)})
    eight.environment |= asked_for(workload)
    found = examine(eight.machine(), workload)
    assert [each for each in (*found.checks, *found.settings) if each.status != "ok"] == []
    assert found.verdict.summary == "ready to measure: all is well"
    assert script(found).endswith("# Nothing to change.\n")


def source_of(package, *files):
    """Text of an installed package's files; nothing is imported."""
    found = importlib.util.find_spec(package)
    if found is None:
        pytest.skip(f"{package} is not installed")
    folder = Path(found.submodule_search_locations[0])
    return "".join((folder / file).read_text(encoding="utf-8") for file in files)


def test_the_names_are_those_that_torch_reads():
    """Inductor's variables, options and defaults as in its configuration; collectives and convolutions in headers."""
    config = source_of("torch", "_inductor/config.py")
    names = [name for name in SETTINGS if name.startswith("TORCHINDUCTOR_")]
    assert len(names) > 7
    for name in names:
        assert f'"{name}"' in config, name
        option = SETTINGS[name].program.removeprefix("torch._inductor.config.").partition(" =")[0]
        assert re.search(rf"^{option}\b", config, re.MULTILINE), name
        default = re.search(rf'"{name}", "([01])"', config)
        assert default is None or default[1] == SETTINGS[name].default, name
    headers = source_of(
        "torch",
        "include/torch/csrc/distributed/c10d/ProcessGroupNCCL.hpp",
        "include/ATen/native/ConvUtils.h",
        "cuda/tunable.py",
    )
    for name in ("TORCH_NCCL_HIGH_PRIORITY", "PYTORCH_MIOPEN_SUGGEST_NHWC", "PYTORCH_TUNABLEOP_ENABLED"):
        assert name in headers, name


def test_the_names_are_those_that_triton_reads():
    """In its knobs; MLIR_ENABLE_DUMP is read by its compiled library only."""
    knobs = source_of("triton", "knobs.py")
    names = [name for name in SETTINGS if name.startswith(("TRITON_", "AMDGCN_"))]
    assert len(names) == 5
    assert [name for name in names if f'"{name}"' not in knobs] == []


# As the guides write them: by variable, its value and a workload that they want it for.
WRITTEN = [
    ("HIP_FORCE_DEV_KERNARG", "1", "vllm"),
    ("HIP_FORCE_DEV_KERNARG", "1", None),
    ("NCCL_MIN_NCHANNELS", "112", "vllm"),
    ("NCCL_MIN_NCHANNELS", "112", "multi-gpu"),
    ("TORCH_NCCL_HIGH_PRIORITY", "1", "training"),
    ("GPU_MAX_HW_QUEUES", "2", "training"),
    ("PYTORCH_TUNABLEOP_ENABLED", "1", "tuning"),
    ("PYTORCH_TUNABLEOP_TUNING", "0", "inference"),
    ("TORCHINDUCTOR_MAX_AUTOTUNE", "1", "tuning"),
    ("TORCHINDUCTOR_COORDINATE_DESCENT_TUNING", "1", "tuning"),
    ("TORCHINDUCTOR_FREEZING", "1", "inference"),
    ("TORCHINDUCTOR_CPP_WRAPPER", "1", "inference"),
    ("TORCHINDUCTOR_LAYOUT_OPTIMIZATION", "1", "tuning"),
    ("MIOPEN_FIND_MODE", "1", "tuning"),
    ("MIOPEN_FIND_ENFORCE", "3", "tuning"),
    ("DEBUG_CLR_GRAPH_PACKET_CAPTURE", "1", "vllm"),
    ("SGLANG_USE_AITER", "1", "sglang"),
    ("HSA_NO_SCRATCH_RECLAIM", "1", "sglang"),
    ("PCIe ACS", "off", "multi-gpu"),
    ("numa_balancing", "0", None),
]


@pytest.mark.parametrize(("name", "value", "workload"), WRITTEN)
def test_values_are_those_of_the_guides(name, value, workload):
    """Compared with a second reading of them."""
    assert SETTINGS[name].rule(workload, ["gfx942"], {}).value == value


@pytest.mark.parametrize("name", [name for name, each in SETTINGS.items() if each.check])
def test_checks_say_what_the_file_says(name):
    """A setting with a check of its own has the check's reason and source, and is not told twice."""
    check = {each.name: each for each in checks()}[SETTINGS[name].check]
    assert SETTINGS[name].why in check.why
    assert check.source == SETTINGS[name].source


def test_arguments_of_programs_are_named_and_judge_nothing(good):
    """They cannot be seen: said in the text with what is wanted, left out of the verdict."""
    found = examine(good.machine(), "vllm")
    assert {each.status for each in found.unseen} == {"unknown"}
    assert "unknown" not in found.verdict.summary
    text = " ".join(DoctorTextReporter(100).render(found).split())
    assert "cannot be read from here: --kv-cache-dtype (fp8)" in text
    assert SETTINGS["--kv-cache-dtype"].why in " ".join(DoctorTextReporter(100, verbose=1).render(found).split())
    assert examine(good.machine()).unseen == []


def test_a_program_may_do_in_place_of_a_variable(good):
    """Inductor's options can be set in Python, which cannot be seen: both ways are named."""
    outcome = told(good, "inference")["TORCHINDUCTOR_FREEZING"]
    assert outcome.wanted == "1, or torch._inductor.config.freezing = True in the program"
    assert outcome.fix == ["export TORCHINDUCTOR_FREEZING=1"]


def test_what_the_guide_asks_for_is_not_taken_back(good):
    """Two queues and TunableOp are wanted by some workloads, and harm none."""
    good.environment |= {"GPU_MAX_HW_QUEUES": "2", "PYTORCH_TUNABLEOP_ENABLED": "1"}
    for workload in (None, *WORKLOADS):
        assert not {"GPU_MAX_HW_QUEUES", "PYTORCH_TUNABLEOP_ENABLED"} & set(told(good, workload))
    good.environment["GPU_MAX_HW_QUEUES"] = "1"
    assert told(good)["GPU_MAX_HW_QUEUES"].fix == ["unset GPU_MAX_HW_QUEUES"]
    assert told(good)["GPU_MAX_HW_QUEUES"].wanted == "2 (training, multi-gpu)"
    assert told(good, "training")["GPU_MAX_HW_QUEUES"].fix == ["export GPU_MAX_HW_QUEUES=2"]


def test_arguments_in_device_memory_are_asked_of_everyone(good):
    """The variable is missed without any workload."""
    del good.environment["HIP_FORCE_DEV_KERNARG"]
    assert told(good)["HIP_FORCE_DEV_KERNARG"].fix == ["export HIP_FORCE_DEV_KERNARG=1"]


def test_without_a_gpu_nothing_is_asked_for_but_for_a_workload(bare):
    """What is missing is told when a workload is named, as for an MI300X, and the text says so."""
    del bare.environment["HIP_FORCE_DEV_KERNARG"]
    assert told(bare) == {}
    assert "HIP_FORCE_DEV_KERNARG" in told(bare, "inference")
    assert "no AMD GPU here; as for an MI300X" in DoctorTextReporter().render(examine(bare.machine(), "inference"))


def test_values_are_for_a_gpu(good):
    """The 112 channels are those of the MI300X, AITER is for it and the MI350."""
    equip(good, "gfx1100")
    good.environment |= {"SGLANG_USE_AITER": "1"}
    assert "NCCL_MIN_NCHANNELS" not in told(good, "multi-gpu")
    assert "VLLM_ROCM_USE_AITER" not in told(good, "vllm")
    assert told(good, "sglang")["SGLANG_USE_AITER"].fix == ["unset SGLANG_USE_AITER"]


def test_versions_that_do_not_read_a_variable_are_asked_for_none(good):
    """TunableOp before torch 2.3, the epilogue's switch since Triton 3.1: said, and neither wanted nor wrong."""
    assert "OPTIMIZE_EPILOGUE" not in told(good, "inference")
    good.environment["OPTIMIZE_EPILOGUE"] = "0"
    found = {each.name: each for each in examine(good.machine(), "inference").settings}
    assert (found["OPTIMIZE_EPILOGUE"].status, found["OPTIMIZE_EPILOGUE"].found) == (
        "ok",
        "0, and not read by triton 3.4.0",
    )
    good.write({"/python/torch/version.py": "__version__ = '2.2.1+rocm5.7'\nhip: Optional[str] = '5.7.0'\n"})
    assert "PYTORCH_TUNABLEOP_ENABLED" not in told(good, "inference")
    assert told(good, "inference")["torch"].wanted == ">= 2.3"
    assert told(good, "training")["torch"].found == "2.2.1+rocm5.7"
    assert "torch" not in told(good)


def test_kernel_parameters(good):
    """What is not on the command line is told, with the file to change; no command line is unknown."""
    good.write({"/proc/cmdline": "quiet iommu=pt pci=realloc=on"})
    outcome = told(good)["pci=realloc=off"]
    assert (outcome.status, outcome.found) == ("warn", "not on the kernel's command line")
    assert "GRUB_CMDLINE_LINUX" in outcome.fix[0]
    good.write({"/proc/cmdline": None})
    assert told(good)["pci=realloc=off"].status == "unknown"


@pytest.mark.parametrize(
    ("config", "value"),
    [(with_acs(0x1D), "on"), (with_acs(0x01), "on"), (with_acs(0), "off"), (with_acs(0x1C), "off"), (NO_ACS, "off"),
     (NO_ACS[:64], None), (b"", None), (NO_ACS[:256], "off"), (with_acs(1)[:0x147], "off")],
)  # fmt: skip
def test_access_control_is_read_from_the_device(good, config, value):
    """Bit 0 of the control register, as lspci prints SrcValid; what only root may read cannot be determined."""
    for number in (1, 2):
        good.write({f"{GPU.format(number)}/config": config})
    assert acs(good.machine()).value == value
    outcome = told(good, "multi-gpu").get("PCIe ACS")
    assert "PCIe ACS" not in told(good)
    if value == "off":
        assert outcome is None
    elif value == "on":
        assert outcome.status == "warn"
        assert outcome.fix == [f"sudo setpci -v -s 0000:0{n}:00.0 ECAP_ACS+0x6.w=0000" for n in (1, 2)]
    else:
        assert (outcome.status, outcome.fix) == ("unknown", [])


def test_a_loop_of_capabilities_ends(good):
    """A capability that names itself as the next one."""
    data = bytearray(NO_ACS)
    data[0x100:0x104] = (0x0001 | 1 << 16 | 0x100 << 20).to_bytes(4, "little")
    good.write({f"{GPU.format(number)}/config": bytes(data) for number in (1, 2)})
    assert acs(good.machine()).value == "off"


def test_two_gpus_use_a_fraction_of_the_links(good):
    """Told for collectives only."""
    outcome = told(good, "multi-gpu")["GPUs of a node"]
    assert (outcome.found, outcome.wanted) == ("2", "8")
    assert "GPUs of a node" not in told(good, "training")


def test_the_script_is_shell_and_says_why(good):
    """Variables and kernel files as commands, installs and boots as comments; reading it leaves no complaint."""
    good.write({"/proc/cmdline": "quiet", "/proc/sys/kernel/numa_balancing": "1"})
    good.write({"/python/torch/version.py": "__version__ = '2.2.1'\nhip: Optional[str] = '5.7.0'\n"})
    good.environment |= {"HSA_OVERRIDE_GFX_VERSION": "11.0.0\n$(touch x)", "HIP_LAUNCH_BLOCKING": "1"}
    text = script(examine(good.machine(), "training"))
    subprocess.run(["sh", "-n"], input=text, text=True, check=True, capture_output=True)
    lines = text.splitlines()
    commands = [line for line in lines if line and not line.startswith("#")]
    assert "sudo sysctl kernel.numa_balancing=0" in commands
    assert {"unset HSA_OVERRIDE_GFX_VERSION", "unset HIP_LAUNCH_BLOCKING"} <= set(commands)
    assert "export GPU_MAX_HW_QUEUES=2" in commands
    assert all(line.startswith(("export ", "unset ", "sudo sysctl ")) for line in commands)
    assert any("GRUB_CMDLINE_LINUX" in line and line.startswith("#") for line in lines)
    assert any("pip install torch" in line and line.startswith("#") for line in lines)
    assert any(SETTINGS["GPU_MAX_HW_QUEUES"].why in line for line in lines)


@pytest.mark.parametrize("workload", WORKLOADS)
def test_after_the_script_nothing_is_missing(good, workload):
    """Its exports, read by a shell, are the environment that gives no complaint."""
    good.environment["HIP_LAUNCH_BLOCKING"] = "1"
    text = script(examine(good.machine(), workload))
    shell = "\n".join(line for line in text.splitlines() if line.startswith(("export ", "unset ")))
    printed = subprocess.run(
        ["/bin/sh", "-c", f"{shell}\nenv"], env=good.environment, text=True, check=True, capture_output=True
    )
    good.environment = dict(line.partition("=")[::2] for line in printed.stdout.splitlines())
    assert {name for name in told(good, workload) if name in VARIABLES} == set()


def test_the_table_shows_what_is_right_only_when_asked(good):
    """Quiet by default; every entry under -v."""
    found = examine(good.machine(), "training")
    plain, whole = DoctorTextReporter(100).render(found), DoctorTextReporter(100, verbose=1).render(found)
    assert "settings for training" in plain
    assert "GPU_MAX_HW_QUEUES: not set, wanted: 2" in plain
    assert "HIP_FORCE_DEV_KERNARG" not in plain
    assert all(name in whole for name in VARIABLES)
    assert msgspec.json.decode(encoded(found).encode(), type=Diagnosis) == found


@pytest.mark.parametrize(
    ("arch", "tools", "status", "words"),
    [
        ("gfx942", {"llvm-objdump": "/usr/lib/llvm-14/bin/llvm-objdump"}, "warn", "version 14, gfx942 needs 17"),
        ("gfx942", {"llvm-objdump-18": "/usr/bin/llvm-objdump-18"}, "ok", "/usr/bin/llvm-objdump-18"),
        ("gfx942", {"llvm-objdump": "/nowhere/llvm-objdump"}, "warn", "of unknown version, gfx942 needs 17"),
        ("gfx1100", {"llvm-objdump-18": "/usr/bin/llvm-objdump-18"}, "warn", "version 18, gfx1100 needs 22"),
        ("gfx1100", {"llvm-objdump-22": "/usr/bin/llvm-objdump-22"}, "ok", "/usr/bin/llvm-objdump-22"),
        ("gfx90a", {"llvm-objdump-14": "/usr/bin/llvm-objdump-14"}, "ok", "/usr/bin/llvm-objdump-14"),
        ("gfx942", {}, "warn", "no disassembler"),
    ],
)
def test_the_disassembler_is_one_for_this_gpu(good, arch, tools, status, words):
    """By path, as nothing is run; what to install brings LLVM's library."""
    equip(good, arch)
    good.write({"/opt/rocm/llvm/bin/llvm-objdump": None})
    good.programs = tools
    outcome = good.examined()["llvm-tools"]
    assert outcome.status == status
    assert words in outcome.found
    assert outcome.fix == ([] if status == "ok" else ["pip install rocm-bindings-compiler"])
    good.write({"/python/rocm/bindings/llvm/libLLVM.so": ""})
    assert good.examined()["llvm-tools"].status == "ok"
