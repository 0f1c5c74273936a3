"""KP703 unknown-knob, KP704 mixed-knob-spellings, KP705 missing-knob and KP706 not-a-bucket."""

from collections import Counter
from collections.abc import Iterable
from functools import lru_cache
from typing import ClassVar

from kprof.errors import LONGEST_NAME
from kprof.findings import Finding, Location, Severity
from kprof_servers.configs.checks.check import BucketCheck, ConfigCheck, Context
from kprof_servers.configs.model import Bucket, ConfigFile, Knob
from kprof_servers.configs.vocabulary import COMMON, FAMILIES, SPELLINGS

_NEAR = 0.85


class UnknownKnob(BucketCheck):
    """A knob has a name that the format's kernels do not accept.

    ## What it does
    Compares the names with those that the format's kernels read, and suggests similar names. If the kernels are
    unknown, only names that nearly match a known name are reported.

    ## Why it matters
    A loader ignores a mistyped knob and uses the default, or passes it to a kernel, whose launch then fails.

    ## What to try
    Correct the name, or remove the knob.
    """

    id: ClassVar[str] = "KP703"
    name: ClassVar[str] = "unknown-knob"
    severity: ClassVar[Severity] = Severity.WARNING

    def bucket(self, file: ConfigFile, bucket: Bucket, context: Context) -> Iterable[Finding]:  # noqa: ARG002
        """See :meth:`BucketCheck.bucket`."""
        own = FAMILIES[file.vocabulary] if file.vocabulary else frozenset()
        for knob in bucket.knobs:
            if knob.name in COMMON | own or knob.name.startswith("_"):
                continue
            hint = _typo(knob.name, COMMON | own)
            if own or hint:
                text = f"{bucket.name} has the knob {knob.name!r}, which {file.format} kernels do not accept{hint}"
                yield self.finding(file, knob.place, text, knob=knob.name)


@lru_cache(maxsize=4096)
def _typo(name: str, known: frozenset[str]) -> str:
    """Return the nearest known name if it is nearly the same as ``name``, for example in a different case; else ""."""
    if len(name) > LONGEST_NAME:
        return ""
    from difflib import SequenceMatcher

    ratios = {word: SequenceMatcher(None, name.lower(), word.lower()).ratio() for word in sorted(known)}
    best = max(ratios, key=lambda word: ratios[word])
    return f"; did you mean {best!r}?" if ratios[best] > _NEAR else ""


class MixedSpellings(ConfigCheck):
    """A file, or a family of files, spells the same knob in two ways.

    ## What it does
    Looks in the files of one family for pairs such as `BLOCK_M` and `BLOCK_SIZE_M`, or `SPLIT_K` and `NUM_KSPLIT`.

    ## Why it matters
    A kernel accepts only one of the spellings. With the other one, the launch fails or a default is used.

    ## What to try
    Use the spelling of the kernel's arguments everywhere.
    """

    id: ClassVar[str] = "KP704"
    name: ClassVar[str] = "mixed-knob-spellings"
    severity: ClassVar[Severity] = Severity.WARNING

    def check(self, file: ConfigFile, context: Context) -> Iterable[Finding]:
        """See :meth:`ConfigCheck.check`."""
        usual = _spellings(context.families)
        for bucket in file.buckets:
            for knob in bucket.knobs:
                other = usual.get(knob.name)
                if other is not None and (bucket.knob(other[0].name) or _alike(file, other[1], bucket)):
                    at = other[0].place
                    same = other[1].path == file.path
                    where = f"line {at.line}" if same else f"{other[1].path.rsplit('/', 1)[-1]}, line {at.line}"
                    text = f"{bucket.name} has {knob.name!r}, {where} has {other[0].name!r}"
                    place = Location(file=other[1].path, line=at.line, column=at.column)
                    yield self.finding(file, knob.place, text, related=[place], knob=knob.name)


def _alike(file: ConfigFile, other: ConfigFile, bucket: Bucket) -> bool:
    """Return whether a bucket of ``file`` and the buckets of ``other`` are for the same kernel.

    Buckets of different files are for the same kernel if the family's kernels are known. Nested buckets may be for
    different kernels, so the result is False for them.
    """
    return len(bucket.path) == 1 and (other.path == file.path or file.vocabulary is not None)


def _spellings(files: Iterable[ConfigFile]) -> dict[str, tuple[Knob, ConfigFile]]:
    """Map each less frequent spelling of a knob to an example of the most frequent one: a knob and its file."""
    counts: Counter[str] = Counter()
    first: dict[str, tuple[Knob, ConfigFile]] = {}
    for file in files:
        for bucket in file.buckets:
            for knob in bucket.knobs:
                counts[knob.name] += 1
                first.setdefault(knob.name, (knob, file))
    found: dict[str, tuple[Knob, ConfigFile]] = {}
    for row in SPELLINGS:
        used = sorted((name for name in row if counts[name]), key=lambda name: (-counts[name], name))
        found |= dict.fromkeys(used[1:], first[used[0]]) if used else {}
    return found


class MissingKnob(ConfigCheck):
    """A bucket lacks a knob that nearly all others of the file have.

    ## What it does
    Compares the knobs of the buckets of a file. A knob that at least 80 % of the buckets set is expected in all.

    ## Why it matters
    A missing knob gets the default of Triton (`num_stages` 2, `waves_per_eu` 0) or of the loader. Defaults may change
    with the version.

    ## What to try
    Add the value that was tuned.
    """

    id: ClassVar[str] = "KP705"
    name: ClassVar[str] = "missing-knob"
    severity: ClassVar[Severity] = Severity.NOTE

    def check(self, file: ConfigFile, context: Context) -> Iterable[Finding]:  # noqa: ARG002 - the base class's
        """See :meth:`ConfigCheck.check`."""
        if file.vocabulary is None:
            return
        counts = Counter(knob.name for bucket in file.buckets for knob in bucket.knobs)
        expected = [name for name, count in counts.items() if 0.8 * len(file.buckets) <= count < len(file.buckets)]
        for bucket in file.buckets:
            left_out = [name for name in expected if bucket.knob(name) is None]
            if left_out and len(file.buckets) >= 4:
                text = f"{bucket.name} does not set {', '.join(left_out)}, although the other buckets do"
                yield self.finding(file, bucket.place, text, knobs=left_out)


class NotABucket(ConfigCheck):
    """An entry is not a configuration, or the loader cannot read the name of a bucket or of the file.

    ## What it does
    Finds entries whose value is not a configuration (a JSON object), bucket names that the loader cannot read, and
    parts of the file's name that are not `name=value`. Keys that begin with an underscore count as comments.

    ## Why it matters
    The loader raises an exception, or skips the entry, so that its configuration is never used.

    ## What to try
    Correct or remove the entry or name.
    """

    id: ClassVar[str] = "KP706"
    name: ClassVar[str] = "not-a-bucket"
    severity: ClassVar[Severity] = Severity.ERROR

    def check(self, file: ConfigFile, context: Context) -> Iterable[Finding]:  # noqa: ARG002 - the base class's
        """See :meth:`ConfigCheck.check`."""
        for oddity in file.oddities:
            yield self.finding(file, oddity.place, oddity.message)
        if file.broken is None and not file.buckets:
            yield self.finding(file, None, "there is no configuration in this file", severity=Severity.WARNING)
