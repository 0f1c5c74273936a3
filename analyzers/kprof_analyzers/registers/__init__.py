"""Analyse register pressure: which registers are live at each instruction, and where they were written."""
