"""Measured kernels come from packages on this machine: what is missing, renamed or of another version is said."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kprof.errors import KprofError
from kprof.kernel_spec import Tensor
from kprof_servers.served.kernel_source import cut_text
from validation.benchmarks.model import compiling
from validation.benchmarks.model.compiling import Point, job_of, kernel_of
from validation.benchmarks.model.evaluate import COMMON, Judged, Scored
from validation.benchmarks.model.problem import Candidate, Family, Problem
from validation.benchmarks.model.real import __main__ as sample
from validation.benchmarks.model.real import error, inductor, launches
from validation.benchmarks.model.real.kernels import REAL, RealKernels, with_numbers
from validation.benchmarks.model.real.packages import Package, packages

PRODUCT = "vllm/model_executor/layers/quantization/utils/fp8_utils.py"
KERNEL = '''
from vllm.platforms import something_heavy
import triton
import triton.language as tl

WIDTH = 2

@triton.jit
def twice(x):
    return x * WIDTH

@triton.jit
def {name}(
    A, B, C, As, Bs, M, N, K,{more}
    BLOCK_SIZE_M: tl.constexpr,
    BLOCK_SIZE_N: tl.constexpr, BLOCK_SIZE_K: tl.constexpr, GROUP_SIZE_M: tl.constexpr,
):
    """A tile."""
    tl.store(C + tl.program_id(0), twice(M) + GROUP_SIZE_M)
'''
SHAPE = {"M": 64, "N": 256, "K": 512}
CONFIG = {"BLOCK_M": 32, "BLOCK_N": 64, "BLOCK_K": 128, "GROUP_M": 8, "num_warps": 4}
FAMILY = Family("block_fp8", "Block FP8", "winner", "all", lambda *_: [], packages=("vllm", "sglang"))


def vllm(folder, *, name="_w8a8_block_fp8_matmul", more="", version="9.9"):
    """A package of one file, installed as pip does it."""
    file = folder / PRODUCT
    file.parent.mkdir(parents=True)
    file.write_text(KERNEL.format(name=name, more=more))
    (folder / f"vllm-{version}.dist-info").mkdir()
    return str(folder)


def problem(*configs):
    points = [Point("block_fp8", SHAPE, config, "MI300X") for config in configs or (CONFIG,)]
    candidates = tuple(Candidate((p,), p.config, winner=n == 0) for n, p in enumerate(points))
    return Problem("one", candidates, 1.0, 1.0, "fp8", "MI300X")


def taken(reals, problems=None):
    """Problems as a run asks for them, and what is told of the family."""
    found = reals.swapped(FAMILY, problems or [problem()])
    return found, reals.used["block_fp8"]


@pytest.fixture(autouse=True)
def _no_kernels_left(monkeypatch):
    monkeypatch.setattr(compiling, "GIVEN", {})
    monkeypatch.setattr("validation.benchmarks.model.real.kernels.GIVEN", compiling.GIVEN)


def test_a_package_is_found_with_its_version(tmp_path):
    found = packages([vllm(tmp_path, version="1.2.3")])
    assert {name: one.words for name, one in found.items()} == {"vllm": "vLLM 1.2.3"}


def test_a_virtual_environment_has_its_packages_inside(tmp_path):
    vllm(tmp_path / "lib" / "python3.11" / "site-packages")
    assert packages([str(tmp_path)])["vllm"].words == "vLLM 9.9"


def test_of_two_versions_the_first_folder_counts(tmp_path):
    folders = [vllm(tmp_path / "one", version="1"), vllm(tmp_path / "two", version="2")]
    assert packages(folders)["vllm"].version == "1"


def test_a_folder_without_a_package_is_an_error_that_names_it(tmp_path):
    with pytest.raises(KprofError) as caught:
        packages([str(tmp_path)])
    assert str(tmp_path) in str(caught.value)
    assert "vllm/model_executor" in str(caught.value)


def test_the_kernel_of_the_package_takes_the_place_of_the_stand_in(tmp_path):
    (found,), used = taken(RealKernels(packages([vllm(tmp_path)])))
    (point,) = found.candidates[0].points
    job = job_of(point)
    assert job.request.function == "_w8a8_block_fp8_matmul"
    # Tiles of 32 x 64 of 64 x 256, and what only numbers them is no constant of the code.
    assert job.grid == (8,)
    assert job.arguments["GROUP_SIZE_M"] == 8
    assert not [key for key in job.request.constexprs if "GROUP_SIZE_M" in str(key)]
    assert used.packages == ("vLLM 9.9",)
    assert used.refused == ()
    assert used.stand_ins == [problem()]


def test_values_of_the_group_share_a_compile(tmp_path):
    configs = [{**CONFIG, "GROUP_M": group} for group in (1, 4, 16, 32)]
    (found,), _ = taken(RealKernels(packages([vllm(tmp_path)])), [problem(*configs)])
    assert len({job_of(one.points[0]).request.key for one in found.candidates}) == 1


def test_what_the_package_imports_is_not_run(tmp_path):
    taken(RealKernels(packages([vllm(tmp_path)])))
    (kernel,) = compiling.GIVEN.values()
    assert "something_heavy" not in vars(__import__(kernel.entry.fn.__module__))


@pytest.mark.parametrize(
    ("package", "said"),
    [
        ({"name": "_w8a8_product_of_tomorrow"}, "vLLM 9.9 has no _w8a8_triton_block_scaled_mm"),
        ({"more": " stride_of_tomorrow,"}, "stride_of_tomorrow"),
    ],
)
def test_another_version_keeps_the_stand_in_and_says_why(tmp_path, package, said):
    given = [problem()]
    found, used = taken(RealKernels(packages([vllm(tmp_path, **package)])), given)
    assert found == given
    assert used.packages == ()
    assert said in used.refused[0]
    told = {"kernels": [], "packages": [], "refused": list(used.refused)}
    assert said in error.words(told)
    assert any(said in line for line in error.section({"block_fp8": told}, {"block_fp8": "Block FP8"}))


def test_a_family_that_has_no_package_is_left_alone(tmp_path):
    reals = RealKernels(packages([vllm(tmp_path)]))
    plain = Family("flydsl", "FlyDSL", "time", "all", lambda *_: [problem()])
    assert reals.family(plain) is plain
    assert reals.family(FAMILY) is not FAMILY


def test_winners_stay_where_configurations_are_drawn(tmp_path):
    configs = [{**CONFIG, "BLOCK_M": 16 << n} for n in range(5)]
    reals = RealKernels(packages([vllm(tmp_path)]))
    (found,) = reals.swapped(Family(**{**vars(FAMILY), "drawn": 2}), [problem(*configs)])
    assert [one.winner for one in found.candidates] == [True, False, False]
    assert reals.used["block_fp8"].stand_ins[0].candidates[1].config == found.candidates[1].config


def test_a_decorator_that_is_not_known_is_refused():
    text = KERNEL.format(name="k", more="").replace("@triton.jit\ndef k", "@triton.jit(debug=True)\ndef k")
    with pytest.raises(KprofError, match="plain @triton"):
        with_numbers(text, "k", ["GROUP_SIZE_M"])


@given(k=st.integers(1, 128).map(lambda n: 256 * n), parts=st.integers(1, 16), depth=st.sampled_from([128, 256, 512]))
def test_parts_of_k_are_whole_tiles_and_cover_it(k, parts, depth):
    full = launches._mx_split({"BLOCK_SIZE_K": depth, "NUM_KSPLIT": parts}, k)
    part, count = full["SPLITK_BLOCK_SIZE"], full["NUM_KSPLIT"]
    assert 1 <= count <= parts
    assert part * count >= k
    assert count == 1 or k % part == 0 or full["BLOCK_SIZE_K"] <= 128


def test_one_part_is_not_added_up():
    """A tile as deep as K leaves AITER's launcher one part of the eight that are asked for."""
    shape = {"M": 64, "N": 256, "K": 512, "scales": "none", "dtype": "bf16", "arch": "gfx942"}
    config = {**CONFIG, "SPLIT_K": 8, "MODIFIER": "", "BLOCK_K": 512}
    assert launches.aiter_sum(shape, config, []) is None
    assert launches.aiter_sum(shape, {**config, "BLOCK_K": 64}, []).args["ACTUAL_KSPLIT"] == 8


def judged(times):
    scored = [
        Scored(Candidate((), {"BLOCK_M": n}, winner=n == 0), (n, us), us, us, us, "memory", 1.0)
        for n, us in enumerate(times)
    ]
    figures = {"percentile": 0.0, "near_tie": 0.0, "n": len(times), "within": 1.0, "resource_percentile": 0.5}
    figures |= {f"top{n}": 1 for n in (1, 3, 5, 20)}
    figures |= {f"{who}_top{n}": 0.0 for who in ("common", "resource") for n in COMMON}
    return Judged(problem(), figures, scored)


def test_the_error_is_that_of_the_times_and_their_order():
    found = error.figures([judged([2, 4, 6, 8, 10])], [judged([1, 2, 3, 4, 5])])
    assert found["order"] == pytest.approx(1.0)
    assert found["ratio"] == pytest.approx([2.0, 2.0, 2.0])
    turned = error.figures([judged([2, 4, 6, 8, 10])], [judged([5, 4, 3, 2, 1])])
    assert turned["order"] == pytest.approx(-1.0)


def test_the_page_names_package_version_and_what_has_none():
    told = {"kernels": ["vllm block FP8"], "packages": ["vLLM 9.9"], "refused": [], "problems": [1, 1]}
    told["error"] = error.figures([judged([2, 4, 6, 8, 10])], [judged([1, 2, 3, 4, 5])])
    page = "\n".join(error.section({"block_fp8": told}, {"block_fp8": "Block FP8", "flydsl": "FlyDSL"}))
    assert "| Block FP8 | vLLM 9.9 | 1 | 5 | 1.00 | 2.00/2.00/2.00 |" in page
    assert "whose error is not known: FlyDSL" in page


def test_no_kernel_of_a_package_has_a_stand_ins_name():
    assert not [real.name for real in REAL if real.name == real.stand_in or " " not in real.name]


def inductor_rows():
    mm = {"M": 197, "N": 3072, "K": 768, "batch": 1, "bias": False}
    tile = {"BLOCK_M": 64, "BLOCK_N": 32, "BLOCK_K": 64, "GROUP_M": 8, "num_warps": 4, "num_stages": 2}
    window = {"BATCH": 1, "IN_C": 64, "IN_H": 56, "IN_W": 56, "OUT_C": 128, "KERNEL": 3, "STRIDE": 2, "PADDING": 1}
    shapes = [
        ("inductor_mm", mm, tile),
        ("inductor_mm", {**mm, "bias": True}, tile),
        ("inductor_mm", {**mm, "batch": 12}, tile),
        ("inductor_conv", window, {name: value for name, value in tile.items() if name != "GROUP_M"}),
    ]
    return [Point(kernel, shape, config, "MI210") for kernel, shape, config in shapes]


def test_inductor_is_asked_for_the_stand_ins_sizes():
    plain, bias, batch, window = map(inductor.asked, inductor_rows())
    assert plain["inputs"] == [["A", [197, 768], [768, 1]], ["B", [768, 3072], [1, 768]]]
    assert bias["inputs"][0] == ["bias", [197, 3072], [0, 1]]
    assert bias["addends"] == 1
    assert batch["inputs"][0] == ["A", [12, 197, 768], [768, 768 * 12, 1]]
    assert window["inputs"][0] == ["X", [1, 64, 56, 56], [64 * 56 * 56, 56 * 56, 56, 1]]
    assert window["out"] == [1, 128, 28, 28]
    assert window["constants"]["UNROLL"] is False


def test_inductors_own_kernels_are_launched_with_the_tensors_of_the_row():
    torch = pytest.importorskip("torch")
    pytest.importorskip("torch._inductor")
    package = Package("torch", "PyTorch", torch.__version__, Path(torch.__file__).parents[1])
    points = inductor_rows()
    texts = inductor.written(package, [inductor.asked(one) for one in points])
    for point_, text in zip(points, texts, strict=True):
        assert not isinstance(text, KprofError), text
        made = inductor.kernel(point_, text)
        ours = kernel_of(point_.kernel).launch(point_.shape, point_.config)
        launch = made.launch(point_.shape, point_.config)
        assert launch.grid == ours.grid
        tensors = [value for value in ours.args.values() if isinstance(value, Tensor)]
        assert sorted(map(str, launch.args.values())) == sorted(map(str, tensors))


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("x = 1\n", "no kernel"),
        ("def k(a):\n    tl.store(a, libdevice.exp(1.0))\n", "libdevice"),
        ("def k(arg_A, ks0):\n    tl.store(arg_A, ks0)\n", "ks0"),
    ],
)
def test_what_inductor_writes_and_we_do_not_know_is_refused(text, said):
    with pytest.raises(KprofError, match=said):
        inductor.kernel(inductor_rows()[0], text)


def test_a_torch_that_cannot_be_asked_keeps_the_stand_in(tmp_path):
    """A folder with the name and nothing else: another version, or a broken installation."""
    (tmp_path / "torch" / "_inductor" / "kernel").mkdir(parents=True)
    (tmp_path / "torch" / "__init__.py").write_text("raise ImportError('no such library')\n")
    reals = RealKernels(packages([str(tmp_path)]))
    given = [Problem("one", (Candidate((inductor_rows()[0],), {}),), 1.0, 1.0, "bf16", "MI210")]
    family = Family("mm", "mm", "order", "all", lambda *_: given, packages=("torch",))
    assert reals.swapped(family, given) == given
    assert "no such library" in reals.used["mm"].refused[0]


def test_where_the_real_kernel_does_not_compile_the_stand_in_is_judged_and_its_error_stated(tmp_path, monkeypatch):
    """As with a package of today and a Triton of two years ago: both are compared as this Python compiles them."""
    dated = problem()
    points = [Point(**{**vars(one.points[0]), "triton": "3.0.0"}) for one in dated.candidates]
    dated = Problem(**{**vars(dated), "candidates": (Candidate((points[0],), CONFIG, winner=True),)})
    reals = RealKernels(packages([vllm(tmp_path)]))
    (swapped,) = reals.swapped(FAMILY, [dated])

    def judge(_model, _family, problems):
        """A compiler that has only its own release's code of the real kernel, half as slow as the stand-in."""
        found = []
        for one in problems:
            point = one.candidates[0].points[0]
            real = point.kernel != "block_fp8"
            done = judged([4, 8, 12, 16, 20] if real else [2, 4, 6, 8, 10])
            old = real and point.triton == "3.0.0"
            found.append(Judged(one, {}, [], 1) if old else Judged(one, done.figures, done.scored))
        return found

    monkeypatch.setattr(error, "judge", judge)
    results, told = error.settle(reals, None, FAMILY, judge(None, None, [swapped]))
    assert [one.failed for one in results] == [0]
    assert [one.us for one in results[0].scored] == [2, 4, 6, 8, 10]
    assert told["problems"] == [0, 1]
    assert told["error"]["ratio"] == pytest.approx([2.0, 2.0, 2.0])
    assert "3.0.0" in error.words(told)
    # Whoever asks for the problems again gets what the results are of.
    assert reals.swapped(FAMILY, [dated]) == [dated]


def test_a_sample_is_the_same_at_every_call_and_keeps_its_bounds():
    problems = [Problem(**{**vars(problem()), "name": f"p{n}"}) for n in range(40)]
    family, few = sample.sampled(FAMILY, problems, 8, 12)
    assert [one.name for one in sample.sampled(FAMILY, problems, 8, 12)[1]] == [one.name for one in few]
    assert len({one.name for one in few}) == 8
    assert family.drawn == 12
    assert sample.sampled(Family(**{**vars(FAMILY), "drawn": 4}), problems, 8, 12)[0].drawn == 4


def test_the_page_of_a_run_without_packages_says_that_the_error_is_of_a_sample():
    told = {
        "kernels": ["vllm block FP8"],
        "packages": ["vLLM 9.9"],
        "refused": [],
        "problems": [1, 1],
        "sample": [1, 9],
    }
    told["error"] = error.figures([judged([2, 4, 6, 8, 10])], [judged([1, 2, 3, 4, 5])])
    page = "\n".join(error.section({"block_fp8": told, "gone": told}, {"block_fp8": "Block FP8"}))
    assert "taken on a sample" in page
    assert "| Block FP8 | vLLM 9.9 |" in page


def test_of_two_definitions_under_a_condition_the_newer_form_is_cut_out(tmp_path):
    """As vLLM's ``softplus``: ``if TRITON3`` has the form of today, ``else`` one that Triton has no more."""
    text = KERNEL.format(name="k", more="").replace(
        "@triton.jit\ndef twice(x):\n    return x * WIDTH\n",
        "if NEW:\n    @triton.jit\n    def twice(x):\n        return x * WIDTH\n"
        "else:\n    @triton.jit\n    def twice(x):\n        return tl.math.gone(x)\n",
    )
    file = tmp_path / "kernels.py"
    file.write_text(text)
    cut = cut_text(tmp_path, file, "k")
    assert "return x * WIDTH" in cut
    assert "gone" not in cut


def test_the_section_is_put_in_front_of_another_and_replaces_itself():
    told = {"kernels": ["vllm block FP8"], "packages": ["vLLM 9.9"], "refused": [], "problems": [1, 1]}
    told["error"] = error.figures([judged([2, 4, 6, 8, 10])], [judged([1, 2, 3, 4, 5])])
    page = "# Page\n\n## Block FP8, MI300X\n\ntext\n\n## How sure it is\n\nmore\n"
    titles = [("block_fp8", "Block FP8"), ("gone", "Gone")]
    once = error.placed(page, {"block_fp8": told}, titles, "How sure it is")
    assert once.index("| Block FP8, MI300X | vLLM 9.9 |") < once.index("## How sure it is")
    assert error.placed(once, {"block_fp8": told}, titles, "How sure it is") == once


def test_aiters_attention_is_launched_token_by_token():
    """A workgroup for each tile of queries of a head; the tensors are bshd, as its launcher has them."""
    shape = {**kernel_of("flash_attention").shapes["llama_gqa"], "arch": "gfx942"}
    b, h, hk, s, d = (shape[name] for name in ("B", "H", "HK", "SQ", "D"))
    strides = [f"stride_{side}{axis}_in" for side in "qkv" for axis in "zh"]
    names = [*strides, "stride_kn_in", "NUM_K_HEADS", "PRELOAD_V", "softmax_lse_ptr", "BLOCK_M", "NUM_XCD"]
    launch = launches.aiter_attention(shape, {"BLOCK_M": 128, "BLOCK_N": 64, "PRE_LOAD_V": True}, names)
    found = launch.args
    assert launch.grid[0] == b * h * (s // 128)
    assert [found[f"stride_{side}h_in"] for side in "qkv"] == [d, d, d]
    assert (found["stride_qz_in"], found["stride_kz_in"], found["stride_kn_in"]) == (s * h * d, s * hk * d, hk * d)
    assert (found["NUM_K_HEADS"], found["PRELOAD_V"], found["BLOCK_M"], found["NUM_XCD"]) == (hk, True, 128, 8)
    assert found["softmax_lse_ptr"].shape == (b, h, s)
