"""GPUs that the output of rocminfo or amd-smi lists."""

from collections import Counter

from kprof.doctor.check import DoctorCheck
from kprof.doctor.document import CheckOutcome
from kprof.doctor.host import Host
from kprof.errors import KprofError
from kprof.hardware.machine import find_product, load, product_in
from kprof.inputs.gpu_report import ReportedGpu


class ReportedGpus(DoctorCheck):
    """Architectures, compute units and partitions that a report lists."""

    name = "reported-gpus"
    section = "gpu"
    needs_report = True
    why = "Predictions and published times are for the whole GPU; a partition has a share of its CUs."

    def look(self, machine: Host) -> CheckOutcome:
        """See :meth:`DoctorCheck.look`."""
        counts = Counter(gpu.words for gpu in machine.reported)
        words = ", ".join(f"{count} x {name}" if count > 1 else name for name, count in counts.items())
        unknown = sorted({gpu.arch for gpu in machine.reported if gpu.arch and not _is_known(gpu.arch)})
        if unknown:
            return self.warn(
                words, why=f"kprof has no hardware data of {', '.join(unknown)}: nothing is modelled for it."
            )
        parts = list(dict.fromkeys(part for gpu in machine.reported if (part := _partition(gpu))))
        if parts:
            return self.warn(f"{words}: {'; '.join(parts)}")
        if any(not gpu.arch for gpu in machine.reported):
            return self.unknown(f"{words}: the report does not name the architecture")
        return self.ok(words)


def _partition(gpu: ReportedGpu) -> str:
    """What shows that a GPU is partitioned; empty where nothing does."""
    modes = [
        mode
        for mode, whole in ((gpu.compute_partition, "SPX"), (gpu.memory_partition, "NPS1"))
        if mode not in {"", whole}
    ]
    if modes:
        return f"partitioned as {' and '.join(modes)}"
    name = product_in(gpu.product)
    product = find_product(name) if name else None
    whole = product.compute_units if product is not None else None
    if product is not None and whole and gpu.compute_units and gpu.compute_units < whole:
        return f"{gpu.compute_units} of the {whole} CUs of an {product.name}"
    return ""


def _is_known(arch: str) -> bool:
    try:
        load(arch)
    except KprofError:
        return False
    return True
