"""Write kprof's own dispatch table, for ``kprof select`` and ``kprof bench --provider tuned``."""

import msgspec

from kprof.tuning.dispatch_table import DispatchEntry, Table
from kprof.tuning.formats.interface import TunedResults, WrittenFile


class _Dispatch:
    name = "dispatch"

    def write(self, results: TunedResults) -> list[WrittenFile]:
        """Return one table with an entry per problem."""
        entries = []
        for one in results.tuned:
            best = one.ranked[0]
            measured = best.measured_ms is not None
            entries.append(
                DispatchEntry(
                    kernel=results.kernel,
                    arch=results.arch,
                    shape=dict(one.shape),
                    implementation=results.kernel,
                    config=dict(best.config),
                    ms=best.measured_ms if measured or best.time_us is None else round(best.time_us / 1000, 6),
                    device=results.device if measured else results.product.name if results.product else "",
                    versions={"triton": results.triton},
                    basis="measured" if measured else "predicted",
                )
            )
        return [
            WrittenFile(
                "dispatch.json", msgspec.json.format(msgspec.json.encode(Table(entries)), indent=2).decode() + "\n"
            )
        ]


WRITER = _Dispatch()
