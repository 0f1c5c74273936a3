"""A configuration as the code that a program has."""

from collections.abc import Mapping
from typing import Any

_OF_CONFIG = ("num_warps", "num_stages", "num_ctas", "maxnreg")
"""Arguments of ``triton.Config`` itself. AMD's own options stand among the kernel's, as Triton has it."""


def config_code(config: Mapping[str, Any]) -> str:
    """``triton.Config({'BLOCK': 64, 'waves_per_eu': 2}, num_warps=4)``.

    Args:
        config: knobs. Switches of the environment have no place in it: the caller leaves them out.
    """
    own = {name: value for name, value in config.items() if name not in _OF_CONFIG}
    rest = "".join(f", {name}={config[name]!r}" for name in _OF_CONFIG if name in config)
    return f"triton.Config({own!r}{rest})"


def switches_and_code(config: Mapping[str, Any]) -> str:
    """As :func:`config_code`, below the environment's switches among the knobs, as a shell sets them."""
    from kprof.tuning.trials.changes import SWITCHES

    switches = [f"export {name}={config[name]}" for name in config if name in SWITCHES]
    return "\n".join([*switches, config_code({n: v for n, v in config.items() if n not in SWITCHES})])
