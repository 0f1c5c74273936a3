"""Write the small profiler outputs that the tests read. Run it from this folder to make them again.

All of them tell about one made-up run: a vector copy that runs twice and a matrix product that runs once on an
imaginary MI300X. Headings and number formats are those of the real tools; names, times and counts are invented.
"""

from make_compute import compute
from make_rocpd import rocpd
from make_v1 import v1, v1_trace
from make_v2 import v2
from make_v3 import v3_counters, v3_traces
from make_v3_json import v3_json


def main() -> None:
    """Write everything."""
    for make in (v1, v1_trace, v2, v3_traces, v3_counters, v3_json, rocpd, compute):
        make()


if __name__ == "__main__":
    main()
