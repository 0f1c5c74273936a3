"""Questions to PyTorch profiler traces; one a file."""
