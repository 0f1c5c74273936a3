"""What leaves the GPU, tensors of tensors, and modules that do not know their shapes yet."""

import sys

import pytest

import kprof as kp

pytestmark = pytest.mark.triton

PROGRAM = """
import torch

x = torch.ones(1024, device="cuda")
assert x.sum().item() == 1024
x.cpu()
torch.ones(1 << 16, device="cuda").cpu()
torch.empty(4).copy_(x[:4])

rows = [torch.ones(n, 8, device="cuda") for n in (2, 3)]
jagged = torch.nested.nested_tensor(rows, layout=torch.jagged)
assert (jagged * 2).values().shape == (5, 8)

layer = torch.nn.LazyLinear(4).to("cuda")
assert layer(jagged.values()).shape == (5, 4)

table = torch.ones(64, 32, device="cuda")
torch.as_strided_scatter(table, table[:8], (8, 32), (32, 1))
torch.ops.aten.t_copy(table)
table.t().detach().unsqueeze(0)
torch.empty_strided((4, 4), (4, 1), device="cuda").t_()

encoder = torch.nn.TransformerEncoderLayer(64, 4, 128, batch_first=True, device="cuda").eval()
with torch.no_grad():
    encoder(torch.ones(2, 16, 64, device="cuda"))
"""


@pytest.fixture(scope="module")
def found(tmp_path_factory):
    pytest.importorskip("torch")
    path = tmp_path_factory.mktemp("host") / "step.py"
    path.write_text(PROGRAM)
    return kp.profile([sys.executable, str(path)], arch="MI300X", by="shapes").document


def test_what_the_host_reads_has_a_time_if_it_is_short(found):
    """A copy of more than 64 KiB has no time, because that depends on the link and the host; it is named."""
    read = [row for row in found.rows if row.kind == "copy to the host" and row.us is not None]
    assert {row.name for row in read} == {"aten::_local_scalar_dense", "aten::_to_copy", "aten::copy_"}
    assert all((row.us / row.calls, row.bound) == (14.0, "host") for row in read)
    assert found.unknown_calls == 1
    assert any("262,144 B to the host's memory" in one for one in found.unknown)
    assert any("14 µs to read a value" in one for one in found.notes)


def test_what_a_nested_tensor_holds_is_multiplied(found):
    product = [row for row in found.rows if row.name == "aten::mul"]
    assert [(row.calls, "5x8" in row.shapes) for row in product] == [(1, True)]


def test_a_layer_that_learns_its_shape_is_recorded(found):
    rows = [row for row in found.rows if row.name == "aten::addmm" and "5x8" in row.shapes]
    assert [(row.calls, row.shapes) for row in rows] == [(1, "4 5x8 8x4")]


def test_the_fused_inference_path_of_an_encoder_is_recorded_as_its_operators(found):
    """Torch's own CPU build has one operator for the whole layer, of which no time is known."""
    names = {row.name for row in found.rows}
    assert "aten::_transformer_encoder_layer_fwd" not in names
    assert {"aten::native_layer_norm", "aten::relu"} <= names


def test_what_copies_is_no_view(found):
    """An operator's name begins as a view's; whether memory moves is its own."""
    rows = {row.name: row for row in found.rows if "64x32" in row.shapes}
    assert set(rows) == {"aten::ones", "aten::as_strided_scatter", "aten::t_copy"}
    assert all(row.calls == 1 and row.us for row in rows.values())
    assert not {row.name for row in found.rows} & {
        "aten::t",
        "aten::t_",
        "aten::detach",
        "aten::unsqueeze",
        "aten::empty_strided",
    }
