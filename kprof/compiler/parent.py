"""Ends a process whose parent is gone.

Workers are in sessions of their own, so that Ctrl-C in a terminal is not for them. Then neither a closed terminal nor
the end of a parent that was killed ends them, and a worker in the middle of a long compile would only notice when it
is done, with all the memory that the compile takes.
"""

import os
import signal
import threading
import time

EVERY = 1.0
"""Seconds between two looks."""


def end_with_parent(every: float = EVERY) -> None:
    """Kill this process as soon as its parent is another one than now.

    A thread looks; compilers let it run, as they give Python's lock back while they work.

    Args:
        every: seconds between two looks.
    """
    parent = os.getppid()

    def look() -> None:
        while os.getppid() == parent:
            time.sleep(every)
        os.kill(os.getpid(), signal.SIGKILL)

    threading.Thread(target=look, name="kprof-parent", daemon=True).start()
