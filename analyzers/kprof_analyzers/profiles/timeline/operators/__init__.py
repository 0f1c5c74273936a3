"""What PyTorch's operators compute and move, from the shapes that a trace has, against what the GPU can do."""
