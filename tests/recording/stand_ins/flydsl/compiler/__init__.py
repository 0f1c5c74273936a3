"""Import the compiler's modules, as FlyDSL does."""

from flydsl.compiler import jit_executor, jit_function, kernel_function  # noqa: F401
