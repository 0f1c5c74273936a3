"""Written files are read back: as Python, as JSON by the rules of who uses them, and by kprof's own check of them."""

import json
import sys
from collections.abc import Mapping
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from kprof.errors import KprofError
from kprof.hardware.machine import find_product
from kprof.tuning.evaluation import Evaluation
from kprof.tuning.formats import writer, writers
from kprof.tuning.formats.interface import ProblemResult, TunedResults

GEMM = {
    "BLOCK_M": 128, "BLOCK_N": 64, "BLOCK_K": 32, "GROUP_M": 4, "SPLIT_K": 2, "XCDS": 8, "num_warps": 4,
    "num_stages": 2, "waves_per_eu": 0, "matrix_instr_nonkdim": 16,
}  # fmt: skip


def scored(time: float, **knobs: Any) -> Evaluation:
    """A configuration of gemm with a predicted time."""
    return Evaluation(
        {**GEMM, **knobs}, time_us=time, low_us=0.7 * time, high_us=1.5 * time, bound="matrix", codes=(f"{knobs}",)
    )


def results(*shapes: Mapping[str, Any], product: str | None = "MI300X", **more: Any) -> TunedResults:
    """Two configurations for each shape, the tile telling which shape it is for."""
    plain = {"dtype": "fp16", "bias": False}
    tuned = [
        ProblemResult({**plain, **shape}, [scored(10.0, BLOCK_M=16 << i), scored(11.0, num_warps=8)])
        for i, shape in enumerate(shapes)
    ]
    return TunedResults("gemm", "gfx942", find_product(product) if product else None, "3.9.0", tuned, **more)


def at(m: int, n: int = 4096, k: int = 8192, **more: Any) -> dict[str, Any]:
    """A problem."""
    return {"M": m, "N": n, "K": k, **more}


def save(form: str, given: TunedResults, folder: Path) -> dict[str, Any]:
    """Path to content of what a writer gives, written to a folder too."""
    found = {}
    for written in writer(form).write(given):
        place = folder / written.path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(written.text)
        found[written.path] = json.loads(written.text) if written.path.endswith(".json") else written.text
    return found


def aiter_lookup(files: Mapping[str, Any], m: int, n: int, k: int) -> Any:
    """What AITER takes for a product, by the rules in its ``gemm_config_utils``: bounds up, bounds down, any."""
    bounds = (1, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096, 8192)
    folder = "gfx942/triton/gemm/gemm_a16w16"
    assert f"{folder}/DEFAULT.json" in files, "the folder is invisible without it"
    table = files.get(f"{folder}/GEMM-A16W16-N={n}-K={k}.json", files[f"{folder}/DEFAULT.json"])
    for bound in bounds:
        if m <= bound and f"M_LEQ_{bound}" in table:
            return table[f"M_LEQ_{bound}"]
    for bound in reversed(bounds):
        if m >= bound and f"M_GEQ_{bound}" in table:
            return table[f"M_GEQ_{bound}"]
    return table["any"]


def test_every_writer_is_found() -> None:
    """The folder is the registry."""
    assert set(writers()) == {"triton", "aiter", "vllm", "sglang", "tune_gemm", "dispatch"}
    with pytest.raises(KprofError, match="unknown format 'vlm'; did you mean 'vllm'"):
        writer("vlm")


def test_aiter_takes_what_was_tuned(tmp_path: Path) -> None:
    """Each M gets its own configuration back, larger ones that of the largest, other N and K the default's."""
    given = results(at(1), at(64), at(100), at(4096), at(20000))
    files = save("aiter", given, tmp_path)

    tiles = [aiter_lookup(files, one.shape["M"], 4096, 8192)["BLOCK_SIZE_M"] for one in given.tuned]
    assert tiles == [16, 32, 64, 128, 256]
    assert aiter_lookup(files, 9000, 4096, 8192)["BLOCK_SIZE_M"] == 256
    assert aiter_lookup(files, 2, 1, 1)["BLOCK_SIZE_M"] == 32
    assert aiter_lookup(files, 64, 4096, 8192) == {
        "BLOCK_SIZE_M": 32, "BLOCK_SIZE_N": 64, "BLOCK_SIZE_K": 32, "GROUP_SIZE_M": 4, "num_warps": 4, "num_stages": 2,
        "waves_per_eu": 0, "matrix_instr_nonkdim": 16, "cache_modifier": None, "NUM_KSPLIT": 2,
    }  # fmt: skip


def test_aiter_says_what_is_lost() -> None:
    """Knobs without a key, buckets that are shared, and the default's meaning are told."""
    notes = [note for written in writer("aiter").write(results(at(100), at(120))) for note in written.notes]

    assert any("cannot store XCDS=8" in note for note in notes)
    assert any("M=100 and M=120 share the bucket M_LEQ_128" in note for note in notes)
    assert any("DEFAULT.json applies to every other N and K" in note for note in notes)


def test_vllm_and_sglang(tmp_path: Path) -> None:
    """Names and keys as both look for them; experts by E and N, others by N and K."""
    experts = results(at(1, E=8), at(64, E=8), at(64, E=8, dtype="fp8e4b8"))
    vllm = save("vllm", experts, tmp_path / "v")
    sglang = save("sglang", experts, tmp_path / "s")

    assert set(vllm) == {
        "E=8,N=4096,device_name=AMD_Instinct_MI300X.json",
        "E=8,N=4096,device_name=AMD_Instinct_MI300X,dtype=fp8_w8a8.json",
    }
    assert {f"triton_3_9_0/{name}": content for name, content in vllm.items()} == sglang
    table = vllm["E=8,N=4096,device_name=AMD_Instinct_MI300X.json"]
    assert {m: config["BLOCK_SIZE_M"] for m, config in table.items()} == {"1": 16, "64": 32}
    assert table["64"]["SPLIT_K"] == 2
    block = save("vllm", results(at(8, dtype="fp8e4b8", group_n=128, group_k=128)), tmp_path / "b")
    assert list(block) == ["N=4096,K=8192,device_name=AMD_Instinct_MI300X,dtype=fp8_w8a8,block_shape=[128,128].json"]


def test_a_device_is_needed_for_names() -> None:
    """An architecture is no device; another name can be given, but none that leads out of the folder."""
    with pytest.raises(KprofError, match="names its files after the GPU"):
        writer("vllm").write(results(at(1), product=None))
    with pytest.raises(KprofError, match="is not a device name"):
        writer("vllm").write(results(at(1), device_name="../../x"))
    named = writer("vllm").write(results(at(1), product=None, device_name="AMD Instinct MI300X OAM"))
    assert named[0].path == "N=4096,K=8192,device_name=AMD_Instinct_MI300X_OAM.json"


@pytest.mark.parametrize("form", ["aiter", "vllm", "sglang"])
def test_a_needed_key_without_a_knob(form: str) -> None:
    """It is said which, and how to give it; what is given is taken."""
    lacking = Evaluation(
        {"BM": 64, "BN": 64, "BK": 32, "num_warps": 4}, time_us=1.0, low_us=1.0, high_us=1.0, codes=("x",)
    )
    shape = {**at(16), "dtype": "bf16"}
    base = TunedResults("mine", "gfx942", find_product("MI300X"), "3.9.0", [ProblemResult(shape, [lacking])])

    with pytest.raises(KprofError, match="needs GROUP_SIZE_M, but mine has no knob for it"):
        writer(form).write(base)
    given = TunedResults("mine", "gfx942", find_product("MI300X"), "3.9.0", base.tuned, {"GROUP_SIZE_M": 1})
    content = json.loads(writer(form).write(given)[0].text)
    config = next(iter(content.values()))
    assert (config["GROUP_SIZE_M"], config["BLOCK_SIZE_M"], config["num_stages"]) == (1, 64, 2)
    with pytest.raises(KprofError, match="has no key 'GROUP'"):
        writer(form).write(TunedResults("mine", "gfx942", base.product, "3.9.0", base.tuned, {"GROUP": 1}))


@pytest.mark.parametrize("form", ["aiter", "vllm", "sglang"])
def test_kernels_that_have_no_file_there(form: str) -> None:
    """A softmax has no place in files for matrix products."""
    rows = TunedResults("softmax", "gfx942", find_product("MI300X"), "3.9.0", [ProblemResult({"M": 1}, [scored(1.0)])])

    with pytest.raises(KprofError, match="softmax"):
        writer(form).write(rows)


def test_triton_code_is_the_configurations(monkeypatch: pytest.MonkeyPatch) -> None:
    """The module gives back each configuration of the short lists, and the best one of each problem."""

    class Config:
        def __init__(self, kwargs: dict[str, Any], **options: Any) -> None:
            self.all = {**kwargs, **options}

    stand_in = ModuleType("triton")
    stand_in.Config = Config  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "triton", stand_in)
    given = results(at(1), at(64))
    (written,) = writer("triton").write(given)
    module: dict[str, Any] = {}
    exec(compile(written.text, written.path, "exec"), module)

    expected = [dict(one.config) for tuned in given.tuned for one in tuned.ranked]
    assert [config.all for config in module["CONFIGS"]] == [c for i, c in enumerate(expected) if c not in expected[:i]]
    for tuned in given.tuned:
        assert module["BEST"][tuple(sorted(tuned.shape.items()))].all == tuned.best
    assert "predicted, not measured" in module["__doc__"]


@pytest.mark.triton
def test_triton_itself_takes_the_code() -> None:
    """The options are where the installed Triton wants them."""
    triton = pytest.importorskip("triton")
    (written,) = writer("triton").write(results(at(1)))
    module: dict[str, Any] = {}
    exec(compile(written.text, written.path, "exec"), module)

    assert isinstance(module["CONFIGS"][0], triton.Config)
    assert module["CONFIGS"][0].all_kwargs().items() >= {**GEMM, "BLOCK_M": 16}.items()


@pytest.mark.triton
def test_the_dispatch_table_is_chosen_from(tmp_path: Path) -> None:
    """``kprof select`` takes the configuration, and says that it is a prediction."""
    from kprof.targets.library import load
    from kprof.tuning import dispatch_table
    from kprof.tuning.choice.choose import choose

    shape = {**load("gemm").shapes["square_8k"], "M": 512, "N": 512, "K": 512}
    given = TunedResults(
        "gemm", "gfx942", find_product("MI300X"), "3.9.0", [ProblemResult(shape, [scored(12.5, SPLIT_K=1)])]
    )
    save("dispatch", given, tmp_path)
    table = dispatch_table.read(tmp_path / "dispatch.json")

    chosen = choose(load("gemm"), shape, "gfx942", table)

    assert chosen.rule == "exact"
    assert chosen.ms == 0.0125
    assert chosen.basis == "predicted"
    assert chosen.reason == "predicted for MI300X"
    assert chosen.config.items() >= {**GEMM, "SPLIT_K": 1}.items()
    measured = dispatch_table.DispatchEntry("gemm", "gfx942", shape, "torch", ms=1.0)
    merged = dispatch_table.merge(dispatch_table.Table([measured]), table.entries)
    assert merged.entries == [measured], "a prediction does not replace a measurement"
    assert dispatch_table.merge(table, [measured]).entries == [measured]


@pytest.mark.parametrize("form", ["aiter", "vllm", "sglang"])
def test_our_own_check_has_nothing_against_them(form: str, tmp_path: Path) -> None:
    """``kprof lint`` finds no fault in what is written."""
    from kprof_servers.configs.lint import lint
    from kprof_servers.configs.reading import gather

    shapes = [at(m) for m in (1, 64, 4096)]
    given = results(*(shapes if form == "aiter" else [{**s, "E": 8} for s in shapes]))
    save(form, given, tmp_path / "configs")

    reports = lint(gather([str(tmp_path / "configs")]).files)

    assert reports
    faults = [(f.rule, f.message) for report in reports for f in report.findings if f.severity.value != "note"]
    assert faults == []


def test_tune_gemm_lines_are_sizes_for_us_too(tmp_path: Path) -> None:
    """YAML that reads back as the same problems, with the configuration beside each size."""
    import yaml

    from kprof.tuning.problems import read_shapes

    given = results(at(16, trans_b=True), at(4096, trans_a=True))
    files = save("tune_gemm", given, tmp_path)

    entries = yaml.safe_load(files["gemm_config.yaml"])
    assert [(e["M"], e["N"], e["K"], e["rowMajorA"], e["rowMajorB"]) for e in entries] == [
        (16, 4096, 8192, "T", "N"),
        (4096, 4096, 8192, "N", "T"),
    ]
    assert [e["BLOCK_SIZE_M"] for e in entries] == [16, 32]
    assert (entries[0]["SPLIT_K"], entries[0]["kpack"], entries[0]["matrix_instr_nonkdim"]) == (2, 1, 16)
    assert "TFLOPS: 107.37 time(us): 10.00 dtype=fp16" in files["gemm_config.yaml"]
    again = read_shapes(str(tmp_path / "gemm_config.yaml"))
    assert again[1] == {"M": 4096, "N": 4096, "K": 8192, "trans_a": True, "trans_b": False}


def test_tune_gemm_needs_a_product() -> None:
    """Sizes of something else are refused."""
    with pytest.raises(KprofError, match="tune_gemm has sizes M, N and K"):
        writer("tune_gemm").write(results({"M": 4, "N": 8}))
