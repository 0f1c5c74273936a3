"""The checks, one file per section; ``llvm_tools`` is a part of ``software``."""
