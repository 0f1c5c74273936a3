"""What all rules share: what they need, where they do not apply, and what they propose."""

import re
from dataclasses import replace
from functools import cache
from pathlib import Path
from unittest.mock import patch

import pytest
from msgspec import UNSET

from kprof.analysis import KernelFacts
from kprof.document import Specialization
from kprof.gate.rules import METRIC_WORDS
from kprof.hardware.code import TritonFacts
from kprof.hardware.machine import architectures, find_product, load
from kprof.hardware.model import Architecture
from kprof.inputs import mlir
from kprof_analyzers.rules import known_rules, levers, rules
from kprof_analyzers.rules.levers import Lever
from kprof_analyzers.rules.page import page
from kprof_analyzers.rules.rule import Need
from tests.rules.literate import assembly, cases, facts_of

ROOT = Path(__file__).parents[2]
BARE = {
    Need.TTGIR: {"ttgir": None},
    Need.GRID: {"grid": None},
    Need.SIZES: {"arguments": {}},
    Need.PRODUCT: {"product": None},
    Need.OCCUPANCY: {"occupancy": None},
    Need.NUM_STAGES: {"metadata": {}},
    Need.PREDICTION: {"prediction": None},
}


@cache
def some_kernel() -> KernelFacts:
    """One on which a rule fires."""
    return facts_of(next(case for case in cases() if case.fires))


def firing(rule):
    """Facts of the cases in which a rule fires."""
    file = ".".join(type(rule).__module__.split(".")[-2:])
    return [facts_of(case) for case in cases() if case.fires and f"{case.file.parent.name}.{case.file.stem}" == file]


def without(need, facts):
    """The same facts, one missing."""
    if need in BARE:
        return replace(facts, **BARE[need])
    name = {Need.NUM_WARPS: "num_warps", Need.WAVEFRONT_SIZE: "wavefront_size", Need.LDS: "lds_bytes"}[need]
    from msgspec.structs import replace as changed

    return replace(facts, resources=changed(facts.resources, **{name: None}))


@pytest.mark.parametrize("rule", rules(), ids=lambda rule: rule.id)
def test_a_rule_without_what_it_needs_is_not_checked(rule):
    """It finds nothing, and says which fact is missing: for each need, on kernels on which it fires otherwise."""
    found = firing(rule)
    assert found
    for facts in found:
        assert rule.analyze(facts).findings
        for need in rule.needs:
            analysis = rule.analyze(without(need, facts))
            assert not analysis.findings
            assert not analysis.checked
            assert [each.rule for each in analysis.not_checked] == [rule.id]
            assert need.lacking(without(need, facts)) == analysis.not_checked[0].reason


@pytest.mark.parametrize("name", architectures())
@pytest.mark.parametrize("rule", rules(), ids=lambda rule: rule.id)
def test_every_rule_says_what_became_of_it(rule, name):
    """Checked, not checked or does not apply, on every architecture: never nothing at all."""
    facts = replace(some_kernel(), arch=load(name), product=None)
    analysis = rule.analyze(facts)
    listed = [*analysis.checked, *(u.rule for u in (*analysis.not_checked, *analysis.does_not_apply))]
    assert listed == [rule.id]
    assert all(u.reason and u.name == rule.name for u in (*analysis.not_checked, *analysis.does_not_apply))


@pytest.mark.parametrize(
    ("arch", "rule", "reason"),
    [
        ("gfx1201", "agpr-copies-in-loop", "gfx1201 has no AGPRs"),
        ("gfx942", "copy-through-registers", "gfx942 copies 4 B a lane straight to LDS, not 16"),
        ("gfx1201", "copy-through-registers", "gfx1201 has no such copies"),
        ("gfx1201", "large-matrix-instruction", "gfx1201 has no 32x32 matrix instructions"),
        ("gfx1030", "dot-without-matrix-unit", "gfx1030 has no matrix instructions"),
        ("gfx1030", "half-rate-matrix-instruction", "gfx1030 has no matrix instructions"),
        ("gfx90a", "grid-order-across-xcds", "GPUs of gfx90a are one die"),
        ("gfx942", "wave64-where-wave32", "wavefronts of gfx942 have 64 lanes only"),
        ("gfx1250", "wave64-where-wave32", "wavefronts of gfx1250 have 32 lanes only"),
        ("gfx1201", "no-ping-pong", "Triton has no ping-pong scheduling for gfx1201"),
        ("gfx1100", "unpacked-conversion", "gfx1100 packs no conversion with the same rounding"),
    ],
)
def test_where_a_rule_does_not_apply(arch, rule, reason):
    """The hardware or the compiler lacks the thing, and the file of the architecture says so."""
    (found,) = (r for r in rules() if r.name == rule)
    assert found.absent_from(load(arch)) == reason


def unpulled(lever: Lever, facts: KernelFacts):
    """The same kernel with the lever's knob at each of some values from which it can be turned."""
    tile = lever.knob.startswith("BLOCK") or lever.knob == "SPLIT_K"
    for value in ("0", "1") if lever.knob.isupper() and not tile else (0, 1, 2, 4, 8, 16, 32, 64, 128):
        constexprs, metadata, environment = {}, dict(facts.metadata), {}
        (constexprs if tile else environment if lever.knob.isupper() else metadata)[lever.knob] = value
        specialization = Specialization(constexprs=constexprs, environment=environment)
        yield replace(facts, metadata=metadata, specialization=specialization, triton=facts.triton or "3.9.0")


@pytest.mark.parametrize("rule", rules(), ids=lambda rule: rule.id)
def test_a_finding_carries_each_lever_of_its_rule_or_its_page_says_what_to_change(rule):
    """On the kernels of the rule's own cases, with the knob where it can still be turned.

    The cases are fragments, in which no loop or grid moves a tile: test_smaller_tiles.py has whole kernels.
    """
    if not rule.levers:
        assert "## What to try" in page(rule)
    for lever in rule.levers:
        with patch.object(levers, "tiles_advance", return_value=True):
            found = [
                advice
                for facts in firing(rule)
                for turned in unpulled(lever, facts)
                for finding in rule.analyze(turned).findings
                for advice in finding.advice
            ]
        assert any(advice.knob == lever.knob and advice.note in {lever.note, UNSET} for advice in found), lever


@cache
def bare() -> Architecture:
    """An architecture of which nothing beyond the least is known."""
    return replace(
        load("gfx942"),
        issue=None,
        packed_conversions=None,
        triton=TritonFacts(),
        memory={},
        model={},
        products={},
        matrix_instructions={},
        lds=replace(load("gfx942").lds, direct_load_bytes=None),
        data={},
    )


def test_no_file_but_a_rules_own_names_it():
    """Elsewhere rules are asked for what they say of themselves; examples in help and docstrings apart."""
    ids, words = zip(*((rule.id, rule.name) for rule in known_rules()), strict=True)
    names = re.compile(rf"\b(?:{'|'.join(ids)})\b|\"(?:{'|'.join(words)})\"")
    found = []
    for file in (file for folder in ("kprof", "analyzers", "servers") for file in (ROOT / folder).rglob("*")):
        path = file.relative_to(ROOT).as_posix()
        if file.suffix not in {".py", ".toml", ".html", ".js"} or path.startswith("analyzers/kprof_analyzers/rules/"):
            continue
        text = file.read_text(encoding="utf-8")
        if not names.search(text):
            continue
        for number, line in enumerate(text.splitlines(), 1):
            example = re.search(r"``[^`]*KP\d{3}|ignore\[KP\d{3}\]|explain KP\d{3}|name: KP\d{3} or", line)
            if names.search(line) and not example:
                found.append(f"{path}:{number}: {line.strip()}")
    assert not found


def test_metrics_that_rules_explain_are_metrics():
    """A misspelled metric would explain nothing without a word."""
    for rule in rules():
        assert set(rule.explains) <= set(METRIC_WORDS), rule.id
        assert set(rule.restates) <= {"loop_spills", "vgpr_spills", "lds_over_limit"}, rule.id
    for metric in ("vgpr_spills", "sgpr_spills", "scratch_bytes", "lds_bytes", "waves_per_simd"):
        assert any(metric in rule.explains for rule in rules()), metric


@pytest.mark.parametrize(
    ("rule", "reason"),
    [
        ("missing-buffer-loads", "whether Triton makes buffer operations for gfx942 is not known"),
        ("stride-multiple-of-512-bytes", "whether rows meet in a channel of the tag RAM of gfx942 is not known"),
        ("agpr-copies-in-loop", "how gfx942 issues instructions is not known"),
        ("grid-order-across-xcds", "how many dies the GPUs of gfx942 have is not known"),
        ("dot-without-matrix-unit", "the matrix instructions of gfx942 are not known"),
        ("large-matrix-instruction", "the matrix instructions of gfx942 are not known"),
        ("half-rate-matrix-instruction", "the matrix instructions of gfx942 are not known"),
        ("kpack-misfit", "what kpack does on gfx942 is not known"),
        ("unpacked-conversion", "which conversions gfx942 packs is not known"),
        ("copy-through-registers", "whether gfx942 copies tiles straight to LDS is not known"),
        ("no-ping-pong", "whether Triton schedules for ping-pong on gfx942 is not known"),
    ],
)
def test_what_a_file_does_not_say_is_named(rule, reason):
    """The reason says which fact is missing."""
    (found,) = (r for r in rules() if r.name == rule)
    analysis = found.analyze(replace(some_kernel(), arch=bare()))
    assert [each.reason for each in analysis.not_checked] == [reason]


def test_32x32_where_the_clock_is_not_known():
    """The instructions are there, but nobody has said that they clock lower."""
    (found,) = (r for r in rules() if r.name == "large-matrix-instruction")
    analysis = found.analyze(replace(some_kernel(), arch=load("gfx90a")))
    assert [u.reason for u in analysis.not_checked] == ["whether 32x32 instructions clock lower on gfx90a is not known"]


def xcds(*counts):
    """gfx942 with products of so many dies."""
    product = find_product("MI300X")
    return replace(load("gfx942"), products={f"P{n}": replace(product, xcds=count) for n, count in enumerate(counts)})


@pytest.mark.parametrize(
    ("counts", "reason"),
    [
        ((1, 8), None),
        ((8, 1), None),
        ((2,), None),
        ((1,), "GPUs of gfx942 are one die"),
        ((1, 1), "GPUs of gfx942 are one die"),
    ],
)
def test_the_order_of_a_grid_matters_where_any_product_has_several_dies(counts, reason):
    """One is enough, whichever it is."""
    (found,) = (r for r in rules() if r.name == "grid-order-across-xcds")
    assert found.absent_from(xcds(*counts)) == reason


@pytest.mark.parametrize(("count", "fires"), [(1, False), (2, True), (8, True)])
def test_the_order_of_a_grid_matters_from_two_dies_on(count, fires):
    """A product of one die beside others of eight has no neighbours to lose."""
    (found,) = (r for r in rules() if r.name == "grid-order-across-xcds")
    facts = firing(found)[0]
    analysis = found.analyze(replace(facts, product=replace(facts.product, xcds=count)))
    assert [f.evidence["xcds"] for f in analysis.findings] == [count] * fires


TILE = """
#b = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [64], warpsPerCTA = [4], order = [0]}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 64 : i32} {
  tt.func public @k(%x_ptr: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %first: i32) {
    %r = tt.make_range {end = 4096 : i32, start = 0 : i32} : tensor<4096xi32, #b>
    %f = tt.splat %first : i32 -> tensor<4096xi32, #b>
    %o = arith.addi %r, %f : tensor<4096xi32, #b>
    %v = amdg.buffer_load %x_ptr[%o] : !tt.ptr<f16> -> tensor<4096xf16, #b> loc(#loc1)
    amdg.buffer_store %v, %x_ptr[%o] : !tt.ptr<f16> -> tensor<4096xf16, #b> loc(#loc1)
    tt.return
  }
}
#loc1 = loc("/user/k.py":11:1)
"""


@pytest.mark.parametrize(
    ("rule", "kind"),
    [
        ("narrow-global-load", "global_load_ushort v{0}, v[40:41], off"),
        ("narrow-global-store", "global_store_short v[40:41], v{0}, off"),
    ],
)
def test_why_an_access_is_narrow(rule, kind):
    """The TTGIR of the line tells: a tile that begins anywhere."""
    (found,) = (r for r in rules() if r.name == rule)
    body = "\t.loc\t1 11 0\n" + "\n".join(f"\t{kind.format(n)} offset:{2 * n}" for n in range(16))
    known = facts_of(assembly(body))
    (finding,) = found.analyze(replace(known, ttgir=mlir.parse(TILE))).findings
    assert finding.evidence["why"] == "first is not known to be a multiple of 16"
    assert finding.message.endswith("2 of 16 B would do: first is not known to be a multiple of 16")


@pytest.mark.parametrize("rule", ["narrow-global-load"])
def test_a_gathered_tile_is_not_narrow(rule):
    """Addresses that a division makes are as far apart as they are."""
    (found,) = (r for r in rules() if r.name == rule)
    body = "\t.loc\t1 11 0\n" + "\n".join(f"\tglobal_load_ushort v{n}, v[40:41], off" for n in range(16))
    known = facts_of(assembly(body))
    gathered = TILE.replace("arith.addi %r, %f", "arith.divsi %r, %f")
    assert not found.analyze(replace(known, ttgir=mlir.parse(gathered))).findings


@pytest.mark.parametrize(
    ("rule", "explains", "restates", "launch_fails", "lacks_room", "last_resort"),
    [
        ("spill-in-loop", ("vgpr_spills", "sgpr_spills", "scratch_bytes"), ("loop_spills",), False, True, False),
        ("spill-outside-loop", ("vgpr_spills", "sgpr_spills", "scratch_bytes"), ("vgpr_spills",), False, True, False),
        ("scratch-without-spills", ("scratch_bytes",), (), False, False, False),
        ("registers-just-above-step", ("waves_per_simd",), (), False, False, False),
        ("padded-by-waves-per-eu", ("waves_per_simd",), (), False, False, False),
        ("waves-per-eu-above-lds", (), (), False, True, False),
        ("lds-over-limit", ("lds_bytes",), ("lds_over_limit",), True, True, False),
        ("workgroup-over-limit", (), (), True, False, False),
        ("occupancy-limited-by-lds", ("lds_bytes", "waves_per_simd"), (), False, False, False),
        ("far-from-speed-of-light", (), (), False, False, True),
    ],
)
def test_what_findings_stand_for(rule, explains, restates, launch_fails, lacks_room, last_resort):
    """Metrics that a rule tells the place of or repeats, a launch that fails, lack of room, and what is said last."""
    (found,) = (r for r in rules() if r.name == rule)
    assert (found.explains, found.restates) == (explains, restates)
    assert (found.launch_fails, found.lacks_room, found.last_resort) == (launch_fails, lacks_room, last_resort)
