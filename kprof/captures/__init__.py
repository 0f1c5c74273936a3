"""What ``kprof capture`` wrote, read back. See ``docs/capture.md``; :func:`kprof.captures.reader.read` is the way in.

Nothing is imported here: what records a program shares :mod:`kprof.captures.layout`, and imports the standard library
only.
"""
