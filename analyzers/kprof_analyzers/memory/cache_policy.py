"""Recognise the cache modifiers of loads and stores by the instruction bits that each hardware generation uses.

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

The table lists accesses through pointers. CDNA's buffer operations use the same bits. On RDNA, ``.cg`` of a buffer load
becomes ``glc`` or ``scope:SCOPE_DEV``, which does not stream. Eviction hints set no bit on any architecture. The table
records what Triton 3.9 compiles; tests compile it again.

On an MI350X whose last-level cache is full of written lines, a kernel of three loads and a store takes 98.6 us. With
``nt`` on all accesses it takes 54.0 us; with a written-through store, 56.4 us; with a plain store, 61.2 us. Marked
accesses allocate no line there, so no other line has to be written back to memory first (SOL-ExecBench-ROCm, problem
``silu_activation_backward``).
"""

from kprof.inputs.amdgcn import Instruction

_HINTS = ("nt", "slc", "TH_LOAD_NT", "TH_STORE_NT")


def streams(instruction: Instruction) -> bool:
    """Return whether an access is marked as streaming, which means that caches evict its lines first."""
    text = instruction.text
    if " nt" not in text and " slc" not in text and "_NT" not in text:
        return False
    modifiers = instruction.modifiers
    return any(hint in modifiers or modifiers.get("th") == hint for hint in _HINTS)


def takes_no_line(instruction: Instruction) -> bool:
    """Return whether the last-level cache allocates no line for an access: it is streaming or written through."""
    if streams(instruction):
        return True
    if not instruction.opcode.is_store or ("sc1" not in instruction.text and "dlc" not in instruction.text):
        return False
    modifiers = instruction.modifiers
    return ("sc0" in modifiers and "sc1" in modifiers) or "dlc" in modifiers
