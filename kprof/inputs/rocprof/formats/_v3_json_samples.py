"""PC samples of rocprofv3's JSON, in the columns that their CSV form has."""

from typing import Any

from kprof.inputs.rocprof.formats._v3_json_types import Sample, Strings
from kprof.inputs.rocprof.formats.csv_tables import NOT_ISSUED_PREFIX, TYPE_PREFIX
from kprof.inputs.rocprof.frames import factorised, integers
from kprof.inputs.rocprof.model import Columns, FileTables


def samples(found: list[Sample], strings: Strings, part: FileTables) -> Columns:
    """The samples table of one process, host-trap samples before stochastic ones.

    Columns that only stochastic sampling tells are there when one sample has them.
    """
    records = [sample.record for sample in found]
    columns: Columns = {
        "time_ns": integers([record.timestamp for record in records]),
        "exec_mask": _masks([record.exec_mask for record in records]),
        "dispatch_id": integers([record.dispatch_id for record in records]),
        "instruction": factorised([_word(strings.pc_sample_instructions, sample) for sample in found]),
        "source_line": factorised([_word(strings.pc_sample_comments, sample) for sample in found]),
        "correlation_id": integers([record.correlation for record in records]),
        "code_object_id": integers([record.pc.code_object_id for record in records]),
        "code_object_offset": integers([record.pc.code_object_offset for record in records]),
    }
    if any(record.wave_issued is not None for record in records):
        columns["issued"] = integers([None if r.wave_issued is None else int(r.wave_issued) for r in records])
        columns["instruction_type"] = factorised([_plain(r.inst_type, TYPE_PREFIX) for r in records])
        columns["stall_reason"] = factorised([_plain(r.snapshot.stall_reason, NOT_ISSUED_PREFIX) for r in records])
        columns["wave_count"] = integers([record.wave_count for record in records])
    undecoded = sum(not 0 <= sample.inst_index < len(strings.pc_sample_instructions) for sample in found)
    if undecoded:
        part.complain("undecoded-samples", "warning", f"{undecoded:,} of {len(found):,} PC samples have no "
                      "instruction: the tool could not decode their code object", count=undecoded)  # fmt: skip
    return columns


def _word(words: list[str], sample: Sample) -> str | None:
    return words[sample.inst_index] if 0 <= sample.inst_index < len(words) else None


def _plain(text: str | None, prefix: str) -> str | None:
    return None if text is None else text.removeprefix(prefix).lower()


def _masks(values: list[int | None]) -> Any:
    """Masks use all 64 bits."""
    import numpy as np
    import pandas as pd

    good = [value if value is not None and 0 <= value < 2**64 else None for value in values]
    return pd.array(good, dtype="UInt64") if None in good else np.array(good, dtype=np.uint64)
