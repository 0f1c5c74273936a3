"""Host code: it loads the module and launches the kernel through functions that it finds by name."""

import ctypes

WORD, POINTER, INT = ctypes.c_int64, ctypes.c_void_p, ctypes.c_int32


class ExecutionEngine:
    """Finds functions by name, as MLIR's engine does; the run-time library would need HIP."""

    def __init__(self, module, opt_level=3, shared_libs=()):
        if any("fly_jit_runtime" in name for name in shared_libs):
            raise OSError("libamdhip64.so.7: cannot open shared object file")
        self.module, self.known = module, {}

    def raw_register_runtime(self, name, address):
        """Make a function available."""
        self.known[name] = address.value

    def initialize(self):
        """Compile."""

    def function(self, name, result, *types):
        """Return a function by its name."""
        return ctypes.CFUNCTYPE(result, *types)(self.known[name])


class GpuJitModule:
    """A loaded module."""

    def __init__(self, engine, modules):
        raise OSError("libamdhip64.so.7: cannot open shared object file")


class CompiledArtifact:
    """Compiled code."""

    def __init__(self, module, name):
        self.module, self.name, self.engine = module, name, None

    def _ensure_engine(self):
        if self.engine is None:
            libraries = ["/somewhere/libfly_jit_runtime.so", "/somewhere/libmlir_c_runner_utils.so"]
            self.engine = ExecutionEngine(self.module, opt_level=3, shared_libs=libraries)
            self.engine.initialize()
            load = self.engine.function("mgpuModuleLoadJIT", POINTER, POINTER, INT)
            self.handle = load(ctypes.cast(ctypes.c_char_p(self.module.encode()), POINTER), 2)

    def launch(self, grid, block, lds, size):
        """Launch the kernel with a pointer and a number."""
        self._ensure_engine()
        find = self.engine.function("mgpuModuleGetFunction", POINTER, POINTER, ctypes.c_char_p)
        run = self.engine.function(
            "mgpuLaunchKernel", None, POINTER, *[WORD] * 6, INT, POINTER, POINTER, POINTER, ctypes.c_size_t
        )
        pointer, number = ctypes.c_int64(4096), ctypes.c_int32(size)
        parameters = (POINTER * 2)(ctypes.addressof(pointer), ctypes.addressof(number))
        function = find(self.handle, self.name.encode())
        run(function, *grid, *block, lds, None, ctypes.cast(parameters, POINTER), None, 2)
