"""What measurements say of findings."""

import pytest
from msgspec.structs import replace

from kprof.document import KernelReport, Occupancy, Prediction, Resources
from kprof.errors import KprofError
from kprof.findings import Finding, Location, Severity
from kprof_analyzers.profiles.measured import reading
from kprof_analyzers.profiles.measured.join import CompiledIdentity
from kprof_analyzers.profiles.measured.judge import judge

SUBJECT = CompiledIdentity("flash_attention_kernel", 64, 4, 32768, 256)


def _finding(rule: str, severity: Severity = Severity.WARNING) -> Finding:
    return Finding(rule, "some-name", severity, f"about {rule}", Location("flash_attention.py", 56))


def _report(*rules: str, waves: float = 2.0) -> KernelReport:
    return KernelReport(
        "flash_attention",
        "gfx942",
        resources=Resources(num_warps=4, lds_bytes=32768, vgpr_allocated=256, scratch_bytes=12, wavefront_size=64),
        occupancy=Occupancy(waves, 8, 2, "vgpr", {"vgpr": waves}),
        findings=[_finding(rule) for rule in rules],
    )


@pytest.fixture
def measured(tmp_path, making):
    """``measured(report, waves_per_simd=1.9, ..., lds=32768)``: judged by one launch with such counters."""

    def make(report, *, drop=(), lds=32768, scratch=0, vgprs=256, **metrics):
        for old in tmp_path.iterdir():
            old.unlink()
        making.agents(tmp_path)
        counters = {name: value for name, value in making.counted(**metrics).items() if name not in drop}
        making.collection(tmp_path, counters, lds=lds, scratch=scratch, vgprs=vgprs)
        return judge(report, SUBJECT, reading.read([tmp_path], []))

    return make


def _standings(result) -> dict[str, str]:
    return {one.rule: one.standing for one in result.judgements}


def test_confirmed_refuted_and_not_measured_in_this_order(measured):
    """Bank conflicts counted, no scratch given, HBM not counted; the ranking follows, not the static one."""
    result = measured(_report("KP302", "KP101", "KP112"), conflicts=0.5)
    assert [(j.rule, j.standing, j.finding) for j in result.judgements] == [
        ("KP112", "confirmed", 2),
        ("KP101", "not measured", 1),
        ("KP302", "refuted", 0),
    ]
    confirmed, absent, refuted = result.judgements
    assert confirmed.numbers == {"lds_conflicts_per_access": pytest.approx(0.5)}
    assert "0.50 conflict cycles" in confirmed.words
    assert confirmed.place == "flash_attention.py:56"
    assert absent.numbers == {}
    assert any(counter.startswith(("TCC_", "FETCH", "Fetch")) for counter in absent.collect)
    assert result.collect
    assert all(option.startswith("--pmc ") for option in result.collect)
    assert refuted.numbers == {"scratch_bytes": 0.0}
    assert result.gpu == "MI300X"


@pytest.mark.parametrize(
    ("rule", "metrics", "standing"),
    [
        ("KP112", {"conflicts": 0.02}, "refuted"),
        ("KP303", {"waves_per_simd": 1.9}, "confirmed"),
        ("KP303", {"waves_per_simd": 0.7}, "refuted"),
        ("KP403", {"waves_per_simd": 2.4}, "refuted"),
        ("KP405", {"waves_per_simd": 1.2}, "confirmed"),
        ("KP204", {"wait": 0.4}, "confirmed"),
        ("KP204", {"wait": 0.1}, "refuted"),
        ("KP204", {"wait": 0.4, "mfma": 0.9}, "refuted"),
        ("KP302", {"scratch": 16}, "confirmed"),
        ("KP504", {"mfma": 0.7}, "confirmed"),
        ("KP506", {"valu": 0.1}, "refuted"),
        ("KP404", {}, "refuted"),
        ("KP401", {}, "refuted"),
        ("KP502", {}, "not measured"),
    ],
)
def test_each_question(measured, rule, metrics, standing):
    """Rules are decided by the number that their page speaks of."""
    assert _standings(measured(_report(rule), **metrics)) == {rule: standing}


def test_a_missing_counter_is_not_zero(measured):
    """Without the conflict counter there is no verdict, but the counter's name."""
    (one,) = measured(_report("KP112"), drop=("SQ_LDS_BANK_CONFLICT",)).judgements
    assert one.standing == "not measured"
    assert one.collect == ["SQ_LDS_BANK_CONFLICT"]


def test_an_impossible_metric_decides_nothing(measured):
    """A matrix unit busy 170 % of the time: said so, and not used."""
    (one,) = measured(_report("KP504"), mfma=1.7).judgements
    assert one.standing == "not measured"
    assert "impossible" in one.words


def test_doubtful_match_is_said_and_refutes_no_launch(measured):
    """Other LDS than compiled: doubtful, noted, and a launch over the limit may still be one."""
    result = measured(_report("KP401"), lds=16384)
    assert result.matches[0].confidence == "doubtful"
    assert _standings(result) == {"KP401": "not measured"}
    assert any("lds_bytes 16384 measured, 32768 compiled" in note for note in result.notes)


def test_a_doubtful_match_confirms_and_refutes_nothing(measured):
    """LDS 16,896 measured, 32,768 compiled: numbers that would confirm and refute are shown, and decide nothing."""
    result = measured(_report("KP112", "KP302", "KP303"), lds=16896, conflicts=0.5)
    assert set(_standings(result).values()) == {"not measured"}
    assert all("another build" in one.words and "16896 measured" in one.words for one in result.judgements)
    assert result.collect == []
    assert "lds_conflicts_per_access" in {fact.id for fact in result.facts}


def test_facts_beyond_findings(measured):
    """Achieved against computed occupancy, and conflicts that no finding predicts."""
    facts = {fact.id: fact for fact in measured(_report(), waves_per_simd=0.7, conflicts=0.5).facts}
    assert facts["waves_per_simd"].value == pytest.approx(0.7)
    assert facts["waves_per_simd"].computed == 2.0
    assert "lower than the resources allow" in facts["waves_per_simd"].remark
    assert "no finding predicts" in facts["lds_conflicts_per_access"].remark
    assert facts["mean_ns"].value == 2000.0


def test_trace_gives_time_share_and_launch(tmp_path, builder):
    """A kernel of 30 us beside one of 70: its share, its rank, Amdahl's bound, and no counters."""
    trace = builder.Builder()
    same = {"grid": [4096, 1, 1], "block": [256, 1, 1], "shared memory": 32768}
    trace.run("flash_attention_kernel", 1000, 30, api="hipModuleLaunchKernel", **same)
    trace.run("Cijk_gemm", 1100, 70, api="hipExtModuleLaunchKernel", grid=[64, 1, 1], block=[256, 1, 1])
    path = trace.write(tmp_path / "t.json")
    result = judge(_report("KP112", "KP401"), SUBJECT, reading.read([], [path]))
    (match,) = result.matches
    assert (match.source, match.dispatches, match.confidence) == ("trace", 1, "sure")
    assert _standings(result) == {"KP112": "not measured", "KP401": "refuted"}
    facts = {fact.id: fact for fact in result.facts}
    assert facts["time_share"].value == pytest.approx(30)
    assert facts["time_share"].remark.startswith("number 2 of")
    assert "1.18 times" in facts["time_share"].remark
    assert facts["trace_mean_ns"].value == pytest.approx(30)


def test_published_trace(shared):
    """A published trace of Inductor's kernels: joined by name, wavefronts and LDS; 8,192 B and 8 wavefronts."""
    path = shared / "samples" / "kineto" / "torch_compile_triton" / "trace.json.gz"
    if not path.exists():
        pytest.skip("the sample is not there")
    subject = CompiledIdentity("triton_red_fused_add_mean_mul_pow_rsqrt_0", 64, 8, 8192, None)
    result = judge(_report("KP401"), subject, reading.read([], [path]))
    assert result.gpu == "MI300X"
    assert result.matches[0].confidence == "sure"
    assert {fact.id: fact.value for fact in result.facts}["trace_mean_ns"] == pytest.approx(77.074)
    other = CompiledIdentity("triton_red_fused_add_mean_mul_pow_rsqrt_1", 64, 8, 8192, None)
    with pytest.raises(KprofError, match="did you mean 'triton_red_fused_add_mean_mul_pow_rsqrt_0'"):
        judge(_report(), other, reading.read([], [path]))


def test_a_likely_match_confirms_and_refutes_nothing(measured):
    """The same LDS and wavefronts in other registers: another build. Nothing is decided, and what differs is said."""
    result = measured(_report("KP112", "KP204"), conflicts=0.5, vgprs=128)
    assert result.matches[0].confidence == "likely"
    assert set(_standings(result).values()) == {"not measured"}
    assert all("vgprs 128 measured, 256 compiled" in one.words for one in result.judgements)


def _predicted(report: KernelReport, time_us: float, workgroups: int | None = 4096) -> KernelReport:
    model = Prediction(
        time_us, time_us / 2, time_us * 2, 3e6, "matrix", {"matrix": 1.0}, workgroups=workgroups, clock_mhz=2100.0
    )
    return replace(report, model=model)


@pytest.mark.parametrize(
    ("time_us", "standing", "words"),
    [(1900, "confirmed", "within"), (900, "refuted", "2.22 times too fast"), (5000, "refuted", "2.50 times too slow")],
)
def test_the_time_is_held_against_the_model_s_range(measured, time_us, standing, words):
    """2,000 us measured; the range is half to twice the prediction. Of cycles there is no range."""
    found = {one.id: one for one in measured(_predicted(_report(), time_us)).comparisons}
    assert (found["time_us"].measured, found["time_us"].ratio) == (2000, time_us / 2000)
    assert found["time_us"].standing == standing
    assert words in found["time_us"].words
    assert (found["cycles"].measured, found["cycles"].modelled, found["cycles"].standing) == (
        pytest.approx(4.2e6), 3e6, "cannot tell",
    )  # fmt: skip


def test_another_launch_or_build_says_nothing_of_the_model(measured):
    """4,096 workgroups ran, 64 were modelled; or what ran has other LDS."""
    (time,) = (one for one in measured(_predicted(_report(), 1900, 64)).comparisons if one.id == "time_us")
    assert (time.standing, time.words) == ("cannot tell", "another launch: 4,096 workgroups measured, 64 modelled")
    (time,) = (one for one in measured(_predicted(_report(), 1900), lds=16896).comparisons if one.id == "time_us")
    assert time.standing == "cannot tell"
    assert "another build" in time.words
    (time,) = (one for one in measured(_predicted(_report(), 1900, None)).comparisons if one.id == "time_us")
    assert time.standing == "cannot tell"


def test_what_is_not_modelled_stands_beside_nothing(measured):
    """No prediction, or one without a time."""
    assert measured(_report()).comparisons == []
    report = _predicted(_report(), 1900)
    report = replace(report, model=replace(report.model, time_us=None, low_us=None, high_us=None))
    assert "time_us" not in {one.id for one in measured(report).comparisons}
