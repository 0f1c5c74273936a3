"""What others do for the problems of the bundled kernels: a file a family, each with a table ``PROVIDERS``."""
