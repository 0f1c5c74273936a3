"""Other implementations of the bundled kernels' problems: one file per family, each with a table ``PROVIDERS``."""
