"""Every figure of every architecture: value, unit, source, and agreement with the others."""

import math

import pytest

from kprof.hardware.figures import figures, unit_of
from kprof.hardware.machine import architectures, load

ALL = [load(name) for name in architectures()]
PRODUCTS = [(arch, product) for arch in ALL for product in arch.products.values()]


def named(table):
    """Ids of all sources that a table and those inside it name."""
    yield from table.get("source", [])
    for ids in table.get("sources", {}).values():
        yield from ids
    for name, inner in table.items():
        if isinstance(inner, dict) and name != "sources":
            yield from named(inner)


@pytest.mark.parametrize("arch", ALL, ids=lambda a: a.name)
def test_each_figure_has_value_unit_and_source(arch):
    """Nothing is in the tables without saying what it counts and where it comes from."""
    known = list(figures(arch))

    assert len(known) > 30
    for figure in known:
        assert figure.value is not None, figure.key
        assert isinstance(figure.value, bool) or figure.unit, figure.key
        assert figure.sources, figure.key
        assert all(source in arch.sources for source in figure.sources), figure.key


@pytest.mark.parametrize("arch", ALL, ids=lambda a: a.name)
def test_numbers_are_numbers(arch):
    """Prose never hides in a figure: only lane groups, operand types and instructions are words."""
    for figure in figures(arch):
        values = figure.value if isinstance(figure.value, list) else [figure.value]
        words = [v for v in values if isinstance(v, str)]
        assert (
            not words
            or figure.key.startswith(("lds.phases.", "matrix.instructions.", "packed_conversions."))
            or figure.key.endswith(".pci_device")
        ), figure.key
        numbers = [v for v in values if isinstance(v, int | float)]
        assert all(v >= 0 and math.isfinite(v) for v in numbers), figure.key


def test_each_source_is_used_and_says_what_it_is():
    """The list of citations has no leftovers, and each has a kind and a text."""
    sources = ALL[0].sources
    used = {source for arch in ALL for source in named(arch.data)}

    assert set(sources) == used
    assert {s.kind for s in sources.values()} == {"read", "measured", "derived", "fitted", "weak", "none"}
    assert all(len(s.text) > 20 for s in sources.values() if s.kind != "none")


def test_unsourced_figures_are_told_apart():
    """Placeholders and hearsay are not firm, published figures are."""
    gfx942 = load("gfx942")

    assert not gfx942.is_sourced("memory.l1.latency_cycles")
    assert not gfx942.is_sourced("memory.hbm.latency_ns")
    assert gfx942.is_sourced("memory.mall.latency_ns")
    assert gfx942.is_sourced("occupancy.max_waves_per_simd")
    assert not load("gfx1250").is_sourced("matrix.instructions.v_wmma_f32_16x16x32_f16")
    assert not load("gfx950").is_sourced("matrix.coexecution_cycles")
    assert load("gfx942").is_sourced("matrix.coexecution_cycles")


def test_everything_occupancy_rests_on_is_firm():
    """No verdict about occupancy comes from a placeholder."""
    for arch in ALL:
        for figure in figures(arch):
            if figure.key.startswith(("occupancy.", "lds.bytes", "lds.granule", "wavefront", "wait_counters.")):
                assert figure.firm, (arch.name, figure.key)


def test_sources_are_looked_up_from_the_inside_out():
    """A key's own source comes before its table's, and a table's before that of the table around it."""
    arch = load("gfx942")

    assert arch.source_of("lds.banks") == ("llvm22", "lds_measured")
    assert arch.source_of("lds.granule") == ("llvm22", "triton39")
    assert arch.source_of("occupancy.vgprs.64.total") == arch.source_of("occupancy.max_waves_per_simd")
    assert arch.source_of("products.MI300X.memory.mall.sustained_gbs") == ("chips_and_cheese",)
    for key in ("occupancy.nothing", "nothing", "products.MI999.clock_mhz"):
        with pytest.raises(KeyError):
            arch.source_of(key)


@pytest.mark.parametrize(("arch", "product"), PRODUCTS, ids=lambda x: x.name)
def test_published_peaks_are_units_times_rate_times_clock(arch, product):
    """Published peaks come out of the rates within 2 %."""
    for kind, published in product.peaks.items():
        assert product.compute_units
        assert product.clock_mhz
        computed = product.compute_units * arch.rates[kind] * product.clock_mhz / 1e6
        assert computed == pytest.approx(published, rel=0.02), kind


@pytest.mark.parametrize("arch", ALL, ids=lambda a: a.name)
def test_rates_are_what_the_instructions_reach(arch):
    """The matrix rate of a type is that of its fastest dense instruction."""
    names = {"iu8": "i8", "iu4": "i4", "bf8": "fp8"}
    fastest: dict[str, float] = {}
    for instruction in arch.matrix_instructions.values():
        if not instruction.sparse:
            kind = f"matrix_{names.get(instruction.type, instruction.type)}"
            fastest[kind] = max(fastest.get(kind, 0), instruction.flops_per_cycle)
    for kind, rate in fastest.items():
        if kind in arch.rates:
            assert rate == arch.rates[kind], kind
    if fastest and arch.name != "gfx1250":
        matrix = {k for k, v in arch.rates.items() if k.startswith("matrix_") and v and k != "matrix_sparse_factor"}
        assert matrix == set(fastest)


def test_gfx950_runs_the_old_shapes_at_half_rate():
    """On gfx950 the instructions that gfx942 has take as long as those with twice the depth."""
    known = load("gfx950").matrix_instructions

    assert known["v_mfma_f32_16x16x16_f16"].passes == known["v_mfma_f32_16x16x32_f16"].passes == 4
    assert known["v_mfma_f64_16x16x4_f64"].passes == 16
    assert "v_mfma_f32_16x16x8_xf32" not in known


def test_matrix_lookup_takes_assembly_mnemonics():
    """Suffixes are ignored, and formats choose among the f8f6f4 rows; without one the slowest is meant."""
    arch = load("gfx950")
    slow = arch.matrix_instruction("v_mfma_f32_16x16x128_f8f6f4")
    quick = arch.matrix_instruction("v_mfma_scale_f32_16x16x128_f8f6f4", "fp4")

    assert slow is not None
    assert quick is not None
    assert (slow.cycles, quick.cycles) == (32, 16)
    assert arch.matrix_instruction("v_mfma_f32_32x32x8_f16_e64") is arch.matrix_instructions["v_mfma_f32_32x32x8_f16"]
    assert arch.matrix_instruction("v_add_f32") is None


@pytest.mark.parametrize("arch", [a for a in ALL if a.lds.phases], ids=lambda a: a.name)
def test_lds_phases_serve_each_lane_once(arch):
    """The groups of an access are equal in size, disjoint, and cover the wavefront."""
    for access, groups in arch.lds.phases.items():
        lanes = [lane for group in groups for lane in group]
        assert sorted(lanes) == list(range(arch.wavefront_size)), access
        assert len({len(group) for group in groups}) == 1, access
        width = int(access.rpartition("b")[2]) // 32
        assert len(groups[0]) * width <= arch.lds.banks, access


def test_units_are_known_by_path():
    """Spot checks of units, and none for what is no figure."""
    assert unit_of("occupancy.vgprs.64.granule") == "registers per lane"
    assert unit_of("rates.l1_bytes") == "bytes per cycle and CU"
    assert unit_of("products.MI300X.clock_mhz") == "MHz"
    assert unit_of("rates.matrix_fp16") == "operations per cycle and CU"
    assert unit_of("unheard.of") is None
