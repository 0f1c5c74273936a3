"""The tuned files of servers: what vLLM, SGLang and AITER look for, and whether the files still make sense."""
