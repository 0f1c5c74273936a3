"""The launches of a bundled kernel: the same for what analyses it, what gates it and what tunes it."""

import pytest

from kprof.hardware.machine import load
from kprof.kernel_spec import Kernel, Launch, Part
from kprof.options.groups import CompileOptions
from kprof.targets.jobs import calls_of, plan
from kprof.targets.library import catalogue
from kprof.targets.library import load as load_kernel

BUNDLED = [one.name for one in catalogue()]


def test_a_part_alone_has_the_options_that_run_gives_it():
    """Else the part has one time in its call and another when it is looked at alone."""

    def launch(_shape, _config):
        return Launch({}, (1,))

    part = Part(object(), launch, options={"num_warps": 1})
    kernel = Kernel("k", object(), "", launch, {"one": {}}, {"num_warps": 8}, parts={"reduce": part})
    assert kernel.part("reduce").options == {"num_warps": 1}


@pytest.mark.triton
@pytest.mark.parametrize("name", BUNDLED)
def test_every_command_resolves_to_the_same_launches(name):
    from kprof.tuning.problems import problems
    from kprof.tuning.subject import KernelSubject

    machine, kernel = load("gfx942"), load_kernel(name, interpret=False)
    subject = KernelSubject(kernel, machine, None, tuple(problems(kernel, machine.name, [])[:1]))
    tuned = subject.jobs(subject.problems[0], subject.base(subject.problems[0]))
    planned = plan(name, [machine], CompileOptions())
    assert [job.name for job in planned] == [job.name for job in tuned]
    assert [job.request.to_json() for job in planned] == [job.request.to_json() for job in tuned]
    assert [job.grid for job in planned] == [job.grid for job in tuned]
    assert [job.arguments for job in planned] == [job.arguments for job in tuned]
    alone = [job for part in kernel.parts for job in calls_of(kernel.part(part), machine, CompileOptions())]
    requests = {job.name: job.request.to_json() for job in planned}
    assert all(job.request.to_json() == requests[job.name] for job in alone if job.name in requests)


@pytest.mark.triton
def test_a_name_means_the_file_also_after_the_function_was_given_itself():
    """Otherwise a later process would get the code from memory out of the cache, for a question about the file."""
    from kprof.targets.target import resolve

    machine, kernel = load("gfx942"), load_kernel("softmax", interpret=False)
    assert all(job.request.memory is not None for job in plan(resolve(kernel), [machine], CompileOptions()))
    asked = plan("softmax", [machine], CompileOptions(use_cache=False))
    assert all(job.request.memory is None for job in asked)


@pytest.mark.triton
@pytest.mark.parametrize(("gpu", "units", "xcds"), [("MI300X", 304, 8), ("MI308X", 80, 4), ("MI250X", 110, 1)])
def test_persistent_kernels_have_the_workgroups_of_the_product(gpu, units, xcds):
    """Analysed, tuned and chosen with a workgroup for each CU of the product that was asked for."""
    from kprof.hardware.machine import load_gpu
    from kprof.tuning.choice.predicting import bundled
    from kprof.tuning.problems import problems
    from kprof.tuning.subject import KernelSubject

    machine, product = load_gpu(gpu)
    for name, per_cu, knob in (("gemm_streamk", 1, "WORKGROUPS"), ("attention_persistent", 2, "COMPUTE_UNITS")):
        job, *_ = plan(name, [machine], CompileOptions(), product)
        assert job.grid == (per_cu * units,)
        # The question is remembered for each product.
        job, *_ = plan(name, [machine], CompileOptions(), product)
        assert job.grid == (per_cu * units,)
        kernel = load_kernel(name)
        subject = KernelSubject(kernel, machine, product, tuple(problems(kernel, machine.name, [])[:1]))
        base = subject.base(subject.problems[0])
        assert (base[knob], base["XCDS"]) == (units, xcds)
        (_, chosen), *_ = bundled(kernel, subject.problems[0].values, machine.name, gpu)
        assert (chosen.config[knob], chosen.config["XCDS"]) == (units, xcds)


@pytest.mark.triton
def test_products_of_one_architecture_have_a_launch_each():
    """Kernels without a knob that follows from the product are compiled once."""
    import kprof as package
    from kprof.targets.resolver import load as load_target

    options = CompileOptions(arch=("MI300X", "MI308X"), config={"num_warps": 4})
    found = list(load_target("layernorm_backward", options))
    own = [kernel for kernel in found if kernel.name == "layernorm_backward"]
    assert [(kernel.product.name, kernel.grid) for kernel in own] == [("MI300X", (608,)), ("MI308X", (160,))]
    copies = list(load_target("softmax", options))
    assert [kernel.product.name for kernel in copies] == ["MI300X", "MI308X"]
    assert copies[0].request == copies[1].request
    reports = package.analyze("layernorm_backward", arch="MI300X,MI308X", kernel="layernorm_backward")
    workgroups = [(one.product, one.model.workgroups) for one in reports.kernels]
    assert workgroups == [("MI300X", 608), ("MI308X", 160)]
