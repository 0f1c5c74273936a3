"""Programs for the problems of SOL-ExecBench-ROCm, recorded without a GPU and predicted as they were timed.

``python -m validation.benchmarks.model.programs --data FOLDER --mirror GITDIR --work FOLDER`` draws rows of the
published tables by a fixed rule, records each program under ``kprof capture``, and predicts it under the condition of
its harness. It prints the errors of times and orders, also for other conditions with the same recordings. Programs are
agents', or the problems' own in torch (``--by eager --arch MI355X``). ``--write`` writes the page
docs/validation/sol_execbench.md.
"""
