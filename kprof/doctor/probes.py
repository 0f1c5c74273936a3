"""Values of settings that no single file tells."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from kprof.doctor.host import Host

_FIRST = 0x100
_ACS = 0x0D
_CONTROL = 6
_SOURCE_VALIDATION = 1
_MOST = 4096


@dataclass(frozen=True)
class Probed:
    """What was found.

    Attributes:
        value: as rules name it; ``None`` when it is not known.
        words: what to say.
        devices: PCI addresses that are set otherwise than wanted, for the fix.
    """

    value: str | None
    words: str
    devices: tuple[str, ...] = ()


def acs(machine: Host) -> Probed:
    """Whether PCIe access control checks the sources of requests (``SrcValid+`` of ``lspci -vvv``) anywhere.

    It stands behind the first 64 bytes of a device's configuration, which only root may read.
    """
    on: list[str] = []
    hidden = 0
    devices = machine.entries("/sys/bus/pci/devices")
    for device in devices:
        data = machine.data(device / "config") or b""
        if len(data) <= _FIRST:
            # All of a conventional PCI device has just that size.
            hidden += len(data) < _FIRST
            continue
        control = _acs_control(data)
        if control is not None and control & _SOURCE_VALIDATION:
            on.append(device.name)
    if on:
        return Probed("on", f"source validation is on for {len(on)} PCI device{'s' * (len(on) > 1)}", tuple(on))
    if hidden or not devices:
        return Probed(None, "only root may read it: sudo lspci -vvv | grep -i 'acsctl.*srcvalid+'")
    return Probed("off", "off")


def _acs_control(data: bytes) -> int | None:
    """The control register of the access control capability; ``None`` where there is no such capability."""
    offset, seen = _FIRST, set()
    while _FIRST <= offset <= min(len(data), _MOST) - _CONTROL - 2 and offset not in seen:
        seen.add(offset)
        header = int.from_bytes(data[offset : offset + 4], "little")
        if header & 0xFFFF == _ACS:
            return int.from_bytes(data[offset + _CONTROL : offset + _CONTROL + 2], "little")
        offset = header >> 20
    return None


def gpus(machine: Host) -> Probed:
    """How many GPUs a collective can be over; partitions of one count once."""
    count = len(machine.devices)
    return Probed(str(count), f"{count}") if count else Probed(None, "the driver lists none")


PROBES: Mapping[str, Callable[[Host], Probed]] = {"acs": acs, "gpus": gpus}
