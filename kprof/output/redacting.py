"""Replace secrets in command lines and texts that are stored or reported."""

import re
from collections.abc import Sequence

MARK = "<redacted>"

_WORDS = r"(?:token|passw(?:or)?d|passphrase|secret|(?:api|access|private)[-_]?key|credentials?|auth)"
# Matches the name of an option or a variable that holds a secret: --hf-token, --api_key, WANDB_API_KEY,
# AWS_SECRET_ACCESS_KEY.
_OPTION = re.compile(rf"-{{1,2}}(?:[\w.]+[-_.])*{_WORDS}(?:[-_.]\w+)*", re.IGNORECASE)
_VARIABLE = re.compile(rf"(?:\w+_)?(?:{_WORDS}|key|pat)", re.IGNORECASE)
_ASSIGNMENT = re.compile(r"([-+]{0,2}[\w.-]+)=(.+)", re.DOTALL)
# Matches a URL's part between the scheme and the host: user:password@ or token@.
_URL = re.compile(r"(\b[a-z][a-z0-9+.-]{0,40}://)[^/\s@]+@", re.IGNORECASE)
_PARAMETER = re.compile(rf"([?&][\w.-]*{_WORDS}[\w.-]*=)[^&\s]+", re.IGNORECASE)
# Matches HTTP headers with secrets: Authorization: Bearer x, X-Api-Key: x, PRIVATE-TOKEN: x, "Cookie": "x", and Bearer
# x without a header name.
_HEADER = re.compile(
    r"""((?:\b(?:authorization|cookie|\w+-(?:token|key|secret))['"]?\s*:\s*['"]?|\b(?=bearer\s))(?:(?:bearer|basic)\s+)?)"""
    r"""(?!(?:bearer|basic)\b)[^\s'",;]+""",
    re.IGNORECASE,
)
# Match secrets in a command line that was printed as a Python list: '--token=x', or '--token', 'x'.
_QUOTED = re.compile(r"""(['"])([-+]{0,2}[\w.-]+)=((?:(?!\1)[^\n])+)""")
_QUOTED_PAIR = re.compile(r"""((['"])(-{1,2}[\w.-]+)\2,\s*(['"]))((?:(?!\4)[^\n])+)""")
# Matches tokens of well-known services by their prefix, so that no option name is needed.
_KNOWN = re.compile(
    r"\b(?:hf_|ghp_|gho_|ghs_|ghu_|github_pat_|glpat-|sk-|xox[abpr]-|AKIA)[A-Za-z0-9_-]{8,}",
)
# Matches options that sound like secrets, but whose values are numbers or paths.
_HARMLESS = re.compile(
    r"(?:.*[-_])?(?:max|min|num|n|pad|eos|bos|unk|sep|mask|new|stop|special|image|prompt|batch)[-_](?:\w+[-_])*tokens?"
    r"(?:[-_]\w+)*",
    re.IGNORECASE,
)


def redacted(command: Sequence[str]) -> list[str]:
    """Return a command line with its secrets replaced.

    The values of ``--token=x``, ``--password x``, ``WANDB_API_KEY=x``, ``https://user:x@host`` and tokens of well-known
    services are replaced; the number of arguments stays the same. All other arguments are kept.

    >>> redacted(["train.py", "--hf-token", "abc", "--max-tokens", "64", "https://me:pw@host/x"])
    ['train.py', '--hf-token', '<redacted>', '--max-tokens', '64', 'https://<redacted>@host/x']
    """
    result: list[str] = []
    follows = False
    for part in command:
        if follows and not part.startswith("-"):
            result.append(MARK)
            follows = False
            continue
        follows = bool(_OPTION.fullmatch(part)) and not _HARMLESS.fullmatch(part.lstrip("-"))
        result.append(_one(part))
    return result


def redacted_text(text: str) -> str:
    """Replace secrets in the command lines that a text, such as an error message, contains; whitespace is kept."""
    text = _QUOTED.sub(lambda found: f"{found[1]}{_one(f'{found[2]}={found[3]}')}", text)
    text = _QUOTED_PAIR.sub(lambda found: f"{found[1]}{redacted([found[3], found[5]])[1]}", text)
    parts = re.split(r"(\s+)", text)
    parts[::2] = redacted(parts[::2])
    return _HEADER.sub(rf"\1{MARK}", "".join(parts))


def _one(part: str) -> str:
    assignment = _ASSIGNMENT.fullmatch(part)
    if assignment is not None:
        name = assignment[1]
        bare = name.lstrip("-+")
        named = _OPTION.fullmatch(f"--{bare}") or _VARIABLE.fullmatch(bare)
        if named and not _HARMLESS.fullmatch(bare):
            return f"{name}={MARK}"
    part = _URL.sub(rf"\1{MARK}@", part)
    part = _PARAMETER.sub(rf"\1{MARK}", part)
    part = _HEADER.sub(rf"\1{MARK}", part)
    return _KNOWN.sub(MARK, part)
