"""Rules about the limits and the efficiency of a launch."""
