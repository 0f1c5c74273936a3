"""Machines made of files: one that is set up as it should be, and ways to change it."""

import pytest

from kprof.doctor import Host, examine

GPU = "/sys/devices/pci0000:00/0000:{:02x}:00.0"
VERSION = "__version__ = '2.8.0+rocm6.4'\ncuda: Optional[str] = None\nhip: Optional[str] = '6.4.43482'\n"


def good_files(gpus=2):
    """Files of a machine with some MI300X, all as AMD's guide asks."""
    files = {
        "/proc/cmdline": "BOOT_IMAGE=/vmlinuz root=/dev/sda1 pci=realloc=off iommu=pt quiet",
        "/proc/cpuinfo": "vendor_id\t: AuthenticAMD",
        "/proc/sys/kernel/numa_balancing": "0",
        "/proc/sys/kernel/osrelease": "6.8.0-60-generic",
        "/sys/module/amdgpu/version": "6.12.12",
        "/sys/kernel/mm/transparent_hugepage/enabled": "always [madvise] never",
        "/opt/rocm/.info/version": "6.4.1-83",
        "/opt/rocm/bin/rocprofv3": "",
        "/opt/rocm/llvm/bin/llvm-objdump": "",
        "/opt/rocm/llvm/lib/clang/19/include/a.h": "",
        "/opt/rocm/llvm/bin/clang++": "",
        "/dev/kfd": "",
        "/python/triton/__init__.py": "__version__ = '3.4.0'\n",
        "/python/triton/backends/amd/compiler.py": "",
        "/python/pytorch_triton_rocm-3.4.0.dist-info/METADATA": "",
        "/python/torch/version.py": VERSION,
        "/python/torch-2.8.0+rocm6.4.dist-info/METADATA": "",
        "/sys/class/kfd/kfd/topology/nodes/0/properties": "cpu_cores_count 96\nsimd_count 0\ngfx_target_version 0\n",
    }
    for cpu in range(4):
        files[f"/sys/devices/system/cpu/cpu{cpu}/cpufreq/scaling_governor"] = "performance"
        for number, (name, disabled) in enumerate((("POLL", 0), ("C1", 0), ("C2", 1))):
            state = f"/sys/devices/system/cpu/cpu{cpu}/cpuidle/state{number}"
            files |= {f"{state}/name": name, f"{state}/disable": str(disabled)}
    for number in range(gpus):
        files |= _gpu_files(number)
    return files


def _gpu_files(number):
    device, minor = GPU.format(number + 1), 128 + number
    node = f"/sys/class/kfd/kfd/topology/nodes/{number + 1}/properties"
    return {
        f"{device}/vendor": "0x1002",
        f"{device}/class": "0x120000",
        f"{device}/product_name": "AMD Instinct MI300X",
        f"{device}/current_compute_partition": "SPX",
        f"{device}/current_memory_partition": "NPS1",
        f"{device}/power_dpm_force_performance_level": "auto",
        f"{device}/current_link_speed": "32.0 GT/s PCIe",
        f"{device}/max_link_speed": "32.0 GT/s PCIe",
        f"{device}/current_link_width": "16",
        f"{device}/max_link_width": "16",
        f"{device}/hwmon/hwmon{number}/power1_cap": "750000000",
        f"{device}/hwmon/hwmon{number}/power1_cap_default": "750000000",
        node: f"simd_count 1216\ngfx_target_version 90402\ndrm_render_minor {minor}\nvendor_id 4098\n",
        f"/dev/dri/renderD{minor}": "",
    }


class Tree:
    """A machine's files in a folder of the test."""

    def __init__(self, root):
        self.root = root
        self.environment = {"HOME": str(root / "home"), "HIP_FORCE_DEV_KERNARG": "1"}
        self.programs = {}
        self.closed = set()
        self.free = 80_000_000_000

    def write(self, files):
        """Add or replace files; ``None`` removes one."""
        for path, content in files.items():
            full = self.root / path.lstrip("/")
            if content is None:
                full.unlink(missing_ok=True)
                continue
            full.parent.mkdir(parents=True, exist_ok=True)
            full.write_bytes(content if isinstance(content, bytes) else f"{content}\n".encode())
        return self

    def link(self):
        """The links of sysfs: PCI devices on the bus, and render nodes to their devices."""
        for device in sorted(self.root.glob("sys/devices/pci0000:00/*")):
            number = int(device.name.split(":")[1], 16) - 1
            for link in (f"sys/bus/pci/devices/{device.name}", f"sys/class/drm/renderD{128 + number}/device"):
                place = self.root / link
                place.parent.mkdir(parents=True, exist_ok=True)
                place.symlink_to(device)
        return self

    def machine(self):
        """The machine as the checks see it."""
        return Host(
            root=self.root,
            environment=self.environment,
            packages=[self.root / "python", self.root / "python2"],
            which=self.programs.get,
            usable=lambda path: path.exists() and path not in self.closed,
            free=lambda path: self.free,
        )

    def examined(self):
        """Check name to outcome."""
        return {outcome.check: outcome for outcome in examine(self.machine()).checks}


@pytest.fixture
def bare(tmp_path):
    """A machine with no file at all but a home."""
    (tmp_path / "home").mkdir()
    return Tree(tmp_path)


@pytest.fixture
def eight(bare):
    """A node of eight MI300X, set up as AMD's guides ask."""
    return bare.write(good_files(8)).link()


@pytest.fixture
def good(bare):
    """A machine with two MI300X, set up as AMD's guide asks."""
    return bare.write(good_files()).link()
