"""Match measurements with the compiled kernel, and check the kernel's findings against them."""
