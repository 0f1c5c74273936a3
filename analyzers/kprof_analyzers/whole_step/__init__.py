"""A whole step on a GPU that is not there: Triton's kernels by the model, torch's operators by their work."""
