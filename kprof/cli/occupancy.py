"""``kprof occupancy``: how many wavefronts a SIMD holds, and what to give up for more."""

from typing import TYPE_CHECKING, Annotated, Any

import typer

from kprof.cli._compile_options import CaseOption, ConstexprOption, SignatureOption, compile_options
from kprof.cli.common import ArchOption, ConfigOption, JsonOption, NoColorOption, QuietOption, ShapeOption
from kprof.errors import KprofError
from kprof.inputs.assignments import listed
from kprof.output.writing import print_styled, write_output

if TYPE_CHECKING:
    from kprof.reporters.occupancy import Entry
    from kprof.targets.options import Options
    from kprof_analyzers.occupancy import OccupancyInput

HELP = "Wavefronts per SIMD, what limits them, and what to give up for more."

CANNOT_LAUNCH = 1
_CURVES = {"vgpr": "VGPRs", "lds": "bytes of LDS", "num-warps": "waves per workgroup"}
_UNITS = {"": 1, "B": 1, "K": 1024, "KB": 1024, "KIB": 1024, "M": 1024**2, "MB": 1024**2, "MIB": 1024**2}

CurveOption = Annotated[
    str | None, typer.Option("--curve", help="Draw occupancy over vgpr, lds or num-warps.", metavar="RESOURCE")
]


def command(
    target: Annotated[
        str | None,
        typer.Argument(
            metavar="[TARGET]",
            help="A bundled kernel, FILE.py::FUNCTION, an .amdgcn or .s file, a .hsaco or .co file. "
            "Numbers given as options take the place of the target's.",
        ),
    ] = None,
    arch: ArchOption = "",
    vgpr: Annotated[int | None, typer.Option("--vgpr", help="VGPRs of a wavefront, per lane.")] = None,
    agpr: Annotated[int | None, typer.Option("--agpr", help="AGPRs of a wavefront, per lane.")] = None,
    sgpr: Annotated[int | None, typer.Option("--sgpr", help="SGPRs of a wavefront, as in .sgpr_count.")] = None,
    lds: Annotated[
        str | None, typer.Option("--lds", help="LDS of a workgroup: bytes, or 32K.", metavar="BYTES")
    ] = None,
    num_warps: Annotated[int | None, typer.Option("--num-warps", help="Wavefronts of a workgroup [4].")] = None,
    wavefront_size: Annotated[int | None, typer.Option("--wavefront-size", help="32 or 64 lanes.")] = None,
    mode: Annotated[str | None, typer.Option("--mode", help="wgp or cu, on RDNA.")] = None,
    method: Annotated[
        str, typer.Option("--method", help="hardware, llvm (what the compiler prints) or guide (AMD's formula).")
    ] = "hardware",
    llvm: Annotated[int | None, typer.Option("--llvm", help="LLVM's major version, for --method llvm.")] = None,
    curve: CurveOption = None,
    config: ConfigOption = [],
    shape: ShapeOption = [],
    case: CaseOption = None,
    signature: SignatureOption = None,
    constexpr: ConstexprOption = [],
    json: JsonOption = None,
    quiet: QuietOption = False,
    no_color: NoColorOption = False,
) -> None:
    """Wavefronts per SIMD from numbers or for a kernel, what limits them, and what to give up for more.

    kprof occupancy --arch gfx942,gfx950 --vgpr 128 --lds 32K --num-warps 4

    Exits with 1 when the kernel cannot be launched at all.
    """
    if curve is not None and curve not in _CURVES:
        raise KprofError(f"--curve takes {', '.join(_CURVES)}, got {curve!r}")
    given = {
        "vgpr": vgpr,
        "agpr": agpr,
        "sgpr": sgpr,
        "lds_bytes": None if lds is None else _bytes(lds),
        "num_warps": num_warps,
        "wavefront_size": wavefront_size,
        "mode": mode,
    }
    numbers = {name: value for name, value in given.items() if value is not None}
    if target is None:
        demands = _from_numbers(arch, numbers)
    else:
        options = compile_options(
            arch=arch, config=config, shape=shape, case=case, signature=signature, constexpr=constexpr
        )
        demands = _from_target(target, options, numbers)
    results = [_result(title, product, demand, method, llvm, curve) for title, product, demand in demands]
    _show(results, json=json, quiet=quiet, no_color=no_color)
    if any(entry.problems for entry, _ in results):
        raise typer.Exit(CANNOT_LAUNCH)


def _from_numbers(arch: str, numbers: dict[str, Any]) -> "list[tuple[str, str, OccupancyInput]]":
    from kprof.hardware.machine import find_product, load
    from kprof_analyzers.occupancy import OccupancyInput

    names = listed(arch)
    if not names:
        raise KprofError("--arch is missing", hint="For example: kprof occupancy --arch gfx942 --vgpr 128")
    if "vgpr" not in numbers:
        raise KprofError("--vgpr is missing", hint="Or name a kernel: kprof occupancy flash_attention --arch gfx942")
    found = []
    for name in names:
        product = find_product(name)
        found.append(("", product.name if product else "", OccupancyInput(load(name), **numbers)))
    return found


def _from_target(target: str, options: "Options", numbers: dict[str, Any]) -> "list[tuple[str, str, OccupancyInput]]":
    from kprof.targets.resolver import load

    found = []
    for kernel in load(target, options):
        product = kernel.product.name if kernel.product is not None else ""
        found.append((kernel.name, product, _demand_of(kernel, numbers)))
    if not found:
        raise KprofError("no kernel in it", path=target)
    return found


def _demand_of(kernel: Any, numbers: dict[str, Any]) -> "OccupancyInput":
    """A compiled kernel's demand, with numbers from the command line in place of its own."""
    from dataclasses import replace

    from kprof_analyzers.occupancy import from_registers

    shared = kernel.metadata.get("shared", kernel.shared_bytes)
    warps = kernel.metadata.get("num_warps", kernel.num_warps)
    for name, value, option in (("LDS", shared, "lds_bytes"), ("wavefronts of a workgroup", warps, "num_warps")):
        if value is None and option not in numbers:
            flag = "--lds" if option == "lds_bytes" else "--num-warps"
            raise KprofError(
                f"the {name} that the launch asks for is not in the input", path=kernel.name, hint=f"Give {flag}."
            )
    demand = from_registers(
        kernel.program.registers,
        kernel.arch,
        lds_bytes=numbers.get("lds_bytes", shared),
        num_warps=numbers.get("num_warps", warps),
    )
    if {"vgpr", "agpr"} & numbers.keys():
        # Other registers mean another compile: the padding of this one says nothing about it.
        demand = replace(demand, padded_vgpr=None, padded_sgpr=None)
    return replace(demand, **numbers)


def _result(
    title: str, product: str, demand: "OccupancyInput", method: str, llvm: int | None, curve: str | None
) -> "tuple[Entry, dict[str, Any]]":
    """What is shown, and what goes into the JSON document."""
    from msgspec import to_builtins

    from kprof.reporters.occupancy import Entry
    from kprof_analyzers.occupancy import occupancy
    from kprof_analyzers.occupancy.problems import launch_problems

    found = occupancy(demand, method, llvm)
    problems = launch_problems(demand)
    notes = _notes(demand, method, llvm)
    plateaus = _curve(demand, curve) if curve else []
    entry = Entry(
        title=title,
        target=f"{demand.arch.name} · {product}" if product else demand.arch.name,
        demand=_words(demand),
        block="WGP" if demand.block == "wgp" else "CU",
        occupancy=found,
        problems=problems,
        notes=notes,
        curve=plateaus,
        curve_of=_CURVES[curve] if curve else "",
    )
    record = {
        **({"name": title} if title else {}),
        "arch": demand.arch.name,
        **({"product": product} if product else {}),
        "resources": _resources(demand),
        "occupancy": to_builtins(found),
        "launch_problems": problems,
        "notes": notes,
    }
    if curve:
        points = [
            {"first": p.first, "last": p.last, "waves_per_simd": p.waves_per_simd, "limiter": p.limiter}
            for p in plateaus
        ]
        record["curve"] = {"over": curve, "points": points}
    return entry, record


def _curve(demand: "OccupancyInput", resource: str) -> list[Any]:
    from kprof_analyzers.occupancy.curve import curve

    return curve(demand, resource)


def _notes(demand: "OccupancyInput", method: str, llvm: int | None) -> list[str]:
    """What to know about a method that is not the hardware's."""
    if method == "llvm":
        from kprof_analyzers.occupancy.llvm import ROUNDING_LLVM

        return [f"as LLVM {llvm or ROUNDING_LLVM} counts, for 1 to {demand.num_warps} waves a workgroup"]
    if method != "guide":
        return []
    from kprof.reporters._console_text import waves
    from kprof_analyzers.occupancy import guide, occupancy

    notes = []
    reasons = guide.differences(demand)
    if reasons:
        real = waves(occupancy(demand).waves_per_simd)
        notes.append(f"the hardware holds {real}: {'; '.join(reasons)}")
    ranges = [
        f"{first}-{last} VGPRs: {real}, not {said}" for first, last, real, said in guide.vgpr_differences(demand.arch)
    ]
    notes.append(
        f"the guide is wrong for {'; '.join(ranges)}" if ranges else "the guide's VGPR rounding agrees everywhere"
    )
    return notes


def _words(demand: "OccupancyInput") -> str:
    parts = [f"{demand.vgpr} VGPR"]
    if demand.vgpr_allocated > max(demand.vgpr, demand.vgpr_total):
        parts[0] += f" ({demand.vgpr_allocated} allocated)"
    parts += [f"{demand.agpr} AGPR"] if demand.agpr else []
    parts += [f"{demand.sgpr} SGPR"] if demand.sgpr else []
    parts.append(f"{demand.lds_bytes:,} B LDS")
    waves = "wave" if demand.num_warps == 1 else "waves"
    parts.append(f"{demand.num_warps} {waves} of {demand.size} lanes a workgroup")
    if len(demand.arch.occupancy.modes) > 1:
        parts.append(f"{demand.block.upper()} mode")
    return ", ".join(parts)


def _resources(demand: "OccupancyInput") -> dict[str, Any]:
    return {
        "vgpr": demand.vgpr,
        "agpr": demand.agpr,
        "sgpr": demand.sgpr,
        "vgpr_allocated": demand.vgpr_allocated,
        "lds_bytes": demand.lds_bytes,
        "lds_limit_bytes": demand.arch.lds.bytes_per_workgroup,
        "num_warps": demand.num_warps,
        "wavefront_size": demand.size,
        "mode": demand.block,
    }


def _show(results: "list[tuple[Entry, dict[str, Any]]]", *, json: str | None, quiet: bool, no_color: bool) -> None:
    entries = [entry for entry, _ in results]
    verdict = _verdict(entries)
    if json:
        from msgspec.json import encode
        from msgspec.json import format as indent

        from kprof.version import __version__

        status = "regression" if any(e.problems for e in entries) else "ok"
        document = {
            "schema": "kprof.occupancy/1",
            "kprof": __version__,
            "kernels": [record for _, record in results],
            "verdict": {"status": status, "summary": verdict},
        }
        write_output(json, indent(encode(document), indent=2).decode())
    if json == "-":
        return
    from kprof.reporters import occupancy as text

    lines = [verdict]
    if not quiet:
        style = text.Style(no_color=no_color)
        lines = [*(text.single(entries[0], style) if len(entries) == 1 else text.table(entries, style)), verdict]
    print_styled("\n".join(lines) + "\n")


def _verdict(entries: "list[Entry]") -> str:
    from kprof.reporters._console_text import limiter, waves

    if len(entries) == 1:
        entry, found = entries[0], entries[0].occupancy
        if entry.problems:
            return f"{entry.target}: cannot launch: {entry.problems[0]}"
        number = f"{waves(found.waves_per_simd)} of {found.max_waves_per_simd} waves per SIMD"
        return f"{entry.target}: {number}, limited by {limiter(found.limiter)}"
    same = len({e.title for e in entries}) == 1
    words = []
    for entry in entries:
        label = entry.target if same else f"{entry.title} {entry.target}"
        words.append(f"{label} {'cannot launch' if entry.problems else waves(entry.occupancy.waves_per_simd)}")
    return f"waves per SIMD: {', '.join(words)}"


def _bytes(text: str) -> int:
    """``32768``, ``32K``, ``32KiB``."""
    plain = text.strip().upper().replace(",", "").replace("_", "")
    digits = plain.rstrip("BKMI")
    unit = _UNITS.get(plain[len(digits) :].strip())
    if not (digits.strip().isdecimal() and digits.isascii()) or unit is None or len(digits) > 20:
        raise KprofError(f"--lds takes bytes such as 32768 or 32K, got {text!r}")
    return int(digits) * unit
