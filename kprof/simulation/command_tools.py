"""ROCm's command-line tools for a simulated GPU: ``rocm-smi``, ``amd-smi``, ``rocm_agent_enumerator``.

Programs find them on PATH and parse their output to choose their code for AMD. This file runs by itself, with whatever
Python is found first, so it imports only the standard library and nothing of kprof::

    python command_tools.py rocm-smi --showproductname --json

``KPROF_TOOLS`` contains the settings of the recording. Unsupported arguments are reported as an error.
"""

import json
import os
import sys
from collections.abc import Callable, Mapping, Sequence
from typing import Any

VENDOR = "Advanced Micro Devices, Inc. [AMD/ATI]"
_UNKNOWN = "N/A"
_WIDTH = 90
Fields = dict[str, str]


class NotAnsweredError(Exception):
    """The simulated GPU does not support these arguments."""


def rocm_smi(arguments: Sequence[str], gpu: Mapping[str, Any]) -> str:
    """Return the output of ``rocm-smi``, as text or with ``--json``.

    Args:
        arguments: command-line arguments after the program's name.
        gpu: fields of :class:`kprof.simulation.gpu.SimulatedGpu`.

    Raises:
        NotAnsweredError: if an argument is not supported.
    """
    left = list(arguments)
    as_json = "--json" in left
    # Options that select a GPU are ignored, because there is only one.
    shown = [each for each in left if each not in {"--json", "-d", "--device", "0", "--alldevices"}]
    if not shown:
        shown = ["--showproductname"]
    sections: dict[str, Fields] = {}
    system: Fields = {}
    while shown:
        option = shown.pop(0)
        if option in {"--showproductname", "-a", "--showallinfo"}:
            sections["Product Info"] = _product(gpu)
        elif option == "--showmeminfo":
            kinds = [shown.pop(0) for _ in range(len(shown)) if not shown[0].startswith("-")]
            if set(kinds) - {"vram", "all"}:
                raise NotAnsweredError(f"--showmeminfo {' '.join(kinds)}")
            sections["Memory Usage (Bytes)"] = _memory(gpu)
        elif option in {"--showid", "-i"}:
            sections["ID"] = {"Device Name": gpu["name"], "Device ID": _UNKNOWN, "GUID": _UNKNOWN}
        elif option in {"--showuse", "-u"}:
            sections["% time GPU is busy"] = {"GPU use (%)": "0"}
        elif option == "--showmemuse":
            sections["Current Memory Use"] = {"GPU Memory Allocated (VRAM%)": "0"}
        elif option in {"--showuniqueid", "--showbus"}:
            sections["Unique ID"] = {"Unique ID" if option == "--showuniqueid" else "PCI Bus": _UNKNOWN}
        elif option in {"--showdriverversion", "--showversion", "-V"}:
            system["Driver version"] = _UNKNOWN
        else:
            raise NotAnsweredError(option)
    if as_json:
        card = {name: value for fields in sections.values() for name, value in fields.items()}
        return json.dumps({**({"card0": card} if card else {}), **({"system": system} if system else {})})
    lines = ["", _rule("ROCm System Management Interface")]
    for title, fields in sections.items():
        lines += [_rule(title), *(f"GPU[0]\t\t: {name}: \t\t{value}" for name, value in fields.items()), "=" * _WIDTH]
    lines += [f"{name}: {value}" for name, value in system.items()]
    return "\n".join([*lines, _rule("End of ROCm SMI Log")])


def amd_smi(arguments: Sequence[str], gpu: Mapping[str, Any]) -> str:
    """Return the output of ``amd-smi list``, ``static`` or ``version``, as text or with ``--json``.

    The parameters are those of :func:`rocm_smi`.

    Raises:
        NotAnsweredError: if an argument is not supported.
    """
    as_json = "--json" in arguments
    words = [each for each in arguments if each != "--json"]
    command = words.pop(0) if words else "version"
    parts: dict[str, dict[str, Any]] = {
        "asic": {
            "market_name": gpu["name"],
            "vendor_id": "0x1002",
            "vendor_name": VENDOR,
            "device_id": _UNKNOWN,
            "num_compute_units": gpu["compute_units"],
            "target_graphics_version": gpu["arch"],
        },
        "vram": {"type": _UNKNOWN, "vendor": _UNKNOWN, "size": {"value": gpu["memory_bytes"] >> 20, "unit": "MB"}},
    }
    chosen = {"--asic": "asic", "-a": "asic", "--vram": "vram", "-v": "vram"}
    if command == "version" and not words:
        entry: dict[str, Any] = {"tool": "AMDSMI Tool", "version": _UNKNOWN, "rocm_version": _UNKNOWN}
    elif command == "list" and not words:
        entry = {"gpu": 0, "bdf": "0000:00:00.0", "uuid": "00000000-0000-0000-0000-000000000000"}
    elif command == "static" and set(words) <= chosen.keys():
        names = [chosen[word] for word in words] or list(parts)
        entry = {"gpu": 0, **{name: parts[name] for name in names}}
    else:
        raise NotAnsweredError(" ".join(arguments))
    return json.dumps([entry], indent=4) if as_json else "\n".join(_indented(entry, 0))


def rocm_agent_enumerator(arguments: Sequence[str], gpu: Mapping[str, Any]) -> str:
    """Return the architectures of the host's agent and of the GPU, one per line; with ``GPU`` only the GPU's.

    Raises:
        NotAnsweredError: if an argument is not supported.
    """
    if set(arguments) - {"-name", "-t", "GPU"}:
        raise NotAnsweredError(" ".join(arguments))
    return str(gpu["arch"]) if "GPU" in arguments else f"gfx000\n{gpu['arch']}"


TOOLS: Mapping[str, Callable[[Sequence[str], Mapping[str, Any]], str]] = {
    "rocm-smi": rocm_smi,
    "amd-smi": amd_smi,
    "rocm_agent_enumerator": rocm_agent_enumerator,
}
"""Function that returns a tool's output, by the tool's name on PATH."""


def _product(gpu: Mapping[str, Any]) -> Fields:
    return {
        "Card Series": gpu["name"],
        "Card Model": _UNKNOWN,
        "Card Vendor": VENDOR,
        "Card SKU": _UNKNOWN,
        "GFX Version": gpu["arch"],
    }


def _memory(gpu: Mapping[str, Any]) -> Fields:
    return {"VRAM Total Memory (B)": str(gpu["memory_bytes"]), "VRAM Total Used Memory (B)": "0"}


def _rule(title: str) -> str:
    return f" {title} ".center(_WIDTH, "=")


def _indented(entry: Mapping[str, Any], depth: int) -> list[str]:
    lines = []
    for name, value in entry.items():
        if isinstance(value, Mapping) and set(value) != {"value", "unit"}:
            lines += [f"{' ' * 4 * depth}{name.upper()}:", *_indented(value, depth + 1)]
        else:
            text = f"{value['value']} {value['unit']}" if isinstance(value, Mapping) else value
            lines.append(f"{' ' * 4 * depth}{name.upper()}: {text}")
    return lines


def main() -> int:
    """Print the output of the tool that the first argument names; return 2 if an argument is not supported."""
    name, *arguments = sys.argv[1:]
    try:
        gpu = json.loads(os.environ["KPROF_TOOLS"])["device"]
        print(TOOLS[name](arguments, gpu))
    except NotAnsweredError as error:
        print(f"kprof: the simulated GPU does not support {name} {error}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
