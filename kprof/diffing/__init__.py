"""Compare documents: match kernels, find what changed, and rate whether the change is for the worse.

``sides`` and ``analysis`` load the documents of the compared targets; the other modules work only on
:class:`kprof.document.Report`.
"""
