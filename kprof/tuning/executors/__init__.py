"""Who compiles and judges: processes of this machine, or the workers of a Dask cluster."""
