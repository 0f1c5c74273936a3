"""Rules about waits, barriers and overlap."""
