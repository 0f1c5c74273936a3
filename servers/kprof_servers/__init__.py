"""Tuned-configuration files of inference servers: the files that vLLM, SGLang and AITER look for, and their checks."""
