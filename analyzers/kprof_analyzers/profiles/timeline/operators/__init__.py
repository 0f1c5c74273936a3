"""Compute the work of PyTorch operators from the shapes in a trace, and compare their time with the GPU's limits."""
