"""What is kept from one run to the next: bytes, found by a key, checked when they are read.

This package knows nothing of compiles or reports. A :class:`~kprof.cache.entries.CacheSection` keeps entries of one
kind and version; :mod:`~kprof.cache.keys` makes every key, :mod:`~kprof.cache.content` finds what stands for the files
that an answer depends on, and :mod:`~kprof.cache.own` what stands for kprof's own. Another kprof has other keys, so
that nothing has to be declared out of date.
"""
