"""Executors that compile and judge: processes on this machine, or the workers of a Dask cluster."""
