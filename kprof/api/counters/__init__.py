"""Questions to hardware counters; one a file."""
