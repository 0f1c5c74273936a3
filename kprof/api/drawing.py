"""A picture that can be saved or shown in a notebook."""

import os
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Drawing:
    """A picture that notebooks display.

    Attributes:
        svg: the picture, as SVG.
    """

    svg: str

    def save(self, path: "str | os.PathLike[str]") -> Path:
        """Write the picture to a file, atomically.

        Raises:
            KprofError: the file cannot be written.
        """
        from kprof.output.writing import write_output

        write_output(os.fspath(path), self.svg)
        return Path(path)

    def _repr_svg_(self) -> str:
        return self.svg
