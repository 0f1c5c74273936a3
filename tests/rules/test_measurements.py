"""What a measurement decides of a finding, rule by rule."""

import pytest

from kprof_analyzers.rules import rules


@pytest.mark.parametrize(
    ("rule", "numbers", "answer"),
    [
        (
            "narrow-global-load",
            {"hbm_percent_of_peak": 80.0, "wait_share": 50.0},
            (
                False,
                "HBM at 80 % of its peak, wavefronts waited 50 % of their time: the bandwidth is reached all the same",
            ),
        ),
        (
            "narrow-global-load",
            {"hbm_percent_of_peak": 79.0, "wait_share": 25.0},
            (True, "HBM at 79 % of its peak, wavefronts waited 25 % of their time"),
        ),
        (
            "narrow-global-load",
            {"hbm_percent_of_peak": 10.0, "wait_share": 24.0},
            (False, "HBM at 10 % of its peak, wavefronts waited 24 % of their time"),
        ),
        (
            "narrow-global-load",
            {"hbm_percent_of_peak": 10.0, "wait_share": 50.0, "valu_utilization": 80.0},
            (
                False,
                "HBM at 10 % of its peak, wavefronts waited 50 % of their time, but the VALU was busy 80 % of the time",
            ),
        ),
        (
            "fewer-workgroups-than-cus",
            {"workgroups": 303, "cus": 304},
            (True, "303 workgroups were launched on 304 CUs"),
        ),
        (
            "fewer-workgroups-than-cus",
            {"workgroups": 304, "cus": 304},
            (False, "304 workgroups were launched on 304 CUs"),
        ),
        (
            "tail-wave",
            {"waves_per_simd": 1.79, "computed_waves_per_simd": 2},
            (True, "1.79 of 2 computed waves per SIMD were achieved"),
        ),
        (
            "tail-wave",
            {"waves_per_simd": 1.8, "computed_waves_per_simd": 2},
            (False, "1.80 of 2 computed waves per SIMD were achieved"),
        ),
        (
            "lds-bank-conflicts",
            {"lds_conflicts_per_access": 0.1},
            (True, "0.10 conflict cycles were counted for each cycle of LDS access"),
        ),
        (
            "lds-bank-conflicts",
            {"lds_conflicts_per_access": 0.09},
            (False, "0.09 conflict cycles were counted for each cycle of LDS access"),
        ),
        ("dot-without-matrix-unit", {"mfma_per_wave": 0}, (True, "0 matrix instructions a wavefront were counted")),
        ("dot-without-matrix-unit", {"mfma_per_wave": 1}, (False, "1 matrix instructions a wavefront were counted")),
        (
            "registers-just-above-step",
            {"waves_per_simd": 3.0, "computed_waves_per_simd": 4},
            (True, "3.00 of 4 computed waves per SIMD were achieved: the limit is the cause"),
        ),
        (
            "registers-just-above-step",
            {"waves_per_simd": 2.99, "computed_waves_per_simd": 4},
            (
                False,
                (
                    "2.99 of 4 computed waves per SIMD were achieved: the cause is something else, such as "
                    "the grid or its tail"
                ),
            ),
        ),
        (
            "registers-just-above-step",
            {"waves_per_simd": 4.2, "computed_waves_per_simd": 4},
            (True, "4.20 of 4 computed waves per SIMD were achieved: the limit is the cause"),
        ),
        (
            "registers-just-above-step",
            {"waves_per_simd": 4.21, "computed_waves_per_simd": 4},
            (
                False,
                (
                    "4.21 of 4 computed waves per SIMD were achieved: more than the compiled kernel "
                    "allows, so another program was measured"
                ),
            ),
        ),
        (
            "spill-in-loop",
            {"scratch_bytes": 16},
            (True, "the launch was given 16 B of scratch a work-item; its accesses are not counted separately"),
        ),
        (
            "spill-in-loop",
            {"scratch_bytes": 0},
            (False, "the launch was given no scratch: the measured kernel does not spill"),
        ),
        (
            "full-drain",
            {"wait_share": 25.0},
            (True, "wavefronts waited 25 % of their time (waits of every kind)"),
        ),
        (
            "full-drain",
            {"wait_share": 24.0},
            (False, "wavefronts waited 24 % of their time (waits of every kind)"),
        ),
        (
            "full-drain",
            {"wait_share": 90.0, "mfma_utilization": 80.0},
            (
                False,
                (
                    "wavefronts waited 90 % of their time (waits of every kind), but the matrix unit "
                    "was busy 80 % of the time: other wavefronts hide it"
                ),
            ),
        ),
        (
            "full-drain",
            {"wait_share": 90.0, "mfma_utilization": 79.0, "valu_utilization": 79.0},
            (True, "wavefronts waited 90 % of their time (waits of every kind)"),
        ),
        (
            "half-rate-matrix-instruction",
            {"mfma_utilization": 40.0},
            (True, "the matrix unit was busy 40 % of the time"),
        ),
        (
            "half-rate-matrix-instruction",
            {"mfma_utilization": 39.0},
            (False, "the matrix unit was busy 39 % of the time"),
        ),
        (
            "natural-exponential",
            {"valu_utilization": 40.0},
            (True, "the VALU was busy 40 % of the time"),
        ),
        (
            "natural-exponential",
            {"valu_utilization": 39.0},
            (False, "the VALU was busy 39 % of the time"),
        ),
        (
            "narrow-lds-access",
            {"lds_percent_of_peak": 30.0, "lds_conflict_share": 10.0},
            (True, "the LDS was busy 40 % of the time, conflicts included"),
        ),
        (
            "narrow-lds-access",
            {"lds_percent_of_peak": 30.0, "lds_conflict_share": 9.0},
            (False, "the LDS was busy 39 % of the time, conflicts included"),
        ),
        (
            "lds-over-limit",
            {"dispatches": 1200},
            (False, "it ran 1,200 times: the measured kernel can be launched"),
        ),
    ],
)
def test_what_a_measurement_decides(rule, numbers, answer):
    """On both sides of each limit, in words."""
    (found,) = (r for r in rules() if r.name == rule)
    assert set(found.confirmed_by.needs) <= set(numbers)
    assert found.confirmed_by.answer(numbers) == answer
