"""What hardware counters say about a kernel: derived metrics and its place under the roofline."""
