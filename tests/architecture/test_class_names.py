"""A class's name should say what it is without its module."""

import ast
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
# Names that classes still share, and how many have each. None may be added, and none may be shared by more.
SHARED = {
    "Advice": 2,
    "Analysis": 2,
    "Answer": 2,
    "Candidate": 4,
    "Change": 3,
    "Check": 4,
    "Compiled": 3,
    "Compiler": 2,
    "Details": 2,
    "Device": 2,
    "Effects": 2,
    "Format": 3,
    "Frame": 4,
    "Function": 2,
    "Gain": 2,
    "Gpu": 3,
    "Group": 2,
    "Instruction": 2,
    "Job": 2,
    "Journal": 2,
    "Kernel": 3,
    "Key": 2,
    "Kind": 2,
    "Launch": 4,
    "Limits": 3,
    "Location": 2,
    "Match": 2,
    "Measured": 2,
    "Model": 2,
    "Node": 2,
    "Numbers": 2,
    "Occupancy": 2,
    "Operators": 2,
    "Options": 2,
    "Outcome": 2,
    "Part": 3,
    "Place": 2,
    "Process": 2,
    "Product": 2,
    "Program": 3,
    "Question": 2,
    "Range": 2,
    "Recorded": 3,
    "Recorder": 2,
    "Request": 2,
    "Result": 3,
    "Results": 2,
    "Rule": 3,
    "Section": 2,
    "Session": 2,
    "Spread": 2,
    "State": 2,
    "Subject": 3,
    "Target": 2,
    "Task": 2,
    "Tensor": 2,
    "Trace": 2,
    "Trial": 2,
    "Tuned": 2,
    "Verdict": 3,
    "Written": 3,
}


def public_classes() -> Counter[str]:
    """How many classes of the package have each public name."""
    return Counter(
        node.name
        for folder in ("kprof", "analyzers/kprof_analyzers")
        for path in (ROOT / folder).rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.ClassDef) and not node.name.startswith("_")
    )


def test_no_more_public_classes_share_a_name() -> None:
    found = public_classes()
    assert {name: count for name, count in found.items() if count > SHARED.get(name, 1)} == {}
