"""What is asked of the kernel for namespaces and files, written down: each flag and each right."""

import os
import struct
import sys
from pathlib import Path

import pytest

from kprof.api.live.containment import places

NEW_USER, NEW_PID, NEW_IPC, NEW_NET, NEW_NS = 0x10000000, 0x20000000, 0x08000000, 0x40000000, 0x00020000
EXECUTE, WRITE, READ, READ_DIR = 1, 2, 4, 8
TRUNCATE, CONTROL = 1 << 14, 1 << 15
"""Rights of Landlock as its manual page has them."""


class Asked:
    """A kernel that writes down what it is asked."""

    def __init__(self, *, allows=lambda _flags: True, works=True, version=7):
        self.flags, self.mounts, self.attributes, self.rules = [], [], [], {}
        self._allows, self._works, self._version, self.enforced, self.given = allows, works, version, 0, b""

    def unshare(self, flags):
        self.flags.append(flags)
        return self._allows(flags)

    def mount(self, *arguments):
        self.mounts.append(arguments)
        return self._works

    def set_mount_attributes(self, target, **attributes):
        self.attributes.append((target, attributes))
        return self._works

    def landlock_version(self):
        return self._version

    def landlock_rules(self, attributes):
        self.given = attributes
        return os.open(os.devnull, os.O_RDONLY)

    def landlock_allow(self, _rules, rights, place):
        self.rules[str(Path(f"/proc/self/fd/{place}").readlink())] = rights

    def landlock_enforce(self, _rules):
        self.enforced += 1


@pytest.fixture
def written(monkeypatch):
    """What is written to files of ``/proc``."""
    found = []
    monkeypatch.setattr(Path, "write_text", lambda path, text, **_: found.append((str(path), text)))
    return found


@pytest.mark.parametrize("network", [True, False])
def test_a_user_has_all_namespaces_but_a_network_that_is_left(written, network):
    """With its own number in them, and no way to give groups away."""
    kernel = Asked()
    assert places.enter(kernel, network=network) is True
    assert kernel.flags == [NEW_USER | NEW_PID | NEW_IPC | NEW_NS | (0 if network else NEW_NET)]
    user, group = os.getuid(), os.getgid()
    assert written == [
        ("/proc/self/uid_map", f"{user} {user} 1"),
        ("/proc/self/setgroups", "deny"),
        ("/proc/self/gid_map", f"{group} {group} 1"),
    ]


def test_root_may_have_them_without_those_of_users(written):
    others = NEW_PID | NEW_IPC | NEW_NS | NEW_NET
    kernel = Asked(allows=lambda flags: not flags & NEW_USER)
    assert places.enter(kernel, network=False) is True
    assert kernel.flags == [NEW_USER | others, others]
    assert written == []
    assert places.enter(Asked(allows=lambda _: False), network=False) is False


def test_mounts_are_private_and_read_only(tmp_path):
    """The folder is a mount of its own that can be written, and the processes are the own ones."""
    kernel = Asked()
    places.arrange_mounts(kernel, tmp_path)
    place = str(tmp_path)
    assert kernel.mounts == [
        ("none", "/", "none", (1 << 18) | 16384),
        (place, place, "none", 4096),
        ("proc", "/proc", "proc", 2 | 4 | 8),
    ]
    assert kernel.attributes == [("/", {"add": 1 | 2, "recursive": True}), (place, {"remove": 1})]
    kernel = Asked(works=False)
    places.arrange_mounts(kernel, tmp_path)
    assert [arguments[1] for arguments in kernel.mounts] == ["/", place, "/proc"]
    assert kernel.attributes == []


RIGHTS = {1: 13, 2: 14, 3: 15, 4: 15, 5: 16, 6: 16, 7: 16}
"""Rights on files that each version of Landlock has: refer, truncate and control of devices came later."""


@pytest.mark.parametrize("version", RIGHTS)
def test_rights_are_those_of_the_version(tmp_path, version):
    """All are limited; of TCP none is, as there are no sockets; what a signal and a nameless socket reach is."""
    kernel = Asked(version=version)
    places.limit(kernel, tmp_path, network=False)
    every = (1 << RIGHTS[version]) - 1
    words = struct.unpack(f"{len(kernel.given) // 8}Q", kernel.given)
    assert words == (every, *((0,) if version >= 4 else ()), *((3,) if version >= 6 else ()))
    assert kernel.rules[str(tmp_path)] == every
    assert kernel.rules["/dev/null"] == every & (WRITE | READ | CONTROL)
    assert kernel.rules["/usr"] == EXECUTE | READ | READ_DIR
    assert kernel.enforced == 1


def test_a_file_has_no_rights_of_a_folder(tmp_path):
    kernel = Asked()
    places.limit(kernel, tmp_path, network=False)
    assert kernel.rules["/etc/passwd"] == EXECUTE | READ
    assert kernel.rules["/proc/cpuinfo"] == EXECUTE | READ
    file = tmp_path / "file"
    file.touch()
    kernel = Asked()
    places.limit(kernel, file, network=False)
    assert kernel.rules[str(file)] == EXECUTE | WRITE | READ | TRUNCATE | CONTROL


def test_what_is_read_and_what_is_not(tmp_path, monkeypatch):
    """The lists of the module, as far as the system has them; names of the network where it is left."""
    library = tmp_path / "library"
    library.mkdir()
    monkeypatch.setattr(sys, "path", ["", str(library), "/", "/tmp", "/var/tmp"])
    found = {}
    for network in (False, True):
        kernel = Asked()
        places.limit(kernel, tmp_path / "inside", network=network)
        found[network] = kernel.rules
    there = {str(Path(path).resolve()) for path in places.SYSTEM if Path(path).exists()}
    there |= {str(Path(path).resolve()) for path in places.DEVICES}
    there |= {str(Path(path).resolve()) for path in (sys.prefix, sys.base_prefix)} | {str(library)}
    assert there <= set(found[False])
    for path in ("/", "/tmp", "/var/tmp", "/etc", "/etc/shadow", "/proc", "/sys", "/dev", "/home", "/root", "/dev/shm"):
        assert path not in found[False]
    more = {str(Path(path).resolve()) for path in places.FOR_NETWORK if Path(path).exists()}
    assert set(found[True]) - set(found[False]) == more - set(found[False])
    expected = {
        *("/usr", "/lib", "/lib64", "/bin", "/opt", "/etc/ld.so.cache", "/etc/ld.so.conf", "/etc/ld.so.conf.d"),
        *("/etc/localtime", "/etc/timezone", "/etc/passwd", "/etc/group", "/etc/nsswitch.conf", "/etc/os-release"),
        *("/etc/alternatives", "/etc/mime.types", "/proc/self", "/proc/cpuinfo", "/proc/meminfo", "/proc/stat"),
        *("/proc/version", "/proc/filesystems", "/proc/sys/vm", "/proc/sys/kernel/osrelease", "/proc/loadavg"),
        *("/proc/sys/kernel/ngroups_max", "/proc/uptime", "/sys/devices/system"),
        "/sys/kernel/mm/transparent_hugepage",
    }
    assert set(places.SYSTEM) == expected
    assert set(places.DEVICES) == {"/dev/null", "/dev/zero", "/dev/urandom", "/dev/random"}
    assert set(places.FOR_NETWORK) == {
        *("/etc/resolv.conf", "/etc/hosts", "/etc/host.conf", "/etc/gai.conf", "/etc/services", "/etc/protocols"),
        *("/etc/ssl/certs", "/etc/ssl/openssl.cnf", "/etc/pki/tls/certs", "/etc/ca-certificates"),
        "/run/systemd/resolve",
    }


def test_a_user_without_an_entry_has_a_home_all_the_same(monkeypatch):
    """As in a container that runs with any number: root's home is not opened then."""
    import pwd

    def nobody(_user):
        raise KeyError

    monkeypatch.setattr(pwd, "getpwuid", nobody)
    assert places._is_too_wide(Path("/root")) is True
    assert places._is_too_wide(Path("/usr/lib")) is False
