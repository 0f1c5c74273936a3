"""Read captures written by ``kprof capture``. See ``docs/capture.md``; start with :func:`kprof.captures.reader.read`.

This file imports nothing: the recorder, which runs inside the recorded program, shares :mod:`kprof.captures.layout` and
may import only the standard library.
"""
