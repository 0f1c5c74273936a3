"""KP409 far-from-speed-of-light."""

from collections.abc import Iterable, Sequence
from typing import ClassVar

from kprof.analysis import KernelFacts
from kprof.document import LoopPrediction, Prediction
from kprof.findings import Finding, Severity
from kprof.inputs.amdgcn import Instruction, InstructionClass
from kprof.output.quantities import duration
from kprof_analyzers.rules.rule import Need, Rule, known
from kprof_analyzers.scheduling.loops import own_instructions
from kprof_analyzers.source_lines import busiest, location_of

_FAR = 2.0
_LAUNCH = "launch"
_WORDS = {
    "matrix": ("matrix units", (InstructionClass.MATRIX,)),
    "vector": ("vector units", (InstructionClass.VALU,)),
    "lds": ("LDS", (InstructionClass.LDS,)),
    "memory latency": ("waiting for memory", (InstructionClass.VMEM,)),
    "memory bandwidth": ("memory bandwidth", (InstructionClass.VMEM,)),
    "barrier": ("barriers", (InstructionClass.BARRIER,)),
    "issue": ("issuing instructions", (InstructionClass.VALU, InstructionClass.SALU)),
    "scratch": ("spilled registers", (InstructionClass.SCRATCH,)),
}


class FarFromSpeedOfLight(Rule):
    """According to the model the kernel could run at least twice as fast, and no other rule explains the difference.

    ## What it does
    Compares the predicted time, minus that of an empty launch, with the speed of light: the time to move every byte
    once at peak memory bandwidth, or to do all matrix work at peak rate, whichever is longer. Reports a factor of at
    least two if no other finding accounts for a tenth of the time. The finding names the cause of most of the time, and
    the source line with most of the instructions that contribute to this cause.

    ## Why it matters
    A kernel without findings is not necessarily fast. The model simulates every instruction, so it can attribute the
    time even if no rule knows the pattern.

    ## Evidence
    `time_us`; `launch_us`: time of an empty launch, included in `time_us`; `speed_of_light_us`. `cause` and its `share`
    of the time. `loop`: the loop in which most of the time is spent; null in straight-line code.

    ## What to try
    It depends on the cause. *Waiting for memory*: use more wavefronts, more loads in flight, or a larger tile. *Memory
    bandwidth*: move each byte once, in long runs of adjacent bytes, and with instructions that move many bytes. *Vector
    units*: do less work per element; use matrix instructions for products. *Issue* (of instructions): do not recompute
    addresses and masks. *Barriers*, *LDS*: use fewer passes through LDS, and reductions inside a wavefront.
    `kprof analyze kernel -v` shows cycles by loop and line.
    """

    id: ClassVar[str] = "KP409"
    name: ClassVar[str] = "far-from-speed-of-light"
    severity: ClassVar[Severity] = Severity.NOTE
    needs: ClassVar[tuple[Need, ...]] = (Need.PREDICTION,)
    last_resort: ClassVar[bool] = True

    def check(self, facts: KernelFacts) -> Iterable[Finding]:
        """See :meth:`Rule.check`."""
        prediction = known(facts.prediction)
        time, light = prediction.time_us, prediction.speed_of_light_us
        if time is None or not light:
            return
        launch = time * prediction.shares.get(_LAUNCH, 0.0)
        shares = {cause: share for cause, share in prediction.shares.items() if cause in _WORDS}
        if time - launch < _FAR * light or not shares:
            return
        cause, share = max(shares.items(), key=lambda item: item[1])
        loop = _loop(facts, prediction, cause)
        place = _place(facts, loop, cause)
        where = "" if loop is None else f", most of it in loop {loop}"
        yield self.finding(
            f"{duration(time - launch)} without the launch are {(time - launch) / light:.1f} times the "
            f"{duration(light)} of the GPU's limit: {100 * share:.0f} % of the time goes to {_WORDS[cause][0]}"
            f"{where}",
            at=place,
            evidence={
                "time_us": round(time, 3),
                "launch_us": round(launch, 3),
                "speed_of_light_us": round(light, 3),
                "cause": cause,
                "share": round(share, 3),
                "loop": loop,
            },
        )


def _loop(facts: KernelFacts, prediction: Prediction, cause: str) -> str | None:
    """Return the loop that spends most cycles on a cause, or ``None`` if there is none."""
    spent = {loop.header: _cycles(loop) * loop.causes.get(cause, 0.0) for loop in prediction.loops}
    headers = {loop.header for loop in facts.program.loops}
    known = [header for header in spent if header in headers and spent[header] > 0]
    return max(known, key=spent.__getitem__, default=None)


def _cycles(loop: LoopPrediction) -> float:
    return loop.entries * loop.trips


def _place(facts: KernelFacts, header: str | None, cause: str) -> Instruction | None:
    """Return an instruction on the line with most of the instructions that contribute to a cause."""
    loop = next((loop for loop in facts.program.loops if loop.header == header), None)
    members: Sequence[Instruction] = facts.program.instructions
    if loop is not None:
        members = own_instructions(facts.program, loop)
    kinds = _WORDS[cause][1]
    found = [i for i in members if i.opcode.cls in kinds and location_of(i)[0] is not None]
    return busiest(found or members)[0]
