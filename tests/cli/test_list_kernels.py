"""``kprof list kernels`` on the bundled kernels and on a user's file."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from kprof.cli.list import app
from kprof.errors import KprofError
from kprof.targets.library import bundled, load


def run(*arguments: str) -> str:
    """Standard output of ``kprof list kernels ...``; a KprofError goes through, as to the main program."""
    result = CliRunner().invoke(app, ["kernels", *arguments], catch_exceptions=False)
    if isinstance(result.exception, KprofError):
        raise result.exception
    assert result.exit_code == 0, result.output
    return result.stdout


def test_list_names_every_kernel() -> None:
    """The table has each bundled kernel, and the last line counts them."""
    output = run()

    assert all(name in output for name in bundled())
    assert output.splitlines()[-1].startswith(f"{len(bundled())} kernels; ")


@pytest.mark.triton
def test_list_json_tells_what_an_architecture_cannot_do() -> None:
    """fp8 kernels are listed with the reason why CDNA2 cannot run them."""
    pytest.importorskip("triton")

    document = json.loads(run("--json", "-", "--arch", "gfx90a,MI300X"))
    kernels = {row["name"]: row for row in document["kernels"]}

    assert document["schema"] == "kprof.kernels/1"
    assert kernels["softmax"]["unsupported"] == {}
    assert list(kernels["gemm_skinny_fp8"]["unsupported"]) == ["gfx90a"]
    assert "square_8k" in kernels["gemm"]["cases"]


@pytest.mark.triton
def test_show_json_is_the_kernel() -> None:
    """``list kernels NAME --json`` gives what the kernel has: cases, defaults by architecture, space, line."""
    pytest.importorskip("triton")
    kernel = load("flash_attention")

    facts = json.loads(run("flash_attention", "--json", "-", "--arch", "gfx942,gfx1201"))

    assert facts["schema"] == "kprof.kernel/1"
    assert facts["cases"] == {name: dict(shape) for name, shape in kernel.shapes.items()}
    assert facts["defaults"]["gfx942"] == kernel.configure("gfx942", None, kernel.problem("gfx942"))
    assert facts["space"]["knobs"]["BLOCK_M"] == list(kernel.space["BLOCK_M"])
    line = Path(facts["source"]["file"]).read_text().splitlines()[facts["source"]["line"] - 1 :][:2]
    assert line == ["@triton.jit", "def flash_attention_kernel("]


@pytest.mark.triton
def test_show_prints_sections_and_ends_with_a_verdict() -> None:
    """The page has cases, defaults, space and further functions; quiet leaves the last line."""
    pytest.importorskip("triton")

    page = run("gemm")

    assert [
        title for title in ("Cases", "Default knobs", "Tuning space", "Further functions") if title not in page
    ] == []
    assert run("gemm", "--quiet") == page.splitlines()[-1] + "\n"


@pytest.mark.triton
def test_show_of_a_bare_function(tmp_path: Path) -> None:
    """A user's function without a KERNEL is shown as having no cases."""
    pytest.importorskip("triton")
    path = tmp_path / "mine.py"
    path.write_text("import triton\n\n\n@triton.jit\ndef nothing(x_ptr):\n    pass\n")

    assert run(f"{path}::nothing").splitlines()[-1].startswith("nothing: 0 cases, 0 configurations, no KERNEL")


def test_unknown_kernel_has_near_matches() -> None:
    """A mistyped name is an error that names the right one."""
    with pytest.raises(KprofError, match="did you mean 'softmax'"):
        run("softmaxx")


def test_list_without_triton_says_what_it_cannot_know(monkeypatch: pytest.MonkeyPatch) -> None:
    """A bare installation lists every kernel; what only a loaded kernel can tell is null, not an empty answer."""
    monkeypatch.setattr("kprof.targets.library.load_module", _no_triton)

    rows = json.loads(run("--json", "-"))["kernels"]

    assert {row["name"] for row in rows} == set(bundled())
    assert all(row["unsupported"] is None and row["summary"] for row in rows)


def _no_triton(*_: object, **_options: object) -> None:
    raise KprofError("Triton is not installed")


@pytest.mark.triton
def test_show_of_a_function_without_a_description(tmp_path: Path) -> None:
    """Its arguments, the autotuner's configurations, and how to go on."""
    pytest.importorskip("triton")
    path = tmp_path / "mine.py"
    path.write_text(
        "import triton\nimport triton.language as tl\n\n\n"
        '@triton.autotune([triton.Config({"BLOCK": 256}, num_warps=2)], key=["n"])\n'
        "@triton.jit\ndef scale(x, n, BLOCK: tl.constexpr, TWICE: tl.constexpr = True):\n    pass\n"
    )
    lines = [line.split() for line in run(str(path)).splitlines()]
    assert ["passed", "x", "n"] in lines
    assert ["constexpr", "BLOCK", "TWICE=True"] in lines
    assert any("BLOCK=256" in line and "num_warps=2" in line for line in lines)
    assert lines[-1][:5] == ["scale:", "0", "cases,", "1", "configuration,"]
