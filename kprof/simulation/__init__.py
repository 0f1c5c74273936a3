"""The GPU that recorded programs and imported files are told they have, on machines that have none."""
