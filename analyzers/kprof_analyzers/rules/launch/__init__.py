"""Rules about what a launch may and should ask for."""
