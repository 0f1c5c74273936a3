"""Rules about matrix instructions."""
