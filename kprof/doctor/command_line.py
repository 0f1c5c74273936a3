"""Read the command line of a server or a launcher: its variables, its program and its arguments."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from kprof.doctor.settings import Workload
from kprof.errors import KprofError

_ASSIGNMENT = re.compile(r"([A-Za-z_]\w*)=(.*)", re.DOTALL)
_MAX_WORD_LENGTH = 4096
_MOST_WORDS = 4096
_SHELL = frozenset({"&", ";", "&&", "||", "|", ">", "2>&1"})
_PROGRAMS: Mapping[str, tuple[str, Workload]] = {
    "vllm": ("vllm", "vllm"),
    "vllm.entrypoints": ("vllm", "vllm"),
    "benchmark_throughput.py": ("vllm", "vllm"),
    "benchmark_latency.py": ("vllm", "vllm"),
    "benchmark_serving.py": ("vllm", "vllm"),
    "sglang": ("sglang", "sglang"),
    "sglang.launch_server": ("sglang", "sglang"),
    "sglang.bench_one_batch": ("sglang", "sglang"),
    "torchrun": ("torchrun", "training"),
    "torch.distributed.run": ("torchrun", "training"),
    "torch.distributed.launch": ("torchrun", "training"),
    "mpirun": ("mpirun", "multi-gpu"),
    "mpiexec": ("mpirun", "multi-gpu"),
}
KNOWN = ("vllm", "sglang", "torchrun", "mpirun")
"""Programs whose arguments can be checked."""

_ALIASES: Mapping[str, Mapping[str, str]] = {
    "vllm": {"-tp": "--tensor-parallel-size", "-pp": "--pipeline-parallel-size", "-q": "--quantization"},
    "sglang": {"--tp": "--tensor-parallel-size", "--tp-size": "--tensor-parallel-size"},
    "torchrun": {},
    "mpirun": {"-n": "-np", "-c": "-np", "--np": "-np", "--n": "-np"},
}
# Launcher options without a value, so that the next word is the program.
_FLAGS = frozenset({"--standalone", "--no-python", "--allow-run-as-root", "--oversubscribe", "--tag-output", "-m"})
_OF_TWO = frozenset({"--mca", "-mca"})
_VARIABLES = {"-x": 1, "-e": 1, "--env": 1, "-env": 2, "-genv": 2}


@dataclass(frozen=True)
class ServerCommand:
    """The command line of a server or a launcher.

    Attributes:
        programs: launchers and the server, in order: ``("torchrun", "vllm")``.
        environment: environment variables that the command line sets.
        arguments: values by the option's long name; "" for an option without a value.
        owners: by option, the program that it belongs to.
    """

    programs: tuple[str, ...]
    environment: Mapping[str, str]
    arguments: Mapping[str, str]
    owners: Mapping[str, str]

    @property
    def workload(self) -> Workload:
        """Workload of the last known program on the command line."""
        return next(workload for name, workload in _PROGRAMS.values() if name == self.programs[-1])


def read_command(words: Sequence[str]) -> ServerCommand:
    """Parse a command line from its words.

    Variables may come first, after ``env``, or in the options of ``docker run`` and ``mpirun``.

    Raises:
        KprofError: the line is too long, or contains no known program.
    """
    if len(words) > _MOST_WORDS or any(len(word) > _MAX_WORD_LENGTH for word in words):
        raise KprofError(
            f"the command line has over {_MOST_WORDS:,} words, or a word of over {_MAX_WORD_LENGTH:,} characters"
        )
    programs: list[str] = []
    environment: dict[str, str] = {}
    arguments: dict[str, str] = {}
    owners: dict[str, str] = {}
    at, launching = 0, True
    while at < len(words):
        word = words[at]
        at += 1
        program = _program(word)
        # Variables and the options of mpirun come only before the launched program.
        launching = launching and (not programs or programs == ["mpirun"])
        if program is not None and program not in programs:
            programs.append(program)
        elif word in _SHELL:
            # The remaining words are another shell command.
            if programs:
                break
        elif launching and (assigned := _ASSIGNMENT.fullmatch(word.removeprefix("--env="))) is not None:
            environment[assigned[1]] = assigned[2]
        elif launching and word in _VARIABLES:
            at += _variable(words[at : at + _VARIABLES[word]], environment)
        elif word.startswith("-") and programs:
            aliases = _ALIASES[programs[-1]] if launching or programs[-1] != "mpirun" else {}
            name, value, used = _option(word, words[at] if at < len(words) else None, aliases)
            arguments[name], owners[name] = value, programs[-1]
            at += used + (name in _OF_TWO)
        elif programs == ["mpirun"]:
            launching = False
    if not programs:
        raise KprofError(
            f"no known program in the command line: {' '.join(words)[:80]!r}",
            hint=f"Supported programs: {', '.join(KNOWN)}: kprof doctor -- vllm serve MODEL",
        )
    return ServerCommand(tuple(programs), environment, arguments, owners)


def _program(word: str) -> str | None:
    """Return the known program that a word names with a path, a script or a module; ``None`` for any other word."""
    name = word.rpartition("/")[2]
    found = _PROGRAMS.get(name)
    if found is None and name.startswith("vllm.entrypoints."):
        found = _PROGRAMS["vllm.entrypoints"]
    return found[0] if found else None


def _variable(words: Sequence[str], environment: dict[str, str]) -> int:
    """Store a variable that an option sets, and return the number of consumed words."""
    if len(words) == 2:
        environment[words[0]] = words[1]
    elif words and (assigned := _ASSIGNMENT.fullmatch(words[0])) is not None:
        environment[assigned[1]] = assigned[2]
    return len(words)


def _option(word: str, following: str | None, aliases: Mapping[str, str]) -> tuple[str, str, int]:
    """Return an option's long name, its value, and how many of the following words it consumes."""
    name, equals, value = word.partition("=")
    name = name.replace("_", "-") if name.startswith("--") else name
    name = aliases.get(name, name)
    if equals:
        return name, value, 0
    if following is None or name in _FLAGS or following in _SHELL or _program(following) is not None:
        return name, "", 0
    negative = re.fullmatch(r"-\d+(?:\.\d*)?", following) is not None
    return (name, "", 0) if following.startswith("-") and not negative else (name, following, 1)
