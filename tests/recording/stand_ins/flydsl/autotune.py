"""The benchmark of FlyDSL's autotuner."""


def do_bench(fn, warmup=5, rep=25, quantiles=None):
    """Run on a GPU."""
    raise RuntimeError("there is no GPU")
