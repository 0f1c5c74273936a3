"""Fuzzing of every reader: coverage-guided in ``run``, and by damage of sound inputs in ``sweep``."""
