"""A picture that was drawn."""

import os
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Drawing:
    """A picture; a notebook shows it.

    Attributes:
        svg: the picture, as SVG.
    """

    svg: str

    def save(self, path: "str | os.PathLike[str]") -> Path:
        """Write the picture to a file, which appears whole or not at all.

        Raises:
            KprofError: it cannot be written.
        """
        from kprof.output.writing import write_output

        write_output(os.fspath(path), self.svg)
        return Path(path)

    def _repr_svg_(self) -> str:
        return self.svg
