"""Find, by names alone, how the definitions of a repository use each other.

The result says what a kernel uses, and which code launches the kernel. Nothing is imported. Names are followed through
imports, star imports and packages. A chain such as ``torch.ops.a.f`` is resolved to every function ``f`` of the
repository. Names chosen at run time (``getattr``, names in strings) are not seen.
"""

import hashlib
from collections import defaultdict, deque
from collections.abc import Iterable, Iterator, Mapping
from functools import cache, cached_property
from pathlib import PurePosixPath

from kprof.importing.definitions import Definition, FileDefinitions, Import, Text

Key = tuple[str, str]
"""Key of a definition: the path of its file and its name."""

_TOP = frozenset({"", "src", "python"})
_OF_OTHERS = frozenset({"triton", "torch", "numpy"})
_DISPATCHED = "torch.ops."
_MAX_DEPTH = 40


@cache
def is_test(path: str) -> bool:
    """Return whether a file contains tests by pytest's rules, or is a ``conftest.py``, which tests share."""
    name = PurePosixPath(path).name
    return name.startswith("test_") or name.endswith("_test.py") or name == "conftest.py"


@cache
def _is_benchmark(path: str) -> bool:
    return PurePosixPath(path).name.startswith(("bench_", "benchmark"))


class CodeGraph:
    """Graph of the definitions in all files of a repository.

    Args:
        files: definitions by path relative to the repository's root.
    """

    def __init__(self, files: Mapping[str, FileDefinitions]) -> None:
        self._files = files
        self._by_name: dict[str, list[tuple[tuple[str, ...], str]]] = defaultdict(list)
        self._packages = {str(PurePosixPath(path).parent) for path in files if path.endswith("__init__.py")}
        for path in sorted(files):
            parts = _dotted(path)
            if parts:
                self._by_name[parts[-1]].append((parts, path))
        self._modules: dict[tuple[str, str, int], str | None] = {}
        self._links: dict[tuple[Key, str], str] = {}
        self._uses: dict[tuple[Key, str], list[Key]] = {}
        self._targets: dict[tuple[str, str, str], tuple[tuple[Key, ...], str]] = {}

    def definition(self, key: Key) -> Definition:
        """Return a definition by its file and name."""
        return self._files[key[0]].definitions[key[1]]

    def files_with(self, name: str) -> list[str]:
        """Return the files, other than tests, that define a name."""
        return [path for path, file in self._files.items() if name in file.definitions and not is_test(path)]

    @cached_property
    def kernels(self) -> list[Key]:
        """Triton functions, and functions that create them, except helpers used only by other Triton functions."""
        found = [
            (path, name)
            for path, file in self._files.items()
            for name, each in file.definitions.items()
            if each.code is not None or each.kernels
        ]
        return [
            key
            for key in found
            if not is_test(key[0]) and (key in self._used_by_host or key not in self._used_by_kernels)
        ]

    @cached_property
    def _used_by_host(self) -> dict[Key, list[Key]]:
        """Users of each definition: the functions, classes and constants outside of kernels that name it."""
        users: dict[Key, list[Key]] = defaultdict(list)
        names = self._names_that_lead_to_kernels()
        for key, each in self._definitions():
            if each.code is None and not names.isdisjoint(_components(each)):
                for used in self._used(key, each.text):
                    users[used].append(key)
        return dict(users)

    def _names_that_lead_to_kernels(self) -> set[str]:
        """Return all names that may lead to a kernel: names of kernels, of their users, and import aliases of both.

        A definition that uses none of these names uses no kernel. Names are compared without resolving them, because
        resolving is slow and most definitions use no kernel.
        """
        leads: dict[str, set[str]] = defaultdict(set)
        for file in self._files.values():
            for alias, what in file.imports.items():
                leads[what.name].add(alias)
        found = set()
        for (_, name), each in self._definitions():
            if each.code is not None or each.kernels:
                found.add(name)
            for part in _components(each):
                leads[part].add(name)
            for alias, what in each.imports.items():
                leads[what.name].update((alias, name))
        waiting = list(found)
        while waiting:
            new = leads[waiting.pop()] - found
            found |= new
            waiting += new
        return found

    @cached_property
    def _used_by_kernels(self) -> set[Key]:
        return {
            used
            for key, each in self._definitions()
            if each.code is not None
            for used in self._used(key, each.code)
            if used != key
        }

    def _definitions(self) -> Iterator[tuple[Key, Definition]]:
        for path, file in self._files.items():
            for name, each in file.definitions.items():
                yield (path, name), each

    def source(self, kernel: Key) -> str:
        """Return a digest of everything that determines a Triton function's code for given arguments.

        The digest covers the function's text and that of all functions and constants that it uses, directly or
        indirectly. Names of files and of the function itself do not matter.
        """
        return self._digest(kernel, {})

    def source_parts(self, kernel: Key) -> dict[Key, str]:
        """Return the definitions that :meth:`source` covers, with a digest of each."""
        parts: dict[Key, str] = {}
        self._digest(kernel, parts)
        return parts

    def _digest(self, kernel: Key, parts: dict[Key, str]) -> str:
        digest = hashlib.sha256()
        numbers = {kernel: 0}
        waiting = deque([kernel])
        while waiting:
            key = waiting.popleft()
            each = self.definition(key)
            text = each.code or each.text
            parts[key] = text.digest
            digest.update(text.digest.encode())
            for chain in text.uses:
                keys, elsewhere = self._resolve(key, chain)
                for used in keys:
                    if used not in numbers:
                        numbers[used] = len(numbers)
                        waiting.append(used)
                told = f"{chain} {[numbers[used] for used in keys]} {elsewhere}\n"
                digest.update(told.encode(errors="surrogatepass"))
        return digest.hexdigest()

    @cached_property
    def _users_of_kernels(self) -> set[Key]:
        """Definitions outside of kernels that use a kernel, directly or indirectly."""
        return self._users_of(self.kernels)

    def _users_of(self, keys: Iterable[Key]) -> set[Key]:
        """Return the definitions that use at least one of the given definitions, directly or indirectly."""
        found: set[Key] = set()
        waiting = list(keys)
        while waiting:
            for user in self._used_by_host.get(waiting.pop(), ()):
                if user not in found:
                    found.add(user)
                    waiting.append(user)
        return found

    def users(self, kernel: Key) -> set[Key]:
        """Return the definitions through which a kernel is launched, including tests and benchmarks."""
        return self._users_of([kernel]) | ({kernel} if self.definition(kernel).code is None else set())

    def launch_parts(self, kernel: Key) -> dict[Key, str]:
        """Return the definitions that affect how a kernel is launched, with a digest of each.

        These are the kernel's decorators and the code that leads to it. A function that launches other kernels and only
        has a caller in common with this kernel is not included. Tests and benchmarks are not included either.
        """
        own = self.definition(kernel)
        found: dict[Key, str] = {}
        waiting = [key for key in self.users(kernel) if not is_test(key[0]) and not _is_benchmark(key[0])]
        if own.launch is not None:
            found[kernel] = self._linked(kernel, own.launch)
            waiting += self._used(kernel, own.launch)
        while waiting:
            key = waiting.pop()
            each = self.definition(key)
            if key in found or each.code is not None:
                continue
            found[key] = self._linked(key, each.text)
            waiting += (used for used in self._used(key, each.text) if used not in self._users_of_kernels)
        return found

    def words(self, keys: Iterable[Key]) -> set[str]:
        """Return the string literals in the given definitions."""
        return {word for key in keys for word in self.definition(key).words}

    def public(self, keys: Iterable[Key]) -> list[Key]:
        """Return the public functions and classes among the given definitions, without tests and benchmarks."""
        return sorted(
            key
            for key in keys
            if self.definition(key).is_callable
            and not key[1].startswith("_")
            and not is_test(key[0])
            and not _is_benchmark(key[0])
        )

    def tests(self, keys: Iterable[Key]) -> list[str]:
        """Return the tests among the given definitions in pytest's notation, ``tests/test_a.py::test_b``."""
        found = []
        for path, name in keys:
            if is_test(path) and self.definition((path, name)).is_callable and name.startswith(("test", "Test")):
                found.append(f"{path}::{name}")
        return sorted(found)

    def _linked(self, key: Key, text: Text) -> str:
        """Return a digest of a part of a definition, including the names of the definitions that it uses."""
        if (key, text.digest) not in self._links:
            told = [(chain, [used[1] for used in self._resolve(key, chain)[0]]) for chain in text.uses]
            digest = hashlib.sha256(f"{text.digest} {told}".encode(errors="surrogatepass")).hexdigest()
            self._links[key, text.digest] = digest
        return self._links[key, text.digest]

    def _used(self, key: Key, text: Text) -> list[Key]:
        if (key, text.digest) not in self._uses:
            self._uses[key, text.digest] = list(self._named_in(key, text))
        return self._uses[key, text.digest]

    def _named_in(self, key: Key, text: Text) -> list[Key]:
        found = [used for chain in text.uses for used in self._resolve(key, chain)[0]]
        each = self.definition(key)
        if is_test(key[0]) and each.parameters:
            found += self._fixtures(key[0], each.parameters)
        return [used for used in dict.fromkeys(found) if used != key]

    def _fixtures(self, path: str, parameters: Iterable[str]) -> Iterator[Key]:
        """Yield the pytest fixtures that a test's parameters may refer to."""
        folders = PurePosixPath(path).parents
        places = [path, *(str(folder / "conftest.py") for folder in folders)]
        for place in places:
            file = self._files.get(place)
            for name in parameters:
                if file is not None and name in file.definitions:
                    yield place, name

    def _resolve(self, key: Key, chain: str) -> tuple[tuple[Key, ...], str]:
        """Resolve a name or attribute chain that a definition uses.

        Return the repository's definitions that it refers to, and the names that are defined outside the repository.
        """
        where = (*key, chain)
        known = self._targets.get(where)
        if known is None:
            known = self._targets[where] = self._found(key, chain)
        return known

    def _found(self, key: Key, chain: str) -> tuple[tuple[Key, ...], str]:
        root, *rest = chain.split(".")
        local = self.definition(key).imports.get(root)
        found = self._imported(key[0], local, rest, 0) if local is not None else self._named(key[0], root, rest, 0)
        keys = tuple(dict.fromkeys(each for each in found if isinstance(each, tuple)))
        if not keys and chain.startswith(_DISPATCHED):
            keys = tuple((path, rest[-1]) for path, file in self._files.items() if rest[-1] in file.definitions)
        return keys, " ".join(each for each in found if isinstance(each, str))

    def _named(self, path: str, name: str, rest: list[str], depth: int) -> list[Key | str]:
        """Resolve a name in a file; the result is empty for a name that the file does not define, such as ``len``."""
        file = self._files[path]
        found: list[Key | str] = [(path, name)] if name in file.definitions else []
        if depth > _MAX_DEPTH:
            return found
        if name in file.imports:
            found += self._imported(path, file.imports[name], rest, depth + 1)
        if not found:
            for star in file.stars:
                module = self._module(path, star.module, star.level)
                found += self._named(module, name, rest, depth + 1) if module is not None else []
        if not found and path.endswith("__init__.py"):
            module = self._below(path, name)
            if module is not None:
                found += self._member(module, rest, depth + 1)
        return found

    def _imported(self, path: str, what: Import, rest: list[str], depth: int) -> list[Key | str]:
        if not what.name:
            # Try the longest prefix of a.b.c.f that is a module.
            for end in range(len(rest), -1, -1):
                module = self._module(path, ".".join((what.module, *rest[:end])), what.level)
                if module is not None:
                    return self._member(module, rest[end:], depth)
            return [what.module]
        module = self._module(path, what.module, what.level)
        if module is not None:
            found = self._named(module, what.name, rest, depth)
            if found:
                return found
        whole = ".".join(filter(None, (what.module, what.name)))
        below = self._module(path, whole, what.level)
        return self._member(below, rest, depth) if below is not None else [f"{'.' * what.level}{whole}"]

    def _member(self, module: str, rest: list[str], depth: int) -> list[Key | str]:
        return self._named(module, rest[0], rest[1:], depth) if rest else [module]

    def _below(self, path: str, name: str) -> str | None:
        folder = path.removesuffix("__init__.py")
        places = (f"{folder}{name}.py", f"{folder}{name}/__init__.py")
        return next((place for place in places if place in self._files), None)

    def _module(self, path: str, module: str, level: int) -> str | None:
        """Return the file of an imported module; None if the module is not in this repository."""
        asked = (path.rpartition("/")[0], module, level)
        if asked not in self._modules:
            self._modules[asked] = self._relative(*asked) if level else self._absolute(asked[0], module)
        return self._modules[asked]

    def _relative(self, folder: str, module: str, level: int) -> str | None:
        for _ in range(level - 1):
            folder = folder.rpartition("/")[0]
        place = "/".join(filter(None, (folder, *module.split("."))))
        places = (f"{place}.py", f"{place}/__init__.py", "" if place else "__init__.py")
        return next((each for each in places if each in self._files), None)

    def _absolute(self, folder: str, module: str) -> str | None:
        best: tuple[int, int, str] | None = None
        wanted, near = tuple(module.split(".")), tuple(folder.split("/")) if folder else ()
        for parts, path in self._by_name.get(wanted[-1], ()):
            if parts[-len(wanted) :] != wanted:
                continue
            before = parts[: -len(wanted)]
            start = "/".join(before)
            if start not in _TOP and (wanted[0] in _OF_OTHERS or start in self._packages):
                continue
            if len(wanted) == 1 and start not in _TOP and before != near:
                continue
            shared = next((i for i, (a, b) in enumerate(zip(before, near, strict=False)) if a != b), len(before))
            rank = (-shared, len(parts), path)
            best = rank if best is None or rank < best else best
        return None if best is None else best[2]


def _components(definition: Definition) -> set[str]:
    """Return the parts of all dotted names that a definition uses, with its parameters and imported names.

    Parameters are included because a test's parameters name its fixtures.
    """
    found = {part for chain in definition.text.uses for part in chain.split(".")}
    found.update(definition.parameters, (what.name for what in definition.imports.values()))
    return found


def _dotted(path: str) -> tuple[str, ...]:
    parts = PurePosixPath(path).with_suffix("").parts
    return parts[:-1] if parts[-1] == "__init__" else parts
