"""Finding and loading architectures and products."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kprof.errors import HardwareError, KprofError
from kprof.hardware import machine
from kprof.hardware.machine import architectures, find_product, load, products
from kprof.hardware.reader import read

FOLDER = Path(machine.__file__).parent


def test_all_fourteen_architectures_are_there():
    """Every architecture that Triton compiles for here has a file."""
    assert set(architectures()) >= {
        *("gfx908", "gfx90a", "gfx942", "gfx950"),
        *("gfx1030", "gfx1100", "gfx1101", "gfx1102", "gfx1103", "gfx1150", "gfx1151"),
        *("gfx1200", "gfx1201", "gfx1250"),
    }
    assert architectures()[0] == "gfx908"


@pytest.mark.parametrize("name", architectures())
def test_file_and_name_agree(name):
    """Each file holds the architecture it is called after, complete enough for occupancy."""
    arch = load(name)

    assert arch.name == name
    assert arch.wavefront_size in arch.wavefront_sizes
    assert set(arch.occupancy.vgprs) == set(arch.wavefront_sizes)
    assert arch.occupancy.default_mode in arch.occupancy.modes


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        ("gfx942", "gfx942"),
        ("GFX942", "gfx942"),
        ("gfx942:sramecc+:xnack-", "gfx942"),
        (" gfx90a ", "gfx90a"),
        ("MI300X", "gfx942"),
        ("mi355x", "gfx950"),
        ("AMD Instinct MI210", "gfx90a"),
        ("Radeon RX 7900 XTX", "gfx1100"),
        ("rx-9070-xt", "gfx1201"),
    ],
)
def test_names_are_found_as_people_write_them(typed, meant):
    """Features, products, marketing words and case do not matter."""
    assert load(typed).name == meant


@pytest.mark.parametrize(
    ("typed", "near"), [("gfx943", "gfx942"), ("MI300", "MI300X"), ("gfx1104", "gfx110"), ("mi35", "MI355X")]
)
def test_unknown_name_has_near_matches(typed, near):
    """A typo is answered with what was probably meant."""
    with pytest.raises(KprofError, match=near):
        load(typed)


@given(st.text(max_size=30))
def test_any_text_is_a_name_or_an_error(text):
    """No text brings anything but an architecture or the one exception."""
    try:
        found = load(text).name
    except KprofError as error:
        found = error.message
    assert found in architectures() or repr(text) in found


def test_products_point_to_their_architecture():
    """Both ways of asking for a product agree."""
    for name, arch in products().items():
        product = find_product(name)
        assert product is not None
        assert (product.name, product.arch) == (name, arch)
        assert product is load(arch).products[name]
    assert find_product("gfx942") is None
    assert {"MI100", "MI210", "MI250X", "MI300X", "MI300A", "MI308X", "MI325X", "MI350X", "MI355X"} <= set(products())


def test_product_inherits_the_architecture_memory():
    """A product's cache has the architecture's line and its own bandwidth."""
    product = find_product("MI300X")
    assert product is not None

    mall = product.memory["mall"]
    assert (mall.size_bytes, mall.line_bytes, mall.latency_ns) == (256 * 2**20, 64, 218.0)
    assert product.memory["l1"] == load("gfx942").memory["l1"]
    assert (product.compute_units, product.xcds) == (304, 8)


def test_modes_follow_the_wgp():
    """RDNA has two modes and twice the LDS in WGP mode, CDNA one."""
    rdna, cdna = load("gfx1100"), load("gfx942")

    assert (rdna.occupancy.simds("wgp"), rdna.occupancy.simds("cu")) == (4, 2)
    assert (rdna.lds.bytes_available("wgp"), rdna.lds.bytes_available("cu")) == (131072, 65536)
    assert (rdna.occupancy.max_workgroups("wgp"), rdna.occupancy.max_workgroups("cu")) == (32, 16)
    assert (cdna.occupancy.modes, cdna.occupancy.simds()) == (("cu",), 4)
    assert cdna.occupancy.max_vgprs_total == 512
    assert load("gfx908").occupancy.max_vgprs_total == 256


def test_an_architecture_is_read_once():
    """Asking again, by whatever name, gives the same object."""
    arch = load("gfx950")
    assert arch is load("MI350X") is load("GFX950:xnack-")
    assert ({arch: 1}[arch], repr(arch)) == (1, "<Architecture gfx950>")


def test_broken_files_are_one_clear_error(tmp_path):
    """A cut, empty or foreign architecture file names itself."""
    whole = (FOLDER / "gfx942.toml").read_text()
    sources = FOLDER / "sources.toml"
    for content in (
        "",
        "name = ",
        whole[: len(whole) // 3],
        whole.replace("granule = 8", 'granule = "x"', 1)[:900],
        "\0",
    ):
        broken = tmp_path / "gfx942.toml"
        broken.write_text(content)
        with pytest.raises(KprofError) as caught:
            read(broken, sources)
        assert caught.value.path == str(broken)
    with pytest.raises(KprofError):
        read(tmp_path / "missing.toml", sources)


def test_a_product_is_of_one_file(tmp_path, monkeypatch):
    """Two files with a product of one name, however it is spelled, could not be told apart: ``kprof list gpus``."""
    (tmp_path / "gfx1151.toml").write_text("[products.8060S]\n")
    (tmp_path / "gfx1150.toml").write_text("[products.890M]\n")
    monkeypatch.setattr(machine, "_FOLDER", tmp_path)
    for cached in (machine.products, machine.architectures):
        if hasattr(cached, "__wrapped__"):
            monkeypatch.setattr(machine, cached.__name__, cached.__wrapped__)
    assert machine.products() == {"890M": "gfx1150", "8060S": "gfx1151"}
    (tmp_path / "gfx1152.toml").write_text("[products.8060s]\n")
    with pytest.raises(HardwareError, match="the product 8060s is listed for both gfx1151 and gfx1152"):
        machine.products()


def test_a_product_is_found_as_its_driver_calls_it():
    """The words of a maker around the name do not matter."""
    assert machine.find_product("AMD Radeon 8060S Graphics").arch == "gfx1151"


def test_matrix_instructions_are_told_by_the_beginning_of_their_names():
    """Other mnemonics are not looked up: a program asks for each of its instructions."""
    for name in architectures():
        arch = load(name)
        for key in arch.matrix_instructions:
            mnemonic, _, operands = key.partition("@")
            assert arch.matrix_instruction(mnemonic, operands or None) is arch.matrix_instructions[key]
        assert arch.matrix_instruction("v_add_f32") is None
