"""Execution of a kernel's integer instructions for one lane, to count how often its loops iterate."""
