"""Compare reports: match their kernels, find the changes, and decide whether each change is for the worse.

Each compared target, such as a report or a release of Triton, is one side of the comparison. ``sides`` and ``analysis``
load the reports of the targets; the other modules only need :class:`kprof.document.Report`.
"""
