"""SGLang's JSON: the same files as vLLM's, in a folder for the Triton that they were made with.

Format facts: sgl-project/sglang, ``fused_moe_triton/configs/triton_3_5_1``.
"""

from kprof.tuning.formats.interface import TunedResults, WrittenFile
from kprof.tuning.formats.vllm import files


class _Sglang:
    name = "sglang"

    def write(self, results: TunedResults) -> list[WrittenFile]:
        """As vLLM's, below ``triton_<version>``.

        Raises:
            KprofError: as vLLM's.
        """
        version = "".join(c for c in results.triton.partition("+")[0] if c.isalnum() or c == ".").replace(".", "_")
        return [WrittenFile(f"triton_{version}/{name}", text, notes) for name, text, notes in files(results, "SGLang")]


WRITER = _Sglang()
