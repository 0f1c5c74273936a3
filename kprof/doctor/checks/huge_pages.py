"""Whether large host buffers may get large pages."""

import re

from kprof.doctor.check import DoctorCheck
from kprof.doctor.document import CheckOutcome
from kprof.doctor.host import Host
from kprof.doctor.settings import wanted_by

_WANTED = wanted_by("huge-pages")

_CHOSEN = re.compile(r"\[(always|madvise|never)\]")


class HugePages(DoctorCheck):
    """Transparent huge pages."""

    name = "huge-pages"
    section = "host"
    needs_gpu = True
    source = _WANTED.source
    why = _WANTED.why

    def look(self, machine: Host) -> CheckOutcome:
        """See :meth:`DoctorCheck.look`."""
        chosen = _CHOSEN.search(machine.text(_WANTED.file) or "")
        if chosen is None:
            return self.unknown("the kernel does not say")
        return self.ok(chosen[1]) if _WANTED.rules[0].accepts(chosen[1]) else self.warn(chosen[1], *_WANTED.fix)
