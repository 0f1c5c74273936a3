"""Register pressure: what is live where, and what would have to go."""
