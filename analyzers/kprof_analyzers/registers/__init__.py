"""Register pressure: the live registers of each instruction, and where they were written."""
