"""Predict a whole training or inference step without a GPU: Triton kernels by the model, operators by their work."""
