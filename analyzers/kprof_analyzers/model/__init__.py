"""The performance model: from a compiled kernel and its launch to a time, with its bound and its uncertainty."""

from kprof.document import LoopPrediction, Prediction
from kprof_analyzers.model.effects import Effects
from kprof_analyzers.model.kernel import predict

__all__ = ["Effects", "LoopPrediction", "Prediction", "predict"]
