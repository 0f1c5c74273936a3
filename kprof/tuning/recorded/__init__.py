"""Search other configurations of recorded kernels: options from the TTIR, tiles by repeating the program's launch."""

from kprof.tuning.recorded.advise import AdvisedKernel, advise

__all__ = ["AdvisedKernel", "advise"]
