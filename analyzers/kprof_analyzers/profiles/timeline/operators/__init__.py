"""Work of PyTorch operators from the shapes in a trace, compared with the GPU's limits."""
