"""Captured kernels as targets: on the product that was named, one of them by its name."""

import json
import re
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from kprof.captures.reader import read
from kprof.compiler.compile import compile_kernel
from kprof.errors import InputError
from kprof.hardware.machine import load as load_architecture
from kprof.options.groups import CompileOptions
from kprof.recording.command import RecordOptions as RecordingOptions
from kprof.recording.command import prepare
from kprof.targets.captured import chosen
from kprof.targets.jobs import plan
from kprof.targets.resolver import load
from tests.conftest import Ran

RECORDED = Path(__file__).parents[1] / "artifacts/capture"
OPTIONS = CompileOptions(config={"num_warps": 4}, shape={"M": 8192, "N": 8192})


@pytest.fixture
def capture(tmp_path: Path) -> Callable[..., Path]:
    """A capture of one launch of softmax, with the head that a recording for this GPU has."""
    pytest.importorskip("triton")

    def write(named: str, **head: Any) -> Path:
        root = tmp_path / "capture"
        prepare(RecordingOptions(named, root))
        (job,) = plan("softmax", [load_architecture(named)], OPTIONS)
        compiled = compile_kernel(job.request)
        names = ("1" * 32, "2" * 32)
        lines: list[dict[str, Any]] = []
        for number, name in enumerate(names):
            kernel = {
                "t": "kernel",
                "n": number,
                "id": name,
                "name": f"kernel_{number}",
                "request": job.request.to_json(),
            }
            lines.append({**kernel, "triton": compiled.triton_version, "line": compiled.source_line})
            folder = root / "kernels" / name
            folder.mkdir()
            for stage in ("ttir", "ttgir", "amdgcn"):
                (folder / f"kernel.{stage}").write_text(compiled.text(stage))
            (folder / "kernel.json").write_text(json.dumps(dict(compiled.metadata), default=str))
            (folder / "result.json").write_text(json.dumps({"status": "ok", "triton": compiled.triton_version}))
        lines.append({"t": "args", "n": 0, "args": dict(job.arguments)})
        lines.append({"t": "launch", "kernel": 0, "seq": 0, "grid": list(job.grid or ()), "args": 0})
        (root / "journal" / "1.jsonl").write_text("".join(f"{json.dumps(line)}\n" for line in [*lines, {"t": "end"}]))
        whole = {**json.loads((root / "capture.json").read_text()), **head}
        (root / "capture.json").write_text(json.dumps({k: v for k, v in whole.items() if v is not None}))
        return root

    return write


@pytest.mark.triton
def test_a_capture_keeps_its_product(capture: Callable[..., Path], kprof: Callable[..., Ran]) -> None:
    """Recorded for an MI308X it has that GPU's time, as its source has; what asks for a product is checked."""
    root = capture("MI308X")

    def analysed(*arguments: object) -> dict[str, Any]:
        ran = kprof("analyze", "kernel", *arguments, "--json", "-")
        assert ran.code in {0, 1}, ran.err
        (kernel,) = json.loads(ran.out)["kernels"]
        return kernel  # type: ignore[no-any-return]

    source = ("softmax", "--config", "num_warps=4", "--shape", "M=8192,N=8192", "--arch")
    recorded, mi308, mi300 = analysed(root), analysed(*source, "MI308X"), analysed(*source, "MI300X")

    assert recorded["model"] == mi308["model"] != mi300["model"]
    assert "product" not in json.dumps(recorded.get("notes", []))
    # Another product of the same architecture may be asked for.
    assert analysed(root, "--arch", "MI300X")["model"] == mi300["model"]


@pytest.mark.triton
def test_a_product_that_was_not_named_is_not_taken(capture: Callable[..., Path]) -> None:
    """An architecture alone stays one: the program was told of its first product."""
    root = capture("gfx942")
    (kernel,) = load(root, CompileOptions())

    assert (kernel.arch.name, kernel.product) == ("gfx942", None)
    assert read(root).head.product == "AMD Instinct MI300X"


@pytest.mark.triton
@pytest.mark.parametrize(
    ("product", "found", "note"),
    [
        ("AMD Instinct MI308X", "MI308X", "assuming MI308X, the GPU that the program saw"),
        (None, None, "set it with --arch"),
        ("AMD Instinct MI355X", None, "set it with --arch"),
    ],
)
def test_captures_of_an_older_kprof_say_so(
    product: str | None, found: str | None, note: str, capture: Callable[..., Path]
) -> None:
    """They hold what the program was told, named or not; a product of another architecture is not believed."""
    root = capture("MI308X", gpu=None, product=product)
    (kernel,) = load(root, CompileOptions())

    assert (kernel.product.name if kernel.product else None) == found
    assert any(note in text for text in kernel.notes)


@pytest.mark.triton
def test_one_kernel_by_its_name(capture: Callable[..., Path]) -> None:
    """By its function's name or its identifier; what was not launched only where it is asked for."""
    root = capture("MI300X")
    found = read(root)

    assert [kernel.name for kernel in chosen(found, "")] == ["kernel_0"]
    assert [kernel.name for kernel in chosen(found, "", all_configs=True)] == ["kernel_0", "kernel_1"]
    assert [kernel.name for kernel in load(f"{root}::kernel_1", CompileOptions())] == ["kernel_1"]
    assert chosen(found, "2" * 32) == chosen(found, "kernel_1")
    with pytest.raises(InputError, match="no kernel 'kernel_3'") as caught:
        chosen(replace(found), "kernel_3")
    assert "kernel_" in str(caught.value.hint)


def test_arguments_that_triton_3_4_numbers_have_their_names(tmp_path: Path, kprof: Callable[..., Ran]) -> None:
    """How often a recorded loop runs is known where its TTGIR says ``%arg2`` as where it says ``%n``."""
    numbered = tmp_path / "numbered"
    shutil.copytree(RECORDED, numbered)
    (ttgir,) = numbered.glob("kernels/*/kernel.ttgir")
    text = ttgir.read_text()
    for number, name in enumerate(("out_ptr", "x_ptr", "n", "stride")):
        text = re.sub(rf"%{name}\b", f"%arg{number}", text)
    assert "to %arg2 step" in text
    ttgir.write_text(text)

    def model(target: Path) -> Any:
        (kernel,) = json.loads(kprof("analyze", "kernel", target, "--value", "n=65536", "--json", "-").out)["kernels"]
        return kernel["model"]

    assert model(numbered) == model(RECORDED)
    assert model(numbered)["time_us"] > 0
