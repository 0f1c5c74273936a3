"""Comparing documents: which kernels belong together, what changed, and whether that is for the worse.

Works on :class:`kprof.document.Report` alone: nothing is compiled and nothing is analysed again.
"""
