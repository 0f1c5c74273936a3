"""Recording what a PyTorch and Triton program launches. See ``docs/capture.md``; reading it is :mod:`kprof.captures`.

Nothing is imported here: what runs inside the recorded program imports the standard library only.
"""
