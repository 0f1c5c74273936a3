"""One file a format; each defines ``FORMAT``."""
