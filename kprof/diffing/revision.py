"""Read a git work tree and an earlier revision with git's commands. Nothing is changed, and no hook is run."""

import os
import subprocess
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from kprof import children
from kprof.errors import InputError

_LINK = "120000"
_FILES = frozenset({"100644", "100755", _LINK})
_PLAIN = ("-c", "core.fsmonitor=false", "-c", "core.hooksPath=/dev/null", "-c", "core.quotePath=false")


@dataclass(frozen=True)
class Blob:
    """A file of a revision.

    Attributes:
        mode: git's file mode.
        name: git's object name (hash) of the content.
    """

    mode: str
    name: str


@dataclass(frozen=True)
class WorkTree:
    """A work tree and the revision to compare it with.

    Attributes:
        root: the top folder of the work tree.
        commit: full commit hash of the revision.
        folder: the folder to compare, relative to the root; empty for the root.
    """

    root: Path
    commit: str
    folder: str = ""

    @property
    def files(self) -> list[str]:
        """Paths of the existing files that Git does not ignore, relative to the root."""
        listed = _git(self.root, "ls-files", "-z", "--cached", "--others", "--exclude-standard")
        return [path for path in dict.fromkeys(_paths(listed)) if os.path.lexists(self.root / path)]

    @property
    def changed(self) -> set[str]:
        """Paths of files that differ between the revision and the work tree, or exist only in one of them."""
        options = ("--name-only", "-z", "--no-renames", "--no-ext-diff", "--no-textconv")
        differing = _git(self.root, "diff", *options, self.commit, "--")
        new = _git(self.root, "ls-files", "-z", "--others", "--exclude-standard")
        return {*_paths(differing), *_paths(new)}

    @property
    def blobs(self) -> dict[str, Blob]:
        """Files of the revision, by path."""
        found = {}
        for line in _paths(_git(self.root, "ls-tree", "-r", "-z", "--full-tree", self.commit)):
            about, _, path = line.partition("\t")
            mode, _, name = about.split()
            if mode in _FILES:
                found[path] = Blob(mode, name)
        return found

    def contents(self, names: Sequence[str]) -> Iterator[bytes]:
        """Yield the contents of the revision's files with these object names, in order."""
        if not names:
            return
        said = _git(self.root, "cat-file", "--batch", sent="".join(f"{name}\n" for name in names).encode())
        at = 0
        for name in names:
            end = said.index(b"\n", at)
            head = said[at:end].split()
            if len(head) != 3:
                raise InputError(f"git has no content of {name}: a partial clone", path=str(self.root))
            start, size = end + 1, int(head[2])
            yield said[start : start + size]
            at = start + size + 1

    def write(self, folder: Path, blobs: Mapping[str, Blob]) -> None:
        """Write files of the revision into a folder; links that lead out of it are skipped."""
        for paths in _batches(blobs):
            for path, content in zip(paths, self.contents([blobs[each].name for each in paths]), strict=True):
                place = folder / path
                place.parent.mkdir(parents=True, exist_ok=True)
                if blobs[path].mode != _LINK:
                    place.write_bytes(content)
                    continue
                target = os.path.normpath(place.parent / os.fsdecode(content))
                if Path(target).is_relative_to(folder):
                    place.symlink_to(os.fsdecode(content))


def work_tree(revision: str, folder: Path) -> WorkTree:
    """Return the work tree that contains a folder, and the revision to compare it with.

    Raises:
        InputError: git is missing, the folder is not in a work tree, or the revision does not exist.
    """
    root = Path(_git(folder, "rev-parse", "--show-toplevel").decode(errors="surrogateescape").rstrip("\n"))
    try:
        named = _git(folder, "rev-parse", "--verify", "--quiet", "--end-of-options", f"{revision}^{{commit}}")
    except InputError:
        hint = "A shallow clone has few revisions: git fetch --unshallow, or fetch-depth: 0 of actions/checkout."
        raise InputError(f"there is no revision {revision!r}", path=str(root), hint=hint) from None
    below = _git(folder, "rev-parse", "--show-prefix").decode(errors="surrogateescape").rstrip("\n").rstrip("/")
    return WorkTree(root, named.decode().strip(), below)


_TOGETHER = 500


def _batches(paths: Iterable[str]) -> Iterator[list[str]]:
    ordered = sorted(paths)
    for start in range(0, len(ordered), _TOGETHER):
        yield ordered[start : start + _TOGETHER]


def _paths(said: bytes) -> list[str]:
    return [os.fsdecode(each) for each in said.split(b"\0") if each]


def _git(folder: Path, *words: str, sent: bytes = b"") -> bytes:
    command = ["git", "-C", str(folder), *_PLAIN, *words]
    try:
        done = children.run(command, capture_output=True, check=False, input=sent)
    except OSError as error:
        raise InputError(f"git cannot be run: {error.strerror}", hint="--since needs git.") from None
    except subprocess.SubprocessError as error:
        raise InputError(f"git: {error}", path=str(folder)) from None
    if done.returncode:
        said = done.stderr.decode(errors="replace").strip().splitlines()
        raise InputError(said[0] if said else f"git ended with {done.returncode}", path=str(folder))
    return bytes(done.stdout)
