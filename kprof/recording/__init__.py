"""Record the launches of a PyTorch and Triton program. See ``docs/capture.md``; :mod:`kprof.captures` reads captures.

This module imports nothing, because code inside the recorded program imports only the standard library.
"""
