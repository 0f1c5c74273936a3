"""``kprof list gpus``."""

import json

import pytest

from kprof.hardware.machine import architectures, load
from kprof.reporters.architecture import listing


def test_list_has_every_architecture(kprof):
    """One row each, with products, and where to go on."""
    ran = kprof("list", "gpus")

    assert ran.code == 0
    rows = [line.split()[0] for line in ran.out.splitlines()[1:-1]]
    assert rows == list(architectures())
    assert "MI300X, MI300A, MI308X, MI325X" in ran.out
    assert ran.out.splitlines()[-1].startswith("14 architectures")


@pytest.mark.parametrize("width", [70, 80, 100, 160])
def test_list_fits_the_terminal(width):
    """Columns are left out, never those that tell what is what; with room for all there are all."""
    found = [load(name) for name in architectures()]
    lines = listing(found, width)
    assert max(map(len, lines)) <= width
    assert [line.split()[0] for line in lines[1:]] == list(architectures())
    assert lines[0].split()[-1] == "products"
    assert (lines == listing(found)) == (width == 160)


def test_list_as_json(kprof):
    """For programs."""
    document = json.loads(kprof("list", "gpus", "--json", "-").out)
    assert document["schema"] == "kprof.architectures/1"
    rows = document["architectures"]
    assert {"name": "gfx950", "family": "CDNA4", "products": ["MI350X", "MI355X"]} in rows


@pytest.mark.parametrize("name", architectures())
@pytest.mark.parametrize("verbose", [(), ("-v",)])
def test_show_works_for_each(kprof, name, verbose):
    """Every sheet has the rules of occupancy, LDS and a last line that counts the figures."""
    ran = kprof("list", "gpus", name, *verbose)

    assert (ran.code, ran.err) == (0, "")
    assert "max_waves_per_simd" in ran.out
    assert "wavefronts" in ran.out
    assert ran.out.splitlines()[-1].startswith(f"{name}: ")
    assert ("\nSources\n" in ran.out) == bool(verbose)


def test_what_is_not_firmly_sourced_is_marked(kprof):
    """A placeholder carries a question mark, a published figure does not."""
    lines = kprof("list", "gpus", "gfx942").out.splitlines()

    assert next(line for line in lines if "l1.latency_cycles" in line).endswith("?")
    assert not next(line for line in lines if "max_waves_per_simd" in line).endswith("?")
    marked = sum(line.endswith("?") for line in lines)
    assert marked > 4
    assert f"{marked} of them not firmly sourced" in lines[-1]


def test_verbose_shows_sources_and_all_instructions(kprof):
    """Each figure's source by name, and the citations at the end."""
    short, long = kprof("list", "gpus", "gfx950").out, kprof("list", "gpus", "gfx950", "-v").out

    assert "lds_measured, triton11365, hipkittens" in long
    assert "lds_measured: nod-ai/amd-shark-ai at efa471ae" in long
    assert long.count("v_mfma_") > short.count("v_mfma_") > 3


def test_a_product_shows_its_architecture(kprof):
    """MI300X means gfx942, with this product's row only."""
    out = kprof("list", "gpus", "mi300x").out
    assert out.startswith("gfx942   CDNA3")
    assert "1,307.4" in out
    assert "MI308X" not in out


def test_json_has_value_unit_and_sources(kprof):
    """The document is complete enough to check each figure."""
    document = json.loads(kprof("list", "gpus", "gfx942", "--json", "-").out)

    assert next(iter(document.items())) == ("schema", "kprof.architecture/1")
    figure = document["figures"]["occupancy.vgprs.64.granule"]
    assert figure == {"value": 8, "unit": "registers per lane", "sources": ["llvm22", "triton39"], "firm": True}
    assert all(s in document["sources"] for f in document["figures"].values() for s in f["sources"])


@pytest.mark.parametrize(("typed", "near"), [("gfx94x", "gfx942"), ("MI3000X", "MI300X")])
def test_unknown_architecture_has_near_matches(kprof, typed, near):
    """Exit 2 with the names that were probably meant."""
    ran = kprof("list", "gpus", typed)

    assert ran.code == 2
    assert f"'{near}'" in ran.err
    assert ran.out == ""
