"""Rules about global memory: widths, buffer operations, coalescing."""
