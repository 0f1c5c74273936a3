"""Which loads and stores pass the caches: the bits that cache modifiers become in each generation.

=============  ==================  ==========================  =============
in Triton      CDNA 3 and 4        RDNA 3                      RDNA 4
=============  ==================  ==========================  =============
load ``.ca``
load ``.cg``   ``nt``              ``slc dlc``                 ``th:TH_LOAD_NT``
load ``.cs``   ``nt``              ``slc dlc``                 ``th:TH_LOAD_NT``
load ``.cv``   ``sc0 sc1``         ``glc dlc``                 ``th:TH_LOAD_NT scope:SCOPE_SYS``
store ``.wb``
store ``.cg``
store ``.cs``  ``nt``              ``glc slc dlc``             ``th:TH_STORE_NT``
store ``.wt``  ``sc0 sc1``         ``dlc``                     ``th:TH_STORE_NT scope:SCOPE_SYS``
=============  ==================  ==========================  =============

These are the bits of accesses by pointer. CDNA's buffer operations have the same; on RDNA ``.cg`` of a buffer load is
``glc`` or ``scope:SCOPE_DEV``, which streams nothing. Eviction hints become no bit anywhere. The table is what Triton
3.9 compiles, and tests compile it again.

On an MI350X whose last-level cache is full of written lines a kernel of three loads and a store takes 98.6 us, 54.0 us
with ``nt`` on all of them, 56.4 us where the store is written through, and 61.2 us where the store is plain: what is
marked takes no line there, so that none has to be written to memory first (SOL-ExecBench-ROCm, the problem
``silu_activation_backward``).
"""

from kprof.inputs.amdgcn import Instruction

_HINTS = ("nt", "slc", "TH_LOAD_NT", "TH_STORE_NT")


def streams(instruction: Instruction) -> bool:
    """Whether an access says that its lines are not used again: the first that caches give up."""
    text = instruction.text
    if " nt" not in text and " slc" not in text and "_NT" not in text:
        return False
    modifiers = instruction.modifiers
    return any(hint in modifiers or modifiers.get("th") == hint for hint in _HINTS)


def takes_no_line(instruction: Instruction) -> bool:
    """Whether the last-level cache keeps no line for an access: what streams, and stores that are written through."""
    if streams(instruction):
        return True
    if not instruction.opcode.is_store or ("sc1" not in instruction.text and "dlc" not in instruction.text):
        return False
    modifiers = instruction.modifiers
    return ("sc0" in modifiers and "sc1" in modifiers) or "dlc" in modifiers
