"""``times.csv``: what is asked for, and that it can be given back."""

from kprof.tuning.document import (
    CompiledResources,
    Ranked,
    SearchFacts,
    SpaceFacts,
    TunedProblem,
    TuneReport,
    TuningVerdict,
)
from kprof.tuning.evaluation import Evaluation
from kprof.tuning.measured_times import read, times_csv
from kprof.tuning.short_list import COUNT, to_time


def scored(n, **other):
    return Evaluation({"a": 2 ** (n % 5), "n": n}, time_us=10.0 + n, low_us=5.0, high_us=50.0, codes=(str(n),), **other)


def test_ten_of_many_are_asked_for_and_none_of_few_or_of_timed_ones():
    many = [scored(n) for n in range(400)]
    asked = to_time(many)
    assert len(set(asked)) == COUNT
    assert asked == sorted(asked)
    assert len({many[place].config["a"] for place in asked}) >= 3
    assert to_time(many[:COUNT]) == []
    assert to_time([scored(0, given=True), *many[1:]]) == []
    assert to_time([scored(0, measured_ms=1.0), *many[1:]]) == []


def problem(size, *configs):
    ranking = [Ranked(config, 1.0, 0.5, 2.0, "matrix", CompiledResources()) for config in configs]
    places = list(range(len(ranking)))
    return TunedProblem(f"M={size}", {"M": size, "N": 8}, {}, 1, None, ranking, places, [], to_time=places)


def report(*problems):
    search = SearchFacts("complete", 1, 1, 1, 1, 0, 0, 0, {}, "", 1.0, 1.0, "1 process", "")
    space = SpaceFacts("a test", 1, 1, {}, [])
    return TuneReport("1", "k", "gfx942", None, None, space, search, list(problems), TuningVerdict("ok", ""))


def test_the_file_has_knobs_and_the_sizes_that_differ(tmp_path):
    one, two = problem(8, {"a": 1, "w": ""}, {"a": 2, "w": ".cg"}), problem(16, {"a": 4, "w": None})
    assert times_csv(report(one)) == "a,w,time_us\n1,,\n2,.cg,\n"
    text = times_csv(report(one, two))
    assert text == "M,a,w,time_us\n8,1,,\n8,2,.cg,\n16,4,,\n"
    place = tmp_path / "times.csv"
    place.write_text(text.replace(".cg,", ".cg,7.5"))
    (time,) = read(str(place))
    assert (time.us, time.named) == (7.5, {"M": "8", "a": "2", "w": ".cg"})


def test_nothing_asked_for_is_no_file():
    assert times_csv(report()) == ""
