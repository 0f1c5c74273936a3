"""Executors that compile and analyse configurations: processes on this machine, or the workers of a Dask cluster."""
