"""Fuzzing of every reader: coverage-guided (:mod:`fuzz.run`) and by damage of what is sound (:mod:`fuzz.sweep`)."""
