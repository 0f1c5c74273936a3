"""Compile every bundled kernel with the Triton of the running interpreter and write the assembly.

    python validation/compile_bundled.py OUTPUT_FOLDER gfx942,gfx1100 [--all-configs] [-j 2]

Started by ``check_isa_reader.py`` with the interpreter of each Triton. Kernels that cannot be compiled are reported
on standard error with the reason, and the run continues.
"""

import argparse
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT))

from kprof.compiler.compile import compile_many  # noqa: E402
from kprof.compiler.request import CompileRequest  # noqa: E402
from kprof.errors import KprofError  # noqa: E402
from kprof.hardware import machine  # noqa: E402
from kprof.options.groups import CompileOptions  # noqa: E402
from kprof.targets import library as kernel_library  # noqa: E402
from kprof.targets.jobs import jobs_of  # noqa: E402


def jobs(architectures: list[str], *, all_configs: bool) -> Iterator[tuple[str, CompileRequest]]:
    """Yield file name and compile request of each kernel, architecture and configuration."""
    for name in kernel_library.bundled():
        for arch in architectures:
            try:
                kernel = kernel_library.load(name)
                found = list(jobs_of(kernel, machine.load(arch), CompileOptions(all_configs=all_configs)))
            except (KprofError, KeyError) as error:
                print(f"not compiled: {name} {arch}: {error}", file=sys.stderr)
                continue
            for number, job in enumerate(found):
                yield f"{name}.{number}.{arch}.amdgcn", job.request


def main() -> None:
    """Compile all kernels and write their assembly."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("architectures")
    parser.add_argument("--all-configs", action="store_true")
    parser.add_argument("-j", "--jobs", type=int, default=2)
    arguments = parser.parse_args()
    arguments.folder.mkdir(parents=True, exist_ok=True)
    wanted = list(jobs(arguments.architectures.split(","), all_configs=arguments.all_configs))
    for outcome in compile_many([request for _, request in wanted], arguments.jobs, cache=False):
        name = wanted[outcome.index][0]
        try:
            (arguments.folder / name).write_text(outcome.result().amdgcn)
        except (KprofError, KeyError) as error:
            reason = str(error).split("\n")[0][:160]
            print(f"not compiled: {name}: {reason}", file=sys.stderr)


if __name__ == "__main__":
    main()
