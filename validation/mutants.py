"""Generate all single changes of a module's source for ``mutate.py``."""

import ast
import copy
from collections.abc import Iterator
from dataclasses import dataclass

_SMALL = 64
KINDS = ("evidence", "threshold", "text", "logic")
"""Kinds of changes."""

_COMPARE: dict[type[ast.cmpop], tuple[type[ast.cmpop], ...]] = {
    ast.Lt: (ast.LtE, ast.GtE),
    ast.LtE: (ast.Lt, ast.Gt),
    ast.Gt: (ast.GtE, ast.LtE),
    ast.GtE: (ast.Gt, ast.Lt),
    ast.Eq: (ast.NotEq,),
    ast.NotEq: (ast.Eq,),
    ast.In: (ast.NotIn,),
    ast.NotIn: (ast.In,),
    ast.Is: (ast.IsNot,),
    ast.IsNot: (ast.Is,),
}
_ARITHMETIC: dict[type[ast.operator], type[ast.operator]] = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.FloorDiv,
    ast.Div: ast.Mult,
    ast.FloorDiv: ast.Mult,
    ast.Mod: ast.Mult,
    ast.BitAnd: ast.BitOr,
    ast.BitOr: ast.BitAnd,
}
_OPPOSITE = {"min": "max", "max": "min", "any": "all", "all": "any"}


@dataclass(frozen=True)
class Mutant:
    """One change of a module.

    Attributes:
        line: 1-based line of the module.
        kind: ``threshold`` (a module-level number, or a comparison with one or with a literal number),
            ``evidence``, ``text`` or ``logic``.
        words: the change, such as ``< -> <=``.
        code: the whole changed module.
    """

    line: int
    kind: str
    words: str
    code: str


class _Sites(ast.NodeVisitor):
    """Nodes that may be changed, each with its enclosing definitions."""

    def __init__(self, tree: ast.Module) -> None:
        self.found: list[tuple[ast.AST, str]] = []
        self._kind = "logic"
        self._thresholds = {
            target.id
            for node in tree.body
            if isinstance(node, ast.Assign) and _is_number(node.value)
            for target in node.targets
            if isinstance(target, ast.Name)
        }
        self.visit(tree)

    def generic_visit(self, node: ast.AST) -> None:
        self.found.append((node, self._kind))
        for name, value in ast.iter_fields(node):
            if name in {"annotation", "returns", "decorator_list", "type_params"}:
                continue
            for child in value if isinstance(value, list) else [value]:
                if isinstance(child, ast.AST):
                    self.visit(child)

    def _as(self, kind: str, node: ast.AST) -> None:
        before, self._kind = self._kind, kind
        self.generic_visit(node)
        self._kind = before

    def visit_Module(self, node: ast.Module) -> None:
        for child in node.body:
            number = isinstance(child, ast.Assign) and _is_number(child.value)
            self._as("threshold", child) if number else self.visit(child)

    def visit_Expr(self, node: ast.Expr) -> None:
        if not (isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)):
            self.generic_visit(node)

    def visit_Assert(self, _node: ast.Assert) -> None:
        return

    def visit_Import(self, _node: ast.Import) -> None:
        return

    def visit_ImportFrom(self, _node: ast.ImportFrom) -> None:
        return

    def visit_If(self, node: ast.If) -> None:
        if not (isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING"):
            self.generic_visit(node)

    def visit_Compare(self, node: ast.Compare) -> None:
        names = {n.id for n in ast.walk(node) if isinstance(n, ast.Name)}
        limit = names & self._thresholds or any(map(_is_number, [node.left, *node.comparators]))
        self._as("threshold" if limit else self._kind, node)

    def visit_Subscript(self, node: ast.Subscript) -> None:
        if not (isinstance(node.value, ast.Name) and node.value.id == "Literal"):
            self.generic_visit(node)

    def visit_BoolOp(self, node: ast.BoolOp) -> None:
        # In ``x or 0``, an unknown value counts as 0. Another small number would not change an answer.
        last = node.values[-1]
        zero = isinstance(node.op, ast.Or) and isinstance(last, ast.Constant) and last.value == 0 and _is_number(last)
        for child in node.values[:-1] if zero else [node]:
            self.visit(child) if zero else self.generic_visit(child)

    def visit_Dict(self, node: ast.Dict) -> None:
        keys = [key.value for key in node.keys if isinstance(key, ast.Constant)]
        words = bool(keys) and all(isinstance(key, str) for key in keys) and self._kind == "logic"
        self._as("evidence" if words else self._kind, node)

    def visit_JoinedStr(self, node: ast.JoinedStr) -> None:
        self._as("text", node)

    def visit_FormattedValue(self, node: ast.FormattedValue) -> None:
        # Mutate the formatted value but not its format: a changed format would usually be invalid.
        self._as("text", node.value) if isinstance(node.value, ast.Constant) else self.visit(node.value)


def _is_number(node: ast.AST | None) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, int | float) and not isinstance(node.value, bool)


def mutants(source: str) -> Iterator[Mutant]:
    """Return every mutant of a module, in the order of its lines."""
    tree = ast.parse(source)
    for index, (node, kind) in enumerate(_Sites(tree).found):
        for number, (words, changed) in enumerate(_changes(node)):
            other = copy.deepcopy(tree)
            target = _Sites(other).found[index][0]
            list(_changes(target))[number][1]()
            del changed
            yield Mutant(getattr(node, "lineno", 0), kind, words, ast.unparse(ast.fix_missing_locations(other)))


def _changes(node: ast.AST) -> "list[tuple[str, Change]]":
    """Return the possible changes of a node: a description, and a function that makes the change in place."""
    found: list[tuple[str, Change]] = [*_expressions(node), *_conditions(node), *_jumps(node)]
    if isinstance(node, ast.Dict):
        for place, key in enumerate(node.keys):
            if isinstance(key, ast.Constant) and isinstance(key.value, str) and not _is_none(node.values[place]):
                values = [*node.values[:place], ast.Constant(None), *node.values[place + 1 :]]
                found.append((f"{key.value!r}: None", Change(node, "values", values)))
    return found


def _expressions(node: ast.AST) -> "Iterator[tuple[str, Change]]":
    if isinstance(node, ast.Constant):
        yield from ((f"{node.value!r} -> {new!r}", Change(node, "value", new)) for new in _constants(node.value))
    elif isinstance(node, ast.Compare):
        for place, operator in enumerate(node.ops):
            for new in _COMPARE.get(type(operator), ()):
                ops = [*node.ops[:place], new(), *node.ops[place + 1 :]]
                yield f"{type(operator).__name__} -> {new.__name__}", Change(node, "ops", ops)
    elif isinstance(node, ast.BinOp | ast.AugAssign) and type(node.op) in _ARITHMETIC:
        new_operator = _ARITHMETIC[type(node.op)]
        yield f"{type(node.op).__name__} -> {new_operator.__name__}", Change(node, "op", new_operator())
    elif isinstance(node, ast.BoolOp):
        other = ast.Or if isinstance(node.op, ast.And) else ast.And
        yield f"{type(node.op).__name__} -> {other.__name__}", Change(node, "op", other())
    elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        yield "not x -> x", Change(node, "operand", ast.UnaryOp(ast.Not(), node.operand))
    elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        yield "-x -> x", Change(node, "op", ast.UAdd())
    elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in _OPPOSITE:
        other_name = _OPPOSITE[node.func.id]
        yield f"{node.func.id} -> {other_name}", Change(node, "func", ast.Name(other_name, ast.Load()))


def _conditions(node: ast.AST) -> "Iterator[tuple[str, Change]]":
    """Yield the negation of a condition that is not a comparison; comparisons have their own mutants."""
    if isinstance(node, ast.If | ast.IfExp | ast.While) and _is_plain(node.test):
        yield "x -> not x", Change(node, "test", ast.UnaryOp(ast.Not(), node.test))
    elif isinstance(node, ast.comprehension):
        for place, test in enumerate(node.ifs):
            if _is_plain(test):
                tests = [*node.ifs[:place], ast.UnaryOp(ast.Not(), test), *node.ifs[place + 1 :]]
                yield "if x -> if not x", Change(node, "ifs", tests)


def _is_plain(test: ast.expr) -> bool:
    return isinstance(test, ast.Name | ast.Attribute | ast.Call | ast.NamedExpr | ast.Subscript | ast.BinOp)


def _jumps(node: ast.AST) -> "Iterator[tuple[str, Change]]":
    """Yield the removal of a ``continue`` or ``break``."""
    for name in ("body", "orelse"):
        block = getattr(node, name, None)
        for place, statement in enumerate(block if isinstance(block, list) else ()):
            if isinstance(statement, ast.Continue | ast.Break):
                word = type(statement).__name__.lower()
                yield f"{word} -> pass", Change(node, name, [*block[:place], ast.Pass(), *block[place + 1 :]])


def _is_none(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value is None


@dataclass(frozen=True)
class Change:
    """Sets an attribute of a node."""

    node: ast.AST
    attribute: str
    value: object

    def __call__(self) -> None:
        setattr(self.node, self.attribute, self.value)


def _constants(value: object) -> list[object]:
    if isinstance(value, bool):
        return [not value]
    if isinstance(value, int):
        # Sizes are powers of two, so the adjacent number would act like the same size.
        return [value + 1, value - 1] if abs(value) < _SMALL else [value * 2, value // 2]
    if isinstance(value, float):
        return [value * 1.25, value * 0.75] if value else [1.0]
    if isinstance(value, str) and value.strip():
        return [f"{value}~"]
    return []
