"""Write SGLang's JSON: vLLM's files, in a folder named after the version of Triton that compiled the kernels.

Format facts: sgl-project/sglang, ``fused_moe_triton/configs/triton_3_5_1``.
"""

from kprof.tuning.formats.interface import TunedResults, WrittenFile
from kprof.tuning.formats.vllm import files


class _Sglang:
    name = "sglang"

    def write(self, results: TunedResults) -> list[WrittenFile]:
        """Return vLLM's files, below ``triton_<version>``.

        Raises:
            KprofError: for the same reasons as vLLM's writer.
        """
        version = "".join(c for c in results.triton.partition("+")[0] if c.isalnum() or c == ".").replace(".", "_")
        return [WrittenFile(f"triton_{version}/{name}", text, notes) for name, text, notes in files(results, "SGLang")]


WRITER = _Sglang()
