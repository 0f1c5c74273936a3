"""The checks, one file per section of the report. ``llvm_tools`` belongs to the section ``software``."""
