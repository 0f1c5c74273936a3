"""Scan the lines of an assembly file in one pass."""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cached_property, lru_cache

from kprof.inputs.amdgcn.instruction import AssemblyFrame, Instruction
from kprof.inputs.amdgcn.isa import Generation, Opcode
from kprof.inputs.amdgcn.opcodes import lookup_for
from kprof.inputs.source_path import from_assembly, joined

# ``.loc 2 43 13  ; standard.py:43:13 @[ k.py:13:22 ]`` says that the instruction comes from ``standard.py`` line 43,
# inlined at ``k.py`` line 13. The comment omits the files' directories; the ``.file`` table contains them.
_FILE = re.compile(r'\.file\s+(?:(\d+)\s+)?"((?:[^"\\]|\\.)*)"(?:\s+"((?:[^"\\]|\\.)*)")?')
_LOC = re.compile(r"\.loc\s+(\d+)\s+(\d+)(?:\s+(\d+))?")
_POSITION = re.compile(r"^(.*):(\d+):(\d+)$")
_MAX_FRAMES = 256
_LIBRARY = re.compile(
    r"/(?:site-packages|dist-packages)/triton/|(?:^|/)triton/(?:language|experimental|tools|runtime|compiler|backends)/"
    r"|/lib/clang/[^/]+/include/|/include/hip/|/__clang_hip|(?:^|/)amd_(?:device_functions|hip_[\w]+|warp_functions)\.h$"
)


@lru_cache(maxsize=1024)
def is_library(path: str) -> bool:
    """Return whether a source file is part of Triton itself or of the HIP headers."""
    return _LIBRARY.search(path.replace("\\", "/")) is not None


class FileTable:
    """The ``.file`` directives of one assembly file: paths by file number and by name."""

    def __init__(self) -> None:
        """Create an empty table."""
        self._by_number: dict[int, str] = {}
        self._by_name: dict[str, list[str]] = {}
        self._root = ""

    def add(self, directive: str) -> None:
        """Add one ``.file`` directive; a directive without a number only names the module and is ignored."""
        match = _FILE.match(directive)
        if match is None or match[1] is None or len(match[1]) > 9:
            return
        first = from_assembly(match[2])
        second = from_assembly(match[3]) if match[3] is not None else None
        name = first if second is None else second
        directory = "" if second is None else first
        path = joined(directory, name)
        if match[1] == "0":
            self._root = directory
        elif directory != self._root:
            path = joined(self._root, path)
        self._by_number[int(match[1])] = path
        for key in {name, name.rpartition("/")[2]}:
            paths = self._by_name.setdefault(key, [])
            if path not in paths:
                paths.append(path)

    def path(self, number: int) -> str | None:
        """Return the path of a file number, or ``None`` if there is no such file."""
        return self._by_number.get(number)

    def resolve(self, name: str) -> str:
        """Return the path of a file named in a comment; if several match, the first one outside the library."""
        paths = self._by_name.get(name)
        if not paths:
            return name
        return next((path for path in paths if not is_library(path)), paths[0])


class LocDirective:
    """One ``.loc`` directive; its frames are computed on first use."""

    def __init__(self, directive: str, files: FileTable) -> None:
        """Store the directive's text and the file table, which may still grow."""
        self._directive = directive
        self._files = files

    @cached_property
    def frames(self) -> tuple[AssemblyFrame, ...]:
        """Source frames, innermost first. Without LLVM's comment after ``.loc``, only the frame of ``.loc``."""
        directive, _, comment = self._directive.partition(";")
        match = _LOC.match(directive.strip())
        if match is None or any(len(group or "") > 9 for group in match.groups()):
            return ()
        innermost = self._files.path(int(match[1]))
        frames = []
        for position, part in enumerate(comment.split("@[")[:_MAX_FRAMES]):
            found = _POSITION.match(part.strip().rstrip("] "))
            if found is None or len(found[2]) > 9 or len(found[3]) > 9:
                continue
            name = found[1]
            path = self._files.resolve(name)
            if position == 0 and innermost is not None and innermost.endswith(name):
                path = innermost
            frames.append(AssemblyFrame(path, int(found[2]), int(found[3]), is_library(path)))
        if not frames:
            path = innermost or f"file {match[1]}"
            frames.append(AssemblyFrame(path, int(match[2]), int(match[3] or 0), is_library(path)))
        return tuple(frames)


_NAME = re.compile(r'(?:"((?:[^"\\]|\\.)+)"|([\w.$@]+))')
_LABEL = re.compile(r'^("(?:[^"\\]|\\.)+"|[\w.$@?]+):(?!:)\s*(.*)$')
_MNEMONIC = re.compile(r"[a-z][a-z0-9_]*$", re.IGNORECASE)
_ASSIGNMENT = re.compile(r"([\w.$@]+)\s*==?\s*(.+)$")
_FACT = re.compile(r"; ([A-Za-z][\w:]*?)\s*[:=] ?(.*)$")


@dataclass
class Body:
    """A function that is being read.

    Attributes:
        name: symbol name.
        line: 1-based line of its label, 0 if it has none.
        alignment: exponent of the last ``.p2align`` before the label; 8 for kernels.
        instructions: instructions in program order.
        labels: position of the instruction that follows each label.
        comments: values of the compiler's comments after the function, by key.
        ended: whether a directive or label marked the function's end.
    """

    name: str
    line: int
    alignment: int | None = None
    instructions: list[Instruction] = field(default_factory=list)
    labels: dict[str, int] = field(default_factory=dict)
    comments: dict[str, str] = field(default_factory=dict)
    ended: bool = False


class AssemblyScanner:
    """Reads lines into functions, descriptor directives, symbols and metadata."""

    def __init__(self, generation: Generation, kernel_names: frozenset[str]) -> None:
        """Create a scanner that has read nothing.

        Args:
            generation: hardware generation; it decides the wait counters.
            kernel_names: names in the file's ``.amdhsa_kernel`` directives.
        """
        self.bodies: list[Body] = []
        self.descriptors: dict[str, dict[str, str]] = {}
        self.symbols: dict[str, str] = {}
        self.metadata: list[list[str]] = []
        self.notes: list[str] = []
        self.unfinished: list[str] = []
        self.odd_lines: list[int] = []
        self.written_by_llvm = False
        self.metadata_ended = False
        self._generation = generation
        self._functions = set(kernel_names)
        self._files = FileTable()
        self._locations: dict[str, LocDirective] = {}
        self._opcodes: dict[str, Opcode] = {}
        self._body: Body | None = None
        self._source: LocDirective | None = None
        self._pending: dict[str, int] = {}
        self._alignment: int | None = None
        self._in_facts = False
        self._lines: Iterator[tuple[int, str]] = iter(())
        self._handlers: dict[str, Callable[[str, int], None]] = {
            ".file": lambda text, _: self._files.add(text),
            ".type": self._type,
            ".size": self._size,
            ".set": self._set,
            ".equ": self._set,
            ".p2align": self._align,
            ".amdhsa_kernel": self._descriptor,
            ".amdgpu_metadata": self._metadata,
            ".hsa_code_object_metadata": self._metadata,
            ".macro": self._macro,
            ".rept": self._repeat,
            ".if": self._conditional,
        }

    def run(self, lines: list[str]) -> None:
        """Scan all lines of the file."""
        self._lines = iterator = enumerate(lines, 1)
        opcodes = self._opcodes
        locations = self._locations
        for number, line in iterator:
            text = line.strip()
            if not text:
                continue
            first = text[0]
            if first == ".":
                if text.startswith(".loc"):
                    self._source = locations.get(text) or self._location(text)
                else:
                    self._directive(text, number)
            elif first == ";":
                self._comment(text)
            else:
                code, _, comment = text.partition(";")
                opcode = opcodes.get(code.partition(" ")[0])
                body = self._body
                if opcode is None or body is None:
                    self._unusual(code.rstrip(), comment.strip(), number)
                    continue
                instructions = body.instructions
                instructions.append(
                    Instruction(len(instructions), number, code.rstrip(), comment, opcode, self._source)
                )

    def _location(self, text: str) -> LocDirective:
        location = self._locations[text] = LocDirective(text, self._files)
        return location

    def _directive(self, text: str, number: int) -> None:
        word = text.split(None, 1)[0]
        handler = self._handlers.get(word)
        if handler is not None:
            handler(text, number)
        elif ":" in word:
            self._label_line(text, number)

    def _comment(self, text: str) -> None:
        if text.endswith((" info:", "Info:")):
            self._in_facts = True
            self.written_by_llvm = True
        elif self._in_facts and self._body is not None:
            match = _FACT.match(text)
            if match is not None:
                self._body.comments[match[1]] = match[2]

    def _unusual(self, code: str, comment: str, number: int) -> None:
        """Handle a label, an assignment, the first use of a mnemonic, or a line that is not assembly."""
        if code.startswith("#") or not code:
            return
        word = code.split(None, 1)[0]
        if ":" in word or code.startswith('"'):
            self._label_line(code if not comment else f"{code} ; {comment}", number)
            return
        if not _MNEMONIC.match(word):
            self._assignment_or_odd(code, number)
            return
        rest = code[len(word) :].lstrip()
        if rest.startswith("=") and not rest.startswith("=="):
            self._assignment_or_odd(code, number)
            return
        name = word.lower()
        opcode = self._opcodes.get(word)
        if opcode is None:
            opcode = self._opcodes[word] = lookup_for(name, self._generation)
        self._append(f"{word} {rest}" if rest else word, comment, opcode, number)

    def _append(self, code: str, comment: str, opcode: Opcode, number: int) -> None:
        if self._body is None:
            name = next(reversed(self._pending), "")
            self._open(name, self._pending.get(name, number))
        assert self._body is not None
        instructions = self._body.instructions
        instructions.append(Instruction(len(instructions), number, code, comment, opcode, self._source))

    def _assignment_or_odd(self, code: str, number: int) -> None:
        match = _ASSIGNMENT.match(code)
        if match is not None:
            self.symbols[match[1]] = match[2]
        else:
            self.odd_lines.append(number)

    def _label_line(self, text: str, number: int) -> None:
        match = _LABEL.match(text)
        if match is None:
            self.odd_lines.append(number)
            return
        name, rest = match[1].strip('"'), match[2]
        code, _, comment = rest.partition(";")
        if name in self._functions:
            self._open(name, number)
        elif name.startswith(".Lfunc_end") and self._body is not None:
            self._body.ended = True
        if self._body is not None:
            self._body.labels[name] = len(self._body.instructions)
        elif not name.startswith("."):
            self._pending[name] = number
        if code.strip():
            self._unusual(code.strip(), comment.strip(), number)

    def _open(self, name: str, line: int) -> None:
        self._body = Body(name, line, self._alignment)
        self.bodies.append(self._body)
        self._source = None
        self._in_facts = False
        self._alignment = None
        self._pending.clear()

    def _type(self, text: str, _: int) -> None:
        match = _NAME.search(text, len(".type"))
        if match is not None and ("@function" in text or "%function" in text or "STT_FUNC" in text):
            self._functions.add(match[1] or match[2])

    def _size(self, text: str, _: int) -> None:
        match = _NAME.search(text, len(".size"))
        if match is not None and self._body is not None and (match[1] or match[2]) == self._body.name:
            self._body.ended = True

    def _set(self, text: str, _: int) -> None:
        name, comma, value = text.partition(";")[0].split(None, 1)[-1].partition(",")
        if comma:
            self.symbols[name.strip().strip('"')] = value.strip()

    def _align(self, text: str, _: int) -> None:
        exponent = text[len(".p2align") :].partition(",")[0].partition(";")[0].strip()
        self._alignment = int(exponent) if exponent.isdecimal() and len(exponent) < 3 else None

    def _descriptor(self, text: str, number: int) -> None:
        match = _NAME.search(text, len(".amdhsa_kernel"))
        name = (match[1] or match[2]) if match is not None else ""
        values = self.descriptors.setdefault(name, {})
        for _, line in self._lines:
            word, _, value = line.partition(";")[0].strip().partition(" ")
            if word == ".end_amdhsa_kernel":
                return
            if word.startswith(".amdhsa_"):
                values[word.removeprefix(".amdhsa_")] = value.strip()
        self.unfinished.append(f"the descriptor of {name} that begins in line {number}")

    def _metadata(self, text: str, number: int) -> None:
        end = f".end_{text.split(maxsplit=1)[0][1:]}"
        kept: list[str] = []
        self.metadata.append(kept)
        for _, line in self._lines:
            if line.strip().startswith(end):
                self.metadata_ended = True
                return
            kept.append(line)
        self.unfinished.append(f"the metadata that begins in line {number}")

    def _skip(self, begin: str, end: str, number: int) -> None:
        depth = 1
        for _, line in self._lines:
            word = line.split(None, 1)[:1]
            depth += (word == [begin]) - (word == [end])
            if depth == 0:
                return
        self.unfinished.append(f"the {begin} that begins in line {number}")

    def _macro(self, _: str, number: int) -> None:
        self.notes.append(f"line {number}: macros are not expanded; their uses count as unknown instructions")
        self._skip(".macro", ".endm", number)

    def _repeat(self, _: str, number: int) -> None:
        self.notes.append(f"line {number}: .rept is not expanded; its body is left out")
        self._skip(".rept", ".endr", number)

    def _conditional(self, _: str, number: int) -> None:
        self.notes.append(f"line {number}: conditional assembly is not evaluated; all branches are read")
