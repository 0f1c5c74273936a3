"""Independent computation of occupancy: tables entered a second time, and workgroups placed one after another.

This module uses no code or data of kprof, so a mistake would have to be made twice. Figures: LLVM 22
(AMDGPUBaseInfo.cpp, AMDGPU.td) and, for the LDS granule of gfx10.3 and later, Mesa.
"""

import random
from dataclasses import dataclass, field
from typing import NamedTuple

KIB = 1024
_SMALL = {32: (1024, 16), 64: (512, 8)}
_LARGE = {32: (1536, 24), 64: (768, 12)}


class Machine(NamedTuple):
    """Resource limits of an architecture; ``files`` maps wavefront size to (registers, granule)."""

    slots: int
    simds_per_cu: int
    simds_per_wgp: int
    files: dict[int, tuple[int, int]]
    most_vgprs: int
    lds: int
    lds_granule: int
    sgprs: int | None


def _rdna(files: dict[int, tuple[int, int]]) -> Machine:
    return Machine(16, 2, 4, files, 256, 64 * KIB, 1024, None)


MACHINES = {
    "gfx908": Machine(10, 4, 0, {64: (256, 4)}, 256, 64 * KIB, 512, 800),
    "gfx90a": Machine(8, 4, 0, {64: (512, 8)}, 512, 64 * KIB, 512, 800),
    "gfx942": Machine(8, 4, 0, {64: (512, 8)}, 512, 64 * KIB, 512, 800),
    "gfx950": Machine(8, 4, 0, {64: (512, 8)}, 512, 160 * KIB, 1280, 800),
    **dict.fromkeys(("gfx1030", "gfx1102", "gfx1103", "gfx1150"), _rdna(_SMALL)),
    **dict.fromkeys(("gfx1100", "gfx1101", "gfx1151", "gfx1200", "gfx1201"), _rdna(_LARGE)),
    "gfx1250": Machine(16, 4, 0, {32: (1024, 16)}, 1024, 320 * KIB, 2048, None),
}
BARRIERS_PER_CU = 16


@dataclass
class Simd:
    """Free resources of one SIMD."""

    slots: int
    vector: int
    scalar: int | None

    def take(self, vector: int, scalar: int) -> bool:
        """Place one wavefront if it fits."""
        if not self.slots or self.vector < vector or (self.scalar is not None and self.scalar < scalar):
            return False
        self.slots -= 1
        self.vector -= vector
        if self.scalar is not None:
            self.scalar -= scalar
        return True


@dataclass
class Block:
    """A CU, or a WGP in WGP mode, that is being filled with workgroups."""

    simds: list[Simd]
    lds: int
    barriers: int
    resident: int = field(default=0)

    def place(self, wavefronts: int, vector: int, scalar: int, lds: int) -> bool:
        """Place one workgroup: each wavefront goes to the SIMD with the most free slots that has room."""
        if self.lds < lds or (wavefronts > 1 and not self.barriers):
            return False
        for _ in range(wavefronts):
            if not any(s.take(vector, scalar) for s in sorted(self.simds, key=lambda s: -s.slots)):
                return False
        self.lds -= lds
        self.barriers -= wavefronts > 1
        self.resident += 1
        return True


def resident_workgroups(
    arch: str, *, vgprs: int, sgprs: int, lds: int, wavefronts: int, size: int, wgp: bool
) -> tuple[int, float]:
    """Fill an empty CU or WGP; return the number of workgroups that fit, and the wavefronts per SIMD."""
    machine = MACHINES[arch]
    total, granule = machine.files[size]
    both = wgp and machine.simds_per_wgp > 0
    block = Block(
        [
            Simd(machine.slots, total, machine.sgprs)
            for _ in range(machine.simds_per_wgp if both else machine.simds_per_cu)
        ],
        machine.lds * (2 if both else 1),
        BARRIERS_PER_CU * (2 if both else 1),
    )
    if lds > machine.lds or wavefronts * size > 1024:
        return 0, 0.0
    vector = max(1, (vgprs + granule - 1) // granule) * granule
    scalar = (sgprs + 16 + 15) // 16 * 16
    taken = (lds + machine.lds_granule - 1) // machine.lds_granule * machine.lds_granule
    while block.place(wavefronts, vector, scalar, taken):
        pass
    return block.resident, block.resident * wavefronts / len(block.simds)


def padding(arch: str, size: int, waves: int) -> int:
    """Return the VGPRs that LLVM makes a kernel request so that at most ``waves`` wavefronts fit on a SIMD.

    Not every number can be forced. With blocks of 16 registers, 11 wavefronts need as many registers per wavefront
    as 12; with 256 addressable registers, a SIMD with 1536 registers always holds at least 5. LLVM then forces the
    next possible number.
    """
    machine = MACHINES[arch]
    total, granule = machine.files[size]
    if not waves or waves >= machine.slots:
        return 0
    room = total // waves // granule * granule
    if room == total // machine.slots // granule * granule:
        return 0
    if total // room > waves:
        return padding(arch, size, total // room)
    return min(min(room - granule, total // (waves + 1) // granule * granule) + 1, machine.most_vgprs)


@dataclass(frozen=True)
class Sample:
    """One synthetic kernel: its registers and LDS, and the attributes that the compiler is given."""

    arch: str
    vgpr: int
    agpr: int
    sgpr: int
    lds: int
    sizes: tuple[int, int]
    wavefront: int
    cu_mode: bool
    waves_per_eu: int

    def ir(self) -> str:
        """Return LLVM IR that uses exactly these registers: empty inline assembly clobbers the last of each file."""
        used = [f"~{{{kind}{n - 1}}}" for kind, n in (("v", self.vgpr), ("a", self.agpr), ("s", self.sgpr)) if n]
        lines = [f'  call void asm sideeffect "", "{",".join(used)}"()'] if used else []
        head = ""
        if self.lds:
            head = f"@lds = internal addrspace(3) global [{self.lds} x i8] poison, align 16\n"
            lines.append("  store volatile i8 1, ptr addrspace(3) @lds")
        given = [f'"amdgpu-flat-work-group-size"="{self.sizes[0]},{self.sizes[1]}"']
        if self.waves_per_eu:
            given.append(f'"amdgpu-waves-per-eu"="{self.waves_per_eu},{self.waves_per_eu}"')
        features = [f"+wavefrontsize{self.wavefront}"] if self.arch.startswith("gfx1") else []
        features += ["+cumode"] if self.cu_mode and MACHINES[self.arch].simds_per_wgp else []
        if features:
            given.append(f'"target-features"="{",".join(features)}"')
        body = "\n".join([*lines, "  ret void"])
        attributes = " ".join(["nounwind", *given])
        return f"{head}define amdgpu_kernel void @k() #0 {{\n{body}\n}}\nattributes #0 = {{ {attributes} }}\n"


def samples(arch: str, count: int, seed: int) -> list[Sample]:
    """Return random kernels of an architecture; half of them are one register away from a step of the occupancy."""
    machine, rng = MACHINES[arch], random.Random(f"{arch}/{seed}")
    made = []
    if arch == "gfx908":
        # LDS allows 9 wavefronts here. LLVM 24 pads SGPRs to force that, and overshoots to 8.
        made = [Sample(arch, 16, 0, 8, 5400, (192, 192), 64, cu_mode=False, waves_per_eu=0)]
    if arch == "gfx1100":
        # LDS for ten workgroups: ten workgroups of five wavefronts leave room for a sixth wavefront each; of 22 or 25
        # wavefronts, only two workgroups fit.
        made = [
            Sample(arch, 16, 0, 8, 12288, (160, most), 32, cu_mode=False, waves_per_eu=0) for most in (160, 704, 800)
        ]
    while len(made) < count:
        size = rng.choice(list(machine.files))
        total, granule = machine.files[size]
        vgpr = rng.randint(1, 256)
        if rng.random() < 0.5:
            boundary = total // rng.randint(1, machine.slots) // granule * granule
            vgpr = min(256, max(1, boundary + rng.choice((-1, 0, 1))))
        agpr = rng.choice((0, 0, rng.randint(1, 256))) if machine.sgprs else 0
        sgpr = rng.choice((8, 40, rng.randint(1, 102), rng.randint(75, 102)))
        share = machine.lds // rng.randint(1, 16) + rng.choice((-1, 0, 1))
        lds = min(machine.lds, rng.choice((0, 0, rng.randint(1, machine.lds), share)))
        waves = rng.choice((1, 2, 3, 4, 5, 8, 1024 // size))
        high = min(1024, waves * size)
        low = rng.choice((1, high, rng.randint(1, high)))
        cu_mode = machine.simds_per_wgp > 0 and rng.random() < 0.3
        simds = machine.simds_per_wgp if machine.simds_per_wgp and not cu_mode else machine.simds_per_cu
        asked = 0 if lds else rng.choice((0, 0, rng.randint(-(-waves // simds), machine.slots)))
        made.append(Sample(arch, vgpr, agpr, sgpr, lds, (low, high), size, cu_mode, asked))
    return made
