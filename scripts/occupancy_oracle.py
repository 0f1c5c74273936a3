"""A second opinion on occupancy: tables typed in again and workgroups placed one after another.

Nothing of kprof is used here, and nothing is shared with it: a mistake would have to be made twice.
Figures: LLVM 22 (AMDGPUBaseInfo.cpp, AMDGPU.td) and, for the LDS granule of gfx10.3 and later, Mesa.
"""

import random
from dataclasses import dataclass, field
from typing import Any

# name: wave slots, SIMDs a CU, SIMDs a WGP, {wavefront: (registers, granule)}, unified, LDS a CU, LDS a workgroup,
# LDS granule of the hardware, scalar registers, workgroups a CU
_CDNA = (4, 0)
_RDNA = (2, 4)
_SMALL = {32: (1024, 16), 64: (512, 8)}
_LARGE = {32: (1536, 24), 64: (768, 12)}
KIB = 1024
MACHINES: dict[str, tuple[Any, ...]] = {
    "gfx908": (10, *_CDNA, {64: (256, 4)}, False, 64 * KIB, 64 * KIB, 512, 800, 16),
    "gfx90a": (8, *_CDNA, {64: (512, 8)}, True, 64 * KIB, 64 * KIB, 512, 800, 16),
    "gfx942": (8, *_CDNA, {64: (512, 8)}, True, 64 * KIB, 64 * KIB, 512, 800, 16),
    "gfx950": (8, *_CDNA, {64: (512, 8)}, True, 160 * KIB, 160 * KIB, 1280, 800, 16),
    "gfx1030": (16, *_RDNA, _SMALL, False, 64 * KIB, 64 * KIB, 1024, None, 16),
    "gfx1100": (16, *_RDNA, _LARGE, False, 64 * KIB, 64 * KIB, 1024, None, 16),
    "gfx1101": (16, *_RDNA, _LARGE, False, 64 * KIB, 64 * KIB, 1024, None, 16),
    "gfx1102": (16, *_RDNA, _SMALL, False, 64 * KIB, 64 * KIB, 1024, None, 16),
    "gfx1103": (16, *_RDNA, _SMALL, False, 64 * KIB, 64 * KIB, 1024, None, 16),
    "gfx1150": (16, *_RDNA, _SMALL, False, 64 * KIB, 64 * KIB, 1024, None, 16),
    "gfx1151": (16, *_RDNA, _LARGE, False, 64 * KIB, 64 * KIB, 1024, None, 16),
    "gfx1200": (16, *_RDNA, _LARGE, False, 64 * KIB, 64 * KIB, 1024, None, 16),
    "gfx1201": (16, *_RDNA, _LARGE, False, 64 * KIB, 64 * KIB, 1024, None, 16),
    "gfx1250": (16, *_CDNA, {32: (1024, 16)}, False, 320 * KIB, 320 * KIB, 2048, None, 16),
}


@dataclass
class Simd:
    """What is left on one SIMD."""

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
    """A CU, or a WGP in WGP mode, that is being filled."""

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
    """Fill an empty CU or WGP; workgroups that fit, and wavefronts a SIMD."""
    slots, in_cu, in_wgp, files, _, lds_cu, lds_most, lds_granule, scalars, barriers = MACHINES[arch]
    total, granule = files[size]
    both = bool(wgp and in_wgp)
    block = Block(
        [Simd(slots, total, scalars) for _ in range(in_wgp if both else in_cu)],
        lds_cu * (2 if both else 1),
        barriers * (2 if both else 1),
    )
    if lds > lds_most or wavefronts * size > 1024:
        return 0, 0.0
    vector = max(1, (vgprs + granule - 1) // granule) * granule
    scalar = (sgprs + 16 + 15) // 16 * 16
    taken = (lds + lds_granule - 1) // lds_granule * lds_granule
    while block.place(wavefronts, vector, scalar, taken):
        pass
    return block.resident, block.resident * wavefronts / len(block.simds)


def padding(arch: str, size: int, waves: int) -> int:
    """VGPRs that LLVM makes a kernel ask for so that no more than so many wavefronts fit on a SIMD.

    Not every number can be forced: with blocks of 16 registers 11 wavefronts have no more room than 12, and with 256
    addressable registers a SIMD with 1536 always holds 5. LLVM then forces the next number that can be.
    """
    slots, _, _, files, unified, *_ = MACHINES[arch]
    total, granule = files[size]
    if not waves or waves >= slots:
        return 0
    room = total // waves // granule * granule
    if room == total // slots // granule * granule:
        return 0
    if total // room > waves:
        return padding(arch, size, total // room)
    most = 1024 if arch == "gfx1250" else 512 if unified else 256
    return min(min(room - granule, total // (waves + 1) // granule * granule) + 1, most)


@dataclass(frozen=True)
class Sample:
    """One synthetic kernel: what its code uses, and the attributes that the compiler is given."""

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
        """LLVM IR that uses exactly these registers: an empty piece of assembly that clobbers the last of each."""
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
        features += ["+cumode"] if self.cu_mode and MACHINES[self.arch][2] else []
        if features:
            given.append(f'"target-features"="{",".join(features)}"')
        body = "\n".join([*lines, "  ret void"])
        return f"{head}define amdgpu_kernel void @k() #0 {{\n{body}\n}}\nattributes #0 = {{ nounwind {' '.join(given)} }}\n"


def samples(arch: str, count: int, seed: int) -> list[Sample]:
    """Random kernels of an architecture, half of them one register beside a boundary of the register file."""
    slots, in_cu, in_wgp, files, unified, _, lds_most, lds_granule, scalars, _ = MACHINES[arch]
    rng = random.Random(f"{arch}/{seed}")
    made = []
    if arch == "gfx908":
        # LDS allows 9 wavefronts here. LLVM 24 pads SGPRs to force that, and overshoots to 8.
        made = [Sample(arch, 16, 0, 8, 5400, (192, 192), 64, cu_mode=False, waves_per_eu=0)]
    while len(made) < count:
        wavefront = rng.choice(list(files))
        total, granule = files[wavefront]
        vgpr = rng.randint(1, 256)
        if rng.random() < 0.5:
            vgpr = min(256, max(1, total // rng.randint(1, slots) // granule * granule + rng.choice((-1, 0, 1))))
        agpr = rng.choice((0, 0, rng.randint(1, 256))) if scalars else 0
        sgpr = rng.choice((8, 40, rng.randint(1, 102), rng.randint(75, 102)))
        lds = rng.choice((0, 0, rng.randint(1, lds_most), lds_most // rng.randint(1, 16) + rng.choice((-1, 0, 1))))
        lds = min(lds, lds_most)
        waves = rng.choice((1, 2, 3, 4, 5, 8, 1024 // wavefront))
        high = min(1024, waves * wavefront)
        low = rng.choice((1, high, rng.randint(1, high)))
        cu_mode = bool(in_wgp) and rng.random() < 0.3
        simds = in_wgp if in_wgp and not cu_mode else in_cu
        least = -(-waves // simds)
        asked = rng.choice((0, 0, rng.randint(least, slots))) if not lds else 0
        made.append(Sample(arch, vgpr, agpr, sgpr, lds, (low, high), wavefront, cu_mode, asked))
    return made
