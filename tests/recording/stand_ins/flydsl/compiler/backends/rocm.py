"""The passes for AMD GPUs."""


class RocmBackend:
    """The backend."""

    def pipeline_fragments(self, *, compile_hints):
        """Return the names of the passes."""
        return ["canonicalize", 'gpu-module-to-binary{format=fatbin opts=""}']
