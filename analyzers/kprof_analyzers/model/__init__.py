"""The performance model: predicts a kernel's time, bound and uncertainty from its code and its launch."""

from kprof.document import LoopPrediction, Prediction
from kprof_analyzers.model.effects import Effects
from kprof_analyzers.model.kernel import predict

__all__ = ["Effects", "LoopPrediction", "Prediction", "predict"]
