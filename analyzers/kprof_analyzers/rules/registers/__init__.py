"""Rules about registers, spills and scratch."""
