"""Views of profiler traces, one per file."""
