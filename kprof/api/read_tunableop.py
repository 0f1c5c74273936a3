"""``kprof.read_tunableop``: read the results of PyTorch's TunableOp."""

import os
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from kprof.api.options import Path_
from kprof.api.result import Result

if TYPE_CHECKING:
    import pandas as pd

    from kprof.inputs.tunableop import TunableOpResults, TuningGain


@dataclass(frozen=True, eq=False, repr=False)
class TunableOp(Result):
    """The best solution of each GEMM. Times are in milliseconds.

    Attributes:
        results: the file's validator lines, and its solutions.
        gains: gain of tuning for each problem whose default time is known.
    """

    results: "TunableOpResults"
    gains: "Sequence[TuningGain]"
    kind: ClassVar[str] = "measurements"

    @property
    def document(self) -> dict[str, Any]:
        """The JSON document that ``kprof ingest tunableop --json`` writes."""
        from kprof.inputs.tunableop import suspects

        results = self.results
        return {
            "schema": "kprof.tunableop/1",
            "path": results.path,
            "validators": results.validators,
            "solutions": self._solutions(),
            "gains": [
                {"default": asdict(one.default), "best": asdict(one.best), "lost_milliseconds": one.lost_milliseconds}
                for one in self.gains
            ],
            "suspects": [asdict(suspect) for suspect in suspects(results)],
            "issues": list(results.issues),
        }

    @property
    def summary(self) -> str:
        """The number of problems, and the known gain of tuning, in one line."""
        from kprof.reporters.tunableop_text import verdict

        return verdict(self.results, self.gains)

    def to_frame(self) -> "pd.DataFrame":
        """Return one row per problem: ``problem``, ``dtype``, ``solution``, ``milliseconds``, ``tflops`` and more."""
        from kprof.api.frames import plain_frame

        rows = self._solutions()
        return plain_frame(rows, rows[0] if rows else ())

    def _solutions(self) -> list[dict[str, Any]]:
        return [asdict(one) | {"tflops": one.tflops} for one in self.results.best().values()]


def read_tunableop(path: "Path_", *, untuned: "Path_ | None" = None) -> TunableOp:
    """Read result files of PyTorch's TunableOp.

    A result file contains only the time of the best solution. Therefore the gain of tuning is known only for problems
    that occur twice in the file or that also occur in ``untuned``.

    Args:
        path: ``tunableop_results*.csv``, or a folder with one such file.
        untuned: a result file with the default times of the same problems.

    Raises:
        InputError: a file is missing or is not a TunableOp result file.
    """
    from kprof.inputs import tunableop

    results = tunableop.read(os.fspath(path))
    other = None if untuned is None else tunableop.read(os.fspath(untuned))
    return TunableOp(results, tunableop.gains(results, other))
