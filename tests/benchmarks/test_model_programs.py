"""Agents' programs in the model's benchmark: which are drawn, and how predictions of them are judged."""

import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))
from validation.benchmarks.model.programs import chosen, scored  # noqa: E402  # the path comes first

sys.path.remove(str(ROOT))

KERNEL = "import torch, triton\n@triton.jit\ndef k(x):\n    '''x @ y'''\n    pass\n"


def job(number, problem="p", measured=10.0, workload="w"):
    return chosen.Job(number, problem, workload, "big", f"{number:040x}", measured)


def predicted(us, low=None, high=None, triton=None, added=0.0, unknown=()):
    own = us - added if triton is None else triton
    return scored.Predicted(us, low or us, high or us, own, added, tuple(unknown))


@pytest.mark.parametrize(
    ("host", "takes"),
    [
        ("def run(x):\n    k[(1,)](x)\n", True),
        ("def run(x):\n    '''like torch.mm'''\n    return torch.empty_like(x)\n", True),
        ("def run(x):\n    return torch.mm(x, x)\n", False),
        ("def run(x, y):\n    return x @ y\n", False),
        ("def other(x):\n    return x\n", False),
    ],
)
def test_programs_whose_only_kernels_are_tritons_own(host, takes):
    assert chosen.is_triton_only(KERNEL + host) is takes
    assert not chosen.is_triton_only(host)
    assert not chosen.is_triton_only(KERNEL + "def run(x:")


def test_half_of_the_problems_set_constants():
    halves = [chosen.half_of(f"problem {n}") for n in range(400)]
    assert 160 < halves.count("judge") < 240
    assert chosen.half_of("problem 1") == halves[1]


def test_a_sample_takes_whole_problems_in_an_order_that_the_seed_decides():
    jobs = [job(n, f"problem {n // 5}") for n in range(40)]
    some = chosen.sample(jobs, 10, 3)
    assert len(some) == 10
    assert len({one.problem for one in some}) == 2
    assert chosen.sample(jobs, 10, 3) == some
    assert chosen.sample(jobs, 10, 4) != some
    assert chosen.sample(jobs, 0, 3) == jobs


def test_what_counts_is_triton_and_has_a_time():
    """What the condition adds is nobody's own."""
    jobs = [job(n) for n in range(4)]
    found = {
        0: predicted(10.0, added=5.0),
        1: predicted(10.0, triton=8.0),
        2: predicted(10.0, unknown=("aten::fft: kprof does not know what it does",)),
    }
    assert scored.counted(jobs, found) == jobs[:1]


def test_times_and_orders_by_hand():
    """Three versions: 10, 20 and 21 us. Two pairs are apart, one is called right, one a tie; 21 is 5 % from 20."""
    jobs = [job(0, measured=10.0), job(1, measured=20.0), job(2, measured=21.0)]
    found = {0: predicted(11.0, 9.0, 12.0), 1: predicted(11.0, 9.0, 12.0), 2: predicted(50.0, 20.0, 60.0)}
    header, line = scored.table(jobs, {"warm": found}).splitlines()[:2]
    for heading, word in (("within 15 %", "near"), ("within 2x", "twice"), ("in range", "inside")):
        header = header.replace(heading, word)
    named = dict(zip(header.split(), line.split(), strict=True))
    assert named["condition"] == "warm"
    assert named["rows"] == "3"
    assert named["median"] == "1.10"
    assert (named["near"], named["twice"], named["inside"]) == ("33%", "67%", "67%")
    assert (named["pairs"], named["right"], named["tied"], named["wrong"]) == ("2", "1", "1", "0")
