"""Search other configurations of recorded kernels.

Compiler options are changed by compiling the recorded TTIR again; tile sizes, by repeating the program's launch.
"""

from kprof.tuning.recorded.advise import AdvisedKernel, advise

__all__ = ["AdvisedKernel", "advise"]
