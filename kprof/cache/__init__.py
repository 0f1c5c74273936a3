"""A cache on disk, kept from run to run: bytes stored under a key and verified when they are read.

This package knows nothing about compiles or reports. A :class:`~kprof.cache.entries.CacheSection` stores entries of one
kind and version. :mod:`~kprof.cache.keys` makes every key, :mod:`~kprof.cache.content` hashes the files that a result
depends on, and :mod:`~kprof.cache.own` hashes kprof's own files. Another version of kprof has other keys, so entries
never need to be invalidated.
"""
