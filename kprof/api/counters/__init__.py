"""Views of hardware counters, one per file."""
