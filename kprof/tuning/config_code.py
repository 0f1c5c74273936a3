"""Format a configuration as Python code."""

from collections.abc import Mapping
from typing import Any

_OF_CONFIG = ("num_warps", "num_stages", "num_ctas", "maxnreg")
"""Arguments of ``triton.Config`` itself. As in Triton, AMD's own options belong to the kernel's arguments."""


def config_code(config: Mapping[str, Any]) -> str:
    """Return code such as ``triton.Config({'BLOCK': 64, 'waves_per_eu': 2}, num_warps=4)``.

    Args:
        config: knobs without environment switches, which ``triton.Config`` cannot express.
    """
    own = {name: value for name, value in config.items() if name not in _OF_CONFIG}
    rest = "".join(f", {name}={config[name]!r}" for name in _OF_CONFIG if name in config)
    return f"triton.Config({own!r}{rest})"


def switches_and_code(config: Mapping[str, Any]) -> str:
    """Return :func:`config_code`, preceded by a shell ``export`` line for each environment switch among the knobs."""
    from kprof.tuning.trials.changes import SWITCHES

    switches = [f"export {name}={config[name]}" for name in config if name in SWITCHES]
    return "\n".join([*switches, config_code({n: v for n, v in config.items() if n not in SWITCHES})])
