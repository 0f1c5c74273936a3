"""Determine the measured GPU, and its constants for the formulas."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import PurePath
from typing import TYPE_CHECKING, Any

from kprof.errors import InputError
from kprof.hardware import machine
from kprof.hardware.machine import Architecture, Product
from kprof_analyzers.peaks import bandwidths

if TYPE_CHECKING:
    import pandas as pd

    from kprof.inputs.rocprof import Data


@dataclass(frozen=True)
class MeasuredGpu:
    """A GPU that kernels were measured on.

    Attributes:
        arch: architecture.
        product: product, which determines the peaks; ``None`` if unknown.
        cus: number of compute units according to the measurement, or else according to the product.
        xcds: number of XCDs according to the measurement, or else according to the product.
        constants: constants for formulas, in lower case; unknown constants are missing.
        origin: source of the information, in words.
    """

    arch: Architecture
    product: Product | None
    cus: int | None
    xcds: int | None
    constants: Mapping[str, float]
    origin: str


class Gpus:
    """GPUs of the measurements. Files of the same run, or nearby system files, describe the profiler's agents."""

    def __init__(self, data: "Data", name: str | None = None) -> None:
        """Read the GPUs of the measurements.

        Args:
            data: the files' contents.
            name: architecture or product that the user names. It applies to agents that no file describes, and
                overrides the files if they describe a single kind of GPU.

        Raises:
            KprofError: if the name is unknown.
        """
        agents = data.agents
        self._rows: pd.DataFrame = agents[agents["type"].astype(str) == "GPU"] if len(agents) else agents
        self._sources = data.sources
        self._named = name
        self._found: list[MeasuredGpu] = []
        self._places: dict[tuple[int, int | None], int] = {}
        several = len({_kind(row) for _, row in self._rows.iterrows()}) > 1
        # If all files describe the same kind of GPU, the user's name overrides it. If there are several kinds, the name
        # only applies to agents that it fits.
        self._overrides = name is not None and not several
        if name is not None:
            self._gpu(name, None, "as given")

    def __getitem__(self, index: int) -> MeasuredGpu | None:
        """Return a GPU by index; ``None`` for -1."""
        return self._found[index] if index >= 0 else None

    def index_of(self, source: int, agent: int | None) -> int:
        """Return the index of an agent's GPU; -1 if no file describes it. Agents of one kind have the same index."""
        place = source, agent
        if place not in self._places:
            self._places[place] = self._index(self._described(source, agent))
        return self._places[place]

    def _index(self, row: Any) -> int:
        if row is None and self._named is None:
            return -1
        said = self._named
        origin = "as given"
        if row is not None and not self._overrides:
            own = machine.product_in(str(row.get("product", ""))) or str(row["name"])
            if said is None or not _same(row, _architecture(said)):
                said, origin = own, "from the measurement"
        assert said is not None
        gpu = self._gpu(said, row, origin)
        if gpu not in self._found:
            self._found.append(gpu)
        return self._found.index(gpu)

    def _gpu(self, said: str, row: Any, origin: str) -> MeasuredGpu:
        product = machine.find_product(said)
        arch = machine.load(product.arch if product else said)
        reported = row if row is not None and _same(row, arch) else None
        cus = _integer(reported, "cu_count") or (product.compute_units if product else None)
        xcds = _integer(reported, "xcd_count") or (product.xcds if product else None)
        clock = _integer(reported, "max_clock_mhz") or (product.clock_mhz if product else None)
        return MeasuredGpu(arch, product, cus, xcds, _constants(arch, product, cus, xcds, clock), origin)

    def _described(self, source: int, agent: int | None) -> Any:
        """Return the row that describes an agent; ``None`` if no row or rows of several kinds of GPU describe it."""
        for rows in self._nearest(source):
            if not len(rows):
                continue
            numbered = rows[[self._sources[int(s)].format != "rocminfo" for s in rows["source"]]]
            own = numbered[numbered["agent"] == agent] if agent is not None else numbered[:0]
            for candidates in (own, rows):
                if len({_kind(row) for _, row in candidates.iterrows()}) == 1:
                    return candidates.iloc[0]
            return None
        return None

    def _nearest(self, source: int) -> "Iterator[pd.DataFrame]":
        """Yield tables of agent rows, those nearest to a source first.

        The order is: same file, same process, system files in the source's folder and the folders above, all files.
        """
        rows, sources = self._rows, self._sources
        if not len(rows):
            return
        at = sources[source].same_as
        mine = {source} if at is None else {source, at}
        path = PurePath(sources[source].path)
        yield rows[rows["source"].isin(mine)]
        # rocprofv3 begins the names of all files of a process with the process id.
        stem = path.name.split("_", 1)[0]
        beside = [PurePath(one.path).parent == path.parent for one in sources]
        same = [near and stem.isdigit() and PurePath(one.path).name.startswith(f"{stem}_")
                for near, one in zip(beside, sources, strict=True)]  # fmt: skip
        yield self._rows_of(same)
        system = [one.role == "system" for one in sources]
        for folder in path.parents:
            yield self._rows_of(
                [s and PurePath(one.path).parent == folder for s, one in zip(system, sources, strict=True)]
            )
        given = sources[source].given
        yield self._rows_of([s and one.given == given for s, one in zip(system, sources, strict=True)])
        yield self._rows_of(system)

    def _rows_of(self, wanted: list[bool]) -> "pd.DataFrame":
        chosen: pd.DataFrame = self._rows[[wanted[int(source)] for source in self._rows["source"]]]
        return chosen


def gpu_of(data: "Data", name: str | None = None) -> MeasuredGpu:
    """Return the GPU of measurements that come from one kind of GPU.

    Args:
        data: the files' contents, which may include agents or a workload's system description.
        name: architecture or product that overrides the data.

    Raises:
        KprofError: if no GPU or more than one kind of GPU is described, or the name is unknown.
    """
    gpus = Gpus(data, name)
    dispatches = data.dispatches
    columns = dispatches.reindex(columns=["source", "agent"]).drop_duplicates()
    pairs = [(int(source), whole(agent)) for source, agent in columns.itertuples(index=False)]
    found = {gpus.index_of(source, agent) for source, agent in pairs or [(0, None)]} - {-1}
    if not found:
        raise unknown_gpu()
    if len(found) > 1:
        names = sorted({gpu_name(gpu) for gpu in (gpus[index] for index in found) if gpu is not None})
        raise InputError(f"the measurements are of several GPUs: {', '.join(names)}", hint="Pass the files of one GPU.")
    gpu = gpus[found.pop()]
    assert gpu is not None
    return gpu


def unknown_gpu() -> InputError:
    """Return the error for measurements without a description of their GPU."""
    return InputError(
        "the files do not say which GPU was measured",
        hint="name it: --arch MI300X (a product gives peaks too) or --arch gfx942",
    )


def gpu_name(gpu: MeasuredGpu) -> str:
    """Return the name of the product, or of the architecture if the product is unknown."""
    return gpu.product.name if gpu.product is not None else gpu.arch.name


def _kind(row: Any) -> tuple[str, str]:
    return str(row["name"]), str(row.get("product", ""))


def _architecture(name: str) -> Architecture:
    product = machine.find_product(name)
    return machine.load(product.arch if product else name)


def _same(row: Any, arch: Architecture) -> bool:
    name = str(row["name"])
    return name.partition(":")[0] == arch.name


def whole(value: Any) -> int | None:
    """Return a value from a table as an integer; ``None`` if it is missing."""
    import pandas as pd

    return None if value is None or pd.isna(value) else int(value)


def _integer(row: Any, name: str) -> int | None:
    return None if row is None or name not in row else whole(row[name]) or None


def _constants(
    arch: Architecture, product: Product | None, cus: int | None, xcds: int | None, clock: int | None
) -> dict[str, float]:
    l1, l2 = arch.memory.get("l1"), arch.memory.get("l2")
    # If every product of the architecture has one die, the measured GPU has one, even if its product is unknown.
    single = {known.xcds for known in arch.products.values()} == {1}
    one_xcd = 1 if xcds is None and single else xcds
    peaks = bandwidths(arch, product, cus, one_xcd, clock)
    found = {
        "cus": cus,
        "xcds": one_xcd,
        "max_waves_per_cu": arch.occupancy.max_waves_per_simd * arch.occupancy.simds_per_cu,
        "lds_banks": arch.lds.banks,
        "l1_line": l1.line_bytes if l1 else None,
        "l2_line": l2.line_bytes if l2 else None,
        "lds_peak": peaks.get("lds"),
        "vl1d_peak": peaks.get("l1"),
        "l2_peak": peaks.get("l2"),
        "hbm_peak": peaks.get("hbm"),
        "max_clock": clock or max((p.clock_mhz or 0 for p in arch.products.values()), default=0) or None,
    }
    return {name: float(value) for name, value in found.items() if value is not None}
