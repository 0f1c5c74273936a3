"""Whether large host buffers may get large pages."""

import re

from kprof.doctor.check import Check
from kprof.doctor.document import Outcome
from kprof.doctor.host import Host

_CHOSEN = re.compile(r"\[(always|madvise|never)\]")


class HugePages(Check):
    """Transparent huge pages."""

    name = "huge-pages"
    section = "host"
    needs_gpu = True
    source = "the Linux kernel's documentation of transparent huge pages"
    why = "Host buffers in pages of 4 KiB take longer to pin and to copy; times of kernels alone are not affected."

    def look(self, machine: Host) -> Outcome:
        """See :meth:`Check.look`."""
        chosen = _CHOSEN.search(machine.text("/sys/kernel/mm/transparent_hugepage/enabled") or "")
        if chosen is None:
            return self.unknown("the kernel does not tell")
        if chosen[1] == "never":
            return self.warn("never", "echo madvise | sudo tee /sys/kernel/mm/transparent_hugepage/enabled")
        return self.ok(chosen[1])
