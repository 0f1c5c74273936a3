"""Compare reports: match their kernels, find what changed, and decide whether each change is for the worse.

``sides`` and ``analysis`` load the reports of the compared targets; the other modules only need
:class:`kprof.document.Report`.
"""
