"""Metrics derived from hardware counters, and the position of kernels under the roofline."""
