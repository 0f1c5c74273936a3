"""Comparing documents: which kernels belong together, what changed, and whether that is for the worse.

``sides`` and ``analysis`` get the documents of what is named; everything else works on :class:`kprof.document.Report`
alone.
"""
