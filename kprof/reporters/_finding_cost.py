"""What a finding costs, in words."""

from kprof.findings import Finding
from kprof.reporters._model_text import duration

_NOTHING = 0.005


def gain_words(finding: Finding) -> str:
    """``costs 27.5 µs, 44 % of the time (model)``; nothing where it is not known."""
    gain = finding.gain
    if gain is None:
        return ""
    if gain.share < _NOTHING:
        return "costs next to nothing (model)"
    most = "at most " if gain.at_most else ""
    return f"costs {most}{duration(gain.us)}, {100 * gain.share:.0f} % of the time (model)"
