"""Stand-in for FlyDSL: the parts that a recording patches, with a compiler that knows one kernel."""

__version__ = "9.9"
