"""Compile the corpus with the Triton of the running interpreter and write the assembly and code objects.

python compile_triton.py OUTPUT_FOLDER gfx942 gfx1100 ...
"""

import importlib.util
import sys
from pathlib import Path


def load_cases():
    spec = importlib.util.spec_from_file_location("triton_kernels", Path(__file__).with_name("triton_kernels.py"))
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.CASES


def compile_case(name, case, arch, folder):
    import triton
    from triton.backends.compiler import GPUTarget
    from triton.compiler import ASTSource

    function, signature, constants = case
    signature = {**signature, **dict.fromkeys(constants, "constexpr")}
    # Pointers from an allocator are aligned, and as small tensors they may be accessed through buffers.
    pointers = [i for i, type_ in enumerate(signature.values()) if type_.startswith("*")]
    attributes = {(i,): [["tt.divisibility", 16], ["tt.pointer_range", 32]] for i in pointers}
    target = GPUTarget("hip", arch, 64 if arch.startswith("gfx9") else 32)
    compiled = triton.compile(ASTSource(function, signature, constants, attributes), target=target)
    (folder / f"{name}.{arch}.amdgcn").write_text(compiled.asm["amdgcn"])
    (folder / f"{name}.{arch}.hsaco").write_bytes(compiled.asm["hsaco"])


def main():
    folder = Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    for arch in sys.argv[2:]:
        for name, case in load_cases().items():
            try:
                compile_case(name, case, arch, folder)
            except Exception as error:  # noqa: BLE001 - Triton raises whatever its passes raise
                reason = str(error).strip().split("\n")[-1][:120]
                print(f"not compiled: {name} {arch}: {type(error).__name__}: {reason}", file=sys.stderr)


if __name__ == "__main__":
    main()
