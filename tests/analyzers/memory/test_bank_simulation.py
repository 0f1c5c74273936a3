"""Bank conflicts against a simulation that serves lanes cycle by cycle, for any addresses."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kprof.hardware.machine import load
from kprof_analyzers.memory.bank_conflicts import PhasesUnknownError, access_cost

ADDRESSES = st.lists(st.one_of(st.none(), st.integers(0, 1023)), min_size=64, max_size=64)


def cycles(addresses, width, machine, name):
    """Cycles until every dword of every lane has been served: in each cycle a bank gives one dword, to all who ask."""
    total = 0
    for lanes in machine.lds.phases[name]:
        waiting = [
            (lane, byte // 4)
            for lane in lanes
            if lane < len(addresses) and addresses[lane] is not None
            for byte in range(addresses[lane], addresses[lane] + width)
        ]
        spent = 0
        while waiting:
            spent += 1
            served = {}
            for _, dword in waiting:
                served.setdefault(dword % machine.lds.banks, dword)
            waiting = [w for w in waiting if served[w[1] % machine.lds.banks] != w[1]]
        total += max(1, spent)
    return total


@pytest.mark.parametrize("arch", ["gfx942", "gfx950"])
@pytest.mark.parametrize("width", [4, 8, 16])
@given(units=ADDRESSES)
def test_cost_is_what_the_simulation_takes(arch, width, units):
    """Cycles without conflicts and conflicts together."""
    machine = load(arch)
    addresses = [None if unit is None else unit * width for unit in units]
    cost = access_cost(addresses, width, machine)
    assert cost.cycles + cost.conflicts == cycles(addresses, width, machine, f"read_b{8 * width}")


def test_groups_that_nobody_has_measured_are_not_used(monkeypatch):
    """Present in the file without a firm source they are as good as absent."""
    machine = load("gfx942")
    monkeypatch.setattr(type(machine), "is_sourced", lambda self, key: "read_b64" not in key)
    assert access_cost([0] * 64, 4, machine).cycles == 2
    with pytest.raises(PhasesUnknownError, match="read_b64"):
        access_cost([0] * 64, 8, machine)
