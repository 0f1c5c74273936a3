"""Agents' and torch's programs in the model's benchmark: which are drawn, and how predictions of them are judged."""

import csv
import gzip
import json
import sys
from dataclasses import asdict, replace
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))
from validation.benchmarks.model.programs import chosen, page, scored  # noqa: E402  # the path comes first

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


def test_torchs_own_programs_count_however_little_of_them_is_triton():
    torchs = [chosen.Job(n, "p", "w", "big", "", 10.0, "eager") for n in range(2)]
    found = {
        0: predicted(10.0, triton=0.0),
        1: predicted(10.0, unknown=("aten::fft: kprof does not know what it does",)),
    }
    assert scored.counted(torchs, found) == torchs[:1]


def test_torchs_programs_at_the_longest_and_the_median_size(tmp_path, monkeypatch):
    """By eager time, so that both variants have the same sizes; another set and a size without a time are left out."""
    columns = ("set", "problem", "variant", "workload", "time_us", "clock_mhz")
    own = chosen.TORCH_SET
    rows = [(own, "p", "v1_eager", name, us) for name, us in (("a", 5.0), ("b", 50.0), ("c", 20.0))]
    rows += [
        (own, "p", "v2_compile", "b", 40.0),
        ("another", "p", "v2_compile", "c", 1.0),
        (own, "q", "v1_eager", "a", ""),
        # Measured once, and twice: 30 and 4 % apart.
        (own, "r", "v1_eager", "b", 90.0),
        *((where, "r", "v1_eager", "d", us) for where, us in ((own, 130.0), (chosen.TORCH_AGAIN, 100.0))),
        *((where, "r", "v1_eager", "c", us) for where, us in ((own, 104.0), (chosen.TORCH_AGAIN, 100.0))),
    ]
    with gzip.open(tmp_path / "sol_execbench_rocm_torch_variants.csv.gz", "wt", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerows([columns, *((*row, 2390.0) for row in rows)])
    workloads = [{"uuid": name} for name in "abcd"]
    monkeypatch.setattr(chosen, "problems_of", lambda _: {name: {"workloads": workloads} for name in "pqr"})

    eager, compiled = (chosen.torch_jobs(tmp_path, tmp_path, by) for by in ("eager", "compiled"))
    assert [(one.problem, one.size, one.workload, one.measured_us) for one in eager] == [
        ("p", "big", "b", 50.0),
        ("p", "medium", "c", 20.0),
        ("r", "medium", "c", 104.0),
    ]
    assert [one.clock_mhz for one in eager] == [2390.0] * 3
    assert [(one.workload, one.measured_us, one.by) for one in compiled] == [("b", 40.0, "compiled")]


def test_times_and_orders_by_hand():
    """Three versions: 10, 20 and 21 us. Two pairs are apart, one is called right, one a tie; 21 is 5 % from 20."""
    jobs = [job(0, measured=10.0), job(1, measured=20.0), job(2, measured=21.0)]
    found = {0: predicted(11.0, 9.0, 12.0), 1: predicted(11.0, 9.0, 12.0), 2: predicted(50.0, 20.0, 60.0)}
    header, line = scored.table(jobs, {"warm": found}).splitlines()[:2]
    words = {"within 15 %": "near", "within 25 %": "quarter", "within 2x": "twice", "in range": "inside"}
    for heading, word in words.items():
        header = header.replace(heading, word)
    named = dict(zip(header.split(), line.split(), strict=True))
    assert named["condition"] == "warm"
    assert named["rows"] == "3"
    assert named["median"] == "1.10"
    assert (named["near"], named["quarter"], named["twice"], named["inside"]) == ("33%", "33%", "67%", "67%")
    assert named["width"] == "1.33"
    assert (named["pairs"], named["right"], named["tied"], named["wrong"]) == ("2", "1", "1", "0")


def test_the_page_has_each_half_the_furthest_rows_and_what_was_left_out():
    jobs = [chosen.Job(n, "p", "w", "big", "", 10.0, "eager") for n in range(3)]
    found = {0: predicted(11.0, 9.0, 12.0), 1: predicted(40.0, 30.0, 60.0)}
    rows = [asdict(one) | (asdict(found[one.id]) if one.id in found else {}) for one in jobs]
    text = page.written({"eager": {"triton": "3.9.0", "rows": rows, "refused": {"2": "ValueError: no axis"}}})

    assert "Compiled with Triton 3.9.0. 2 of 3 rows count." in text
    table = [line.strip("|").split("|") for line in text.splitlines() if line.startswith("| ")]
    all_problems = dict(zip(map(str.strip, table[0]), map(str.strip, table[1]), strict=True))
    assert (all_problems["rows"], all_problems["within 25 %"], all_problems["in range"]) == ("2", "50%", "50%")
    assert text.index("| p | big | 10.0 | 40.0 | 30 to 60 | 4.00 |") < text.index("| 1.10 |")
    assert "- 1 x did not run: ValueError: no axis" in text


def test_clocks_are_judged_by_their_relative_error():
    """Clocks of 2,000 and 2,400 MHz, called 5 and 1 % off."""
    jobs = [replace(job(n), clock_mhz=clock) for n, clock in enumerate((2000.0, 2400.0))]
    found = {n: replace(predicted(10.0), predicted_mhz=clock) for n, clock in enumerate((2100.0, 2376.0))}
    said = scored.clocks(jobs, found)
    assert "median error of 2 is 3.0%" in said
    assert "of the 1 below 2,300 MHz" in said
    assert said.endswith("5.0%.")
    assert scored.clocks([job(0)], found) == ""


def test_a_row_that_is_not_drawn_any_more_leaves_the_page(tmp_path, monkeypatch):
    """Numbers move up when a row is left out; rows of problems that were not run again stay."""
    monkeypatch.setattr(page, "PAGES", tmp_path)
    first = [job(0, "p", workload="a"), job(1, "p", workload="b"), job(2, "q", workload="c")]
    page.keep("agents", "3.5.1", first, {one.id: predicted(10.0) for one in first}, {"2": "no axis"})
    page.keep("agents", "3.5.1", [job(0, "p", workload="b")], {0: predicted(11.0)}, {})
    kept = json.loads((tmp_path / "sol_execbench.json").read_text(encoding="utf-8"))["agents"]
    assert [(row["problem"], row["workload"]) for row in kept["rows"]] == [("p", "b"), ("q", "c")]
    assert kept["refused"] == {"2": "no axis"}
