"""The simulated GPU that recorded programs and imported files see on machines without a GPU."""
