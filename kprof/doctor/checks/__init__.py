"""The checks, a file a section; ``llvm_tools`` is a part of ``software``."""
