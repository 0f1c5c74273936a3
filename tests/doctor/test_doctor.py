"""``kprof doctor`` on machines of files: a good one, wrong ones, one without a GPU, garbled ones."""

import os
import subprocess
import time

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from kprof.doctor import Diagnosis, Host, checks, examine
from kprof.doctor.host import arch_of
from kprof.reporters.doctor_text import DoctorTextReporter
from kprof.reporters.json_document import encoded as render

CARD = "/sys/devices/pci0000:00/0000:01:00.0"


def test_a_machine_set_up_as_the_guide_asks_is_ready(good):
    """Every check is ok, and each that is for AMD GPUs was made."""
    found = examine(good.machine())
    expected = {check.name: "ok" for check in checks() if not check.needs_cuda_gpu and not check.needs_report}
    assert {outcome.check: outcome.status for outcome in found.checks} == expected
    assert found.gpus == ["AMD Instinct MI300X (gfx942)"] * 2
    assert all(found.works.values())
    assert found.left_out == []
    assert (found.verdict.status, found.verdict.summary) == ("ok", "ready to measure: all is well")


WRONG = [
    ("numa-balancing", "warn", {"/proc/sys/kernel/numa_balancing": "1"}, "sudo sysctl kernel.numa_balancing=0"),
    (
        "cpu-governor",
        "warn",
        {"/sys/devices/system/cpu/cpu3/cpufreq/scaling_governor": "powersave"},
        "sudo cpupower frequency-set -g performance",
    ),
    (
        "c-states",
        "warn",
        {"/sys/devices/system/cpu/cpu0/cpuidle/state2/disable": "0"},
        "sudo cpupower idle-set -d 2",
    ),
    ("huge-pages", "warn", {"/sys/kernel/mm/transparent_hugepage/enabled": "always madvise [never]"}, "madvise"),
    ("iommu", "warn", {"/proc/cmdline": "quiet", "/sys/kernel/iommu_groups/0/type": "DMA"}, "iommu=pt"),
    ("iommu", "warn", {f"{CARD}/iommu_group/type": "DMA-FQ"}, "sudo update-grub && sudo reboot"),
    ("partition", "warn", {f"{CARD}/current_compute_partition": "CPX"}, "echo SPX | sudo tee"),
    ("partition", "warn", {f"{CARD}/current_memory_partition": "NPS4"}, "echo NPS1 | sudo tee"),
    ("performance-level", "fail", {f"{CARD}/power_dpm_force_performance_level": "low"}, "echo auto | sudo tee"),
    ("performance-level", "warn", {f"{CARD}/power_dpm_force_performance_level": "manual"}, "echo auto | sudo tee"),
    ("power-cap", "warn", {f"{CARD}/hwmon/hwmon0/power1_cap": "500000000"}, "echo 750000000 | sudo tee"),
    ("pcie-link", "warn", {f"{CARD}/current_link_width": "8"}, "current_link_speed"),
    ("pcie-link", "warn", {f"{CARD}/current_link_speed": "2.5 GT/s PCIe"}, "current_link_speed"),
    ("device-access", "fail", {"/dev/kfd": None}, "--device=/dev/kfd"),
    ("rocprof", "warn", {"/opt/rocm/bin/rocprofv3": None}, "sudo apt install rocprofiler-sdk"),
    ("llvm-tools", "warn", {"/opt/rocm/llvm/bin/clang++": None}, "sudo apt install clang"),
    ("rocm", "unknown", {"/opt/rocm/.info/version": None}, ""),
    ("torch", "fail", {"/python/torch/version.py": "__version__ = '2.9.0+cpu'\ncuda = None\nhip = None"}, "whl/rocm"),
    ("torch", "fail", {"/python/torch/version.py": "__version__ = '2.9.0'\ncuda = '12.8'\nhip = None"}, "whl/rocm"),
    ("torch", "warn", {"/python/torch/version.py": None}, "whl/rocm"),
    ("triton", "fail", {"/python/triton/__init__.py": "__version__ = '3.3.1'"}, 'pip install "triton>=3.4"'),
    ("triton", "fail", {"/python/triton/__init__.py": "__version__ = '2.1.0'"}, 'pip install "triton>=3.4"'),
    ("triton", "warn", {"/python/triton/__init__.py": None}, 'pip install "triton>=3.4"'),
    ("triton", "unknown", {"/python/triton/__init__.py": "version = 1"}, ""),
    ("triton", "warn", {"/python2/triton/__init__.py": "__version__ = '3.6.0'"}, "python -m pip list -v"),
    ("triton", "warn", {"/python/triton-3.4.0.dist-info/METADATA": ""}, "pip uninstall -y"),
]


@pytest.mark.parametrize(("name", "status", "files", "fix"), WRONG)
def test_one_thing_wrong_is_the_one_thing_told(good, name, status, files, fix):
    """The check that is meant tells it with a reason and a command, all others stay ok."""
    found = good.write(files).examined()
    assert found[name].status == status
    assert found[name].why
    assert any(fix in line for line in found[name].fix) or not fix
    others = {n: o.status for n, o in found.items() if n != name and o.status != "ok"}
    assert others == {}
    verdict = examine(good.machine()).verdict
    assert verdict.status == ("fail" if status == "fail" else "ok")


@pytest.mark.parametrize(
    ("name", "status", "environment"),
    [
        ("triton-interpreter", "fail", {"TRITON_INTERPRET": "1"}),
        ("triton-interpreter", "ok", {"TRITON_INTERPRET": "0"}),
        ("compile-switches", "warn", {"AMDGCN_USE_BUFFER_OPS": "0"}),
        ("visible-devices", "ok", {"ROCR_VISIBLE_DEVICES": "0,1"}),
        ("visible-devices", "warn", {"ROCR_VISIBLE_DEVICES": "1", "HIP_VISIBLE_DEVICES": "1"}),
        ("visible-devices", "fail", {"HIP_VISIBLE_DEVICES": ""}),
    ],
)
def test_variables_that_change_code_or_results(good, name, status, environment):
    """Each is told by its own check, with the command that takes it away."""
    good.environment |= environment
    outcome = good.examined()[name]
    assert outcome.status == status
    if status != "ok":
        assert all(variable in outcome.found for variable in environment)
        assert any(fix.startswith("unset ") for fix in outcome.fix)


def test_every_variable_that_decides_a_compile_is_looked_at(good):
    """What kprof's cache keys hold is what this check knows."""
    from kprof.compiler.environment import SWITCHES

    for name in SWITCHES:
        good.environment = {"HOME": good.environment["HOME"], name: "1"}
        assert name in good.examined()["compile-switches"].found


def test_closed_device_files_ask_for_the_render_group(good):
    """The driver is there, this user is not in its group."""
    good.closed.add(good.root / "dev/kfd")
    outcome = good.examined()["device-access"]
    assert (outcome.status, outcome.fix[0]) == ("fail", "sudo usermod -aG render,video $USER")
    assert not examine(good.machine()).works["run kernels on the GPU"]


def test_a_gpu_without_its_driver_is_a_failure(good):
    """On the bus, and not in the driver's topology."""
    for node in (1, 2):
        good.write({f"/sys/class/kfd/kfd/topology/nodes/{node}/properties": None})
    good.write({"/sys/module/amdgpu/version": None})
    (good.root / "sys/module/amdgpu").rmdir()
    found = good.examined()
    assert found["gpu"].status == found["driver"].status == "fail"
    assert "2 on the bus" in found["gpu"].found


def test_partitions_of_one_gpu_are_one_device(good):
    """In CPX mode eight nodes share a card: it is told once."""
    for node in range(3, 9):
        text = f"simd_count 152\ngfx_target_version 90402\ndrm_render_minor {127 + node}\n"
        good.write({f"/sys/class/kfd/kfd/topology/nodes/{node}/properties": text, f"/dev/dri/renderD{127 + node}": ""})
        link = good.root / f"sys/class/drm/renderD{127 + node}/device"
        link.parent.mkdir(parents=True, exist_ok=True)
        link.symlink_to(good.root / CARD.lstrip("/"))
    machine = good.machine()
    assert len(machine.gpus) == 8
    assert len(machine.devices) == 2


def test_only_gpus_that_can_be_divided_are_asked_how(good):
    """An RX 7900 XTX has no partition modes; an MI300X whose driver tells none is unknown."""
    for number in (1, 2):
        card = f"/sys/devices/pci0000:00/0000:{number:02x}:00.0"
        good.write({f"{card}/current_compute_partition": None, f"{card}/current_memory_partition": None})
    assert good.examined()["partition"].status == "unknown"
    for node in (1, 2):
        text = f"simd_count 192\ngfx_target_version 110000\ndrm_render_minor {127 + node}\n"
        good.write({f"/sys/class/kfd/kfd/topology/nodes/{node}/properties": text})
    assert good.examined()["partition"].status == "ok"


def test_without_a_gpu_it_says_what_works(bare):
    """Exit code 0; what means nothing here is left out and named; an empty machine is no failure."""
    found = examine(bare.machine())
    assert found.verdict.status == "ok"
    assert found.verdict.summary.startswith("no AMD GPU here, code and measurements can be read")
    assert set(found.left_out) == {check.name for check in checks() if check.needs_gpu}
    assert [found.works[what] for what in found.works] == [True, False, False]
    bare.write({"/python/triton/__init__.py": "__version__ = '3.9.0'", "/python/triton/backends/amd/x.py": ""})
    bare.environment |= {"TRITON_INTERPRET": "1", "HSA_OVERRIDE_GFX_VERSION": "9.4.2"}
    found = examine(bare.machine())
    assert "compiling, analysing and modelling work" in found.verdict.summary
    assert {o.status for o in found.checks if o.section != "host"} <= {"ok", "warn"}
    assert found.verdict.status == "ok"


def test_another_vendor_s_gpu_is_none(bare):
    """An NVIDIA GPU without its driver, and an AMD network card, can do nothing for AMD kernels."""
    bare.write({f"{CARD}/vendor": "0x10de", f"{CARD}/class": "0x030200"})
    bare.write({"/sys/devices/pci0000:00/0000:02:00.0/vendor": "0x1002"})
    bare.write({"/sys/devices/pci0000:00/0000:02:00.0/class": "0x020000"}).link()
    assert not bare.machine().has_gpu
    found = examine(bare.machine())
    assert not found.works["check kernels on the CUDA GPU"]
    assert bare.examined()["cuda-gpu"].fix[-1] == "else: sudo modprobe nvidia"


CUDA = {
    "/proc/driver/nvidia/gpus/0000:00:06.0/information": "Model: \t\t NVIDIA H100 80GB HBM3\nDevice Minor: \t 0",
    "/dev/nvidia0": "",
    "/dev/nvidiactl": "",
    "/dev/nvidia-uvm": "",
    "/python/triton/__init__.py": "__version__ = '3.6.0'",
    "/python/triton/backends/amd/compiler.py": "",
    "/python/triton/backends/nvidia/compiler.py": "",
    "/python/torch/version.py": "__version__ = '2.11.0+cu130'\ncuda: Optional[str] = '13.0'\nhip: Optional[str] = None",
}
"""What an NVIDIA machine looks like, as far as it matters here."""


def test_a_cuda_gpu_can_check_kernels(bare):
    """One line names it, and the last line says what it is good for; it is no AMD GPU."""
    found = examine(bare.write(CUDA).machine())
    outcome = {o.check: o for o in found.checks}["cuda-gpu"]
    assert (outcome.status, outcome.found) == ("ok", "1 x NVIDIA H100 80GB HBM3, for checking kernels with kprof bench")
    assert (found.works["check kernels on the CUDA GPU"], found.works["run kernels on the GPU"]) == (True, False)
    assert "kernels can be checked on the CUDA GPU" in found.verdict.summary
    assert "cuda-gpu" not in found.left_out
    assert found.gpus == []


@pytest.mark.parametrize(
    ("absent", "words", "fix"),
    [
        ("/dev/nvidiactl", "no /dev/nvidia0 and /dev/nvidiactl", "docker run --gpus all"),
        ("/dev/nvidia0", "no /dev/nvidia0 and /dev/nvidiactl", "sudo modprobe nvidia"),
        ("/python/torch", "but no torch", "pip install torch"),
        ("/python/triton", "but no Triton", 'pip install "triton>=3.4"'),
        ("/python/triton/backends/nvidia", "no Triton's NVIDIA backend", "pip install --force-reinstall"),
    ],
)
def test_what_a_cuda_gpu_lacks(bare, absent, words, fix):
    """The GPU is named together with what is missing, and how to get it; nothing is said to work."""
    bare.write({path: content for path, content in CUDA.items() if not path.startswith(absent)})
    found = examine(bare.machine())
    outcome = {o.check: o for o in found.checks}["cuda-gpu"]
    assert outcome.status == "warn"
    assert outcome.found.startswith("1 x NVIDIA H100")
    assert words in outcome.found
    assert fix in " ".join(outcome.fix)
    assert not found.works["check kernels on the CUDA GPU"]


def test_torch_for_the_cpu_leaves_a_cuda_gpu_idle(bare):
    """It is named, with what to install in its place."""
    bare.write(CUDA).write({"/python/torch/version.py": "__version__ = '2.9.0+cpu'\ncuda = None\nhip = None"})
    outcome = bare.examined()["cuda-gpu"]
    assert outcome.found == "1 x NVIDIA H100 80GB HBM3, but torch 2.9.0+cpu cannot use it"
    assert outcome.fix == ["pip uninstall -y torch", "pip install torch"]


def test_a_cuda_gpu_that_is_closed_or_hidden(bare):
    """Device files that this user may not open, and a variable that leaves no GPU."""
    bare.write(CUDA).environment["CUDA_VISIBLE_DEVICES"] = ""
    assert bare.examined()["cuda-gpu"].fix == ["unset CUDA_VISIBLE_DEVICES"]
    bare.closed.add(bare.root / "dev/nvidia0")
    assert "this user may not open" in bare.examined()["cuda-gpu"].found


def test_a_cuda_gpu_beside_an_amd_one(good):
    """With torch for ROCm it is there and not used, which is well."""
    good.write({path: text for path, text in CUDA.items() if "python" not in path})
    found = examine(good.machine())
    assert {o.check: o.found for o in found.checks}["cuda-gpu"].endswith("not used: torch is built for ROCm")
    assert found.verdict.summary == "ready to measure: all is well"


GARBLED = [
    b"",
    b"\x00\xff\xfe",
    b"-1",
    b"99999999999999999999999",
    b"[",
    b"x" * 200_000,
    b"a\nb\nc",
    "\u202e5".encode(),
]


@pytest.mark.parametrize("content", GARBLED)
def test_garbled_files_are_unknown_and_never_a_crash(good, content):
    """Every file of the machine replaced by rubbish: each check still ends, and what cannot be determined is not ok."""
    for path in [path for path in good.root.rglob("*") if path.is_file() and "home" not in path.parts]:
        path.write_bytes(content)
    good.write({"/sys/class/kfd/kfd/topology/nodes/1/properties": "simd_count 4\ndrm_render_minor 128"})
    found = good.examined()
    assert not any(outcome.found.startswith("could not be determined") for outcome in found.values())
    for name in ("power-cap", "performance-level", "huge-pages", "triton", "gpu"):
        assert found[name].status in {"unknown", "fail", "warn"}, name
    text = DoctorTextReporter(80).render(examine(good.machine()))
    assert "\u202e" not in text
    assert "\x00" not in text


@settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.sampled_from(sorted(path for _, _, files, _ in WRONG for path in files)), st.binary(max_size=40))
def test_any_content_of_a_file_gives_a_whole_document(good, path, content):
    """Whatever a file holds, the document keeps to its schema and can be printed."""
    good.write({path: content})
    found = examine(good.machine())
    assert msgspec.json.decode(render(found).encode(), type=Diagnosis) == found
    assert DoctorTextReporter(100).render(found).count("\n") > len(found.checks)


def test_files_that_would_keep_a_reader_waiting_are_not_opened(good):
    """A pipe, a folder or a loop of links where a file should be."""
    for path in ("proc/sys/kernel/numa_balancing", "proc/cmdline"):
        (good.root / path).unlink()
    os.mkfifo(good.root / "proc/sys/kernel/numa_balancing")
    (good.root / "proc/cmdline").symlink_to(good.root / "proc/cmdline")
    found = good.examined()
    assert found["numa-balancing"].status == "unknown"
    assert found["iommu"].status == "unknown"


def test_a_check_that_breaks_does_not_hide_the_others(good):
    """Its outcome is unknown, with the reason."""

    def broken(name):
        raise RuntimeError(name)

    machine = Host(root=good.root, environment=good.environment, packages=[], which=broken)
    found = {outcome.check: outcome for outcome in examine(machine).checks}
    assert found["llvm-tools"].status == "unknown"
    assert "RuntimeError" in found["llvm-tools"].found
    assert found["numa-balancing"].status == "ok"


@pytest.mark.parametrize(
    ("number", "arch"),
    [("90402", "gfx942"), ("90010", "gfx90a"), ("90500", "gfx950"), ("110000", "gfx1100"), ("120001", "gfx1201"),
     ("100300", "gfx1030"), ("90008", "gfx908"), ("0", ""), ("x", ""), ("", ""), ("-90402", ""), ("99999999", "")],
)  # fmt: skip
def test_the_driver_s_number_of_an_architecture(number, arch):
    """As LLVM names them; nothing is made up for nonsense."""
    assert arch_of(number) == arch


def test_caches_that_cannot_be_written_or_are_full(good):
    """Both are told with the variable that moves the cache."""
    good.closed.add(good.root / "home")
    found = good.examined()
    assert found["kprof-cache"].status == found["triton-cache"].status == "warn"
    assert "KPROF_CACHE_DIR" in found["kprof-cache"].fix[0]
    good.closed.clear()
    good.free = 12_000_000
    outcome = good.examined()["triton-cache"]
    assert outcome.status == "warn"
    assert "12 MB free" in outcome.found


def test_the_room_on_a_disk_is_what_the_system_says(tmp_path):
    """Within what others write meanwhile: ``df`` counts the same blocks."""
    said = subprocess.run(["df", "-B1", "--output=avail", tmp_path], capture_output=True, text=True, check=True).stdout
    assert Host().free(tmp_path) == pytest.approx(int(said.split()[-1]), abs=1 << 30)


def test_the_caches_are_those_that_are_used(good, monkeypatch, tmp_path):
    """The same folder as kprof's own store, however the variables name it."""
    from kprof.cache import location

    for environment in ({"KPROF_CACHE_DIR": str(tmp_path / "own")}, {"XDG_CACHE_HOME": str(tmp_path / "xdg")}, {}):
        for name in ("KPROF_CACHE_DIR", "XDG_CACHE_HOME"):
            monkeypatch.delenv(name, raising=False)
        for name, value in (good.environment | environment).items():
            monkeypatch.setenv(name, value)
        tree = good.machine()
        found = {o.check: o for o in examine(Host(tree.root, dict(os.environ), [], tree.which, tree.usable)).checks}
        assert found["kprof-cache"].found.startswith(f"{location.root()},")


def test_nothing_is_written_and_it_is_quick(good):
    """Looking leaves every file as it was, and takes less than a second."""
    before = {path: path.lstat().st_mtime_ns for path in good.root.rglob("*")}
    start = time.process_time()
    good.examined()
    assert time.process_time() - start < 1.0
    assert {path: path.lstat().st_mtime_ns for path in good.root.rglob("*")} == before


def test_every_check_has_a_name_of_its_own_and_its_reason():
    """The folder is the registry: a name each, a reason that ends as a sentence, a known section."""
    names = [check.name for check in checks()]
    assert len(set(names)) == len(names) > 20
    assert all(check.why.endswith(".") for check in checks())
    assert {check.section for check in checks()} == {"software", "gpu", "host", "environment", "disk"}
