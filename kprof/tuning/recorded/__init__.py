"""Other configurations of recorded kernels: options from the TTIR, tiles by launching again in the program."""

from kprof.tuning.recorded.advise import AdvisedKernel, advise

__all__ = ["AdvisedKernel", "advise"]
