"""Generate the first files for ``kprof check``: a configuration for a folder's kernels, and a GitHub workflow."""

import ast
import json
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from kprof.errors import InputError, KprofError
from kprof.importing.launches import launches_kernels
from kprof.inputs import boundary
from kprof.origin import installed_from

CONFIG = "kprof.toml"
BASELINE = "kprof-baseline.json"
WORKFLOW = Path(".github", "workflows", "kprof.yml")

_SKIPPED = frozenset({"build", "dist", "node_modules", "site-packages", "tests", "venv"})
_MAX_FILES = 5000
"""Maximum number of Python files to read."""


@dataclass(frozen=True)
class Found:
    """Targets for the gate in a folder, as relative paths.

    Attributes:
        kernels: files with a ``KERNEL``.
        programs: files that launch Triton functions when they are run.
        functions: files with Triton functions whose launch is not described anywhere.
    """

    kernels: Sequence[str] = ()
    programs: Sequence[str] = ()
    functions: Sequence[str] = ()

    @property
    def words(self) -> str:
        """The numbers of targets in words, for example ``1 kernel and 2 programs``."""
        counts = ((len(self.kernels), "kernel"), (len(self.programs), "program"))
        return " and ".join(f"{count} {word if count == 1 else word + 's'}" for count, word in counts if count)


def find_targets(folder: Path) -> Found:
    """Find targets in a folder and its subfolders from the text of Python files; nothing is imported.

    Raises:
        KprofError: there is neither a file with a ``KERNEL`` nor a program that launches a Triton function.
    """
    kernels, programs, functions = [], [], []
    for path in _python_files(folder):
        try:
            text = boundary.read_text(path)
            tree = ast.parse(text) if "triton" in text or "KERNEL" in text else ast.Module([], [])
        except (InputError, SyntaxError, ValueError, RecursionError, MemoryError):
            continue
        name = path.relative_to(folder).as_posix()
        if _assigns_kernel(tree):
            kernels.append(name)
        elif _runs(tree) and launches_kernels(path):
            programs.append(name)
        elif _has_function(tree):
            functions.append(name)
    if not kernels and not programs:
        others = f"{', '.join(functions[:3])} has only functions; " if functions else ""
        hint = f"{others}name a target in {CONFIG}: docs/ci.md shows how."
        raise KprofError("no file here has a KERNEL or launches a Triton function", path=str(folder), hint=hint)
    return Found(kernels, programs, functions)


def config_text(found: Found, gpus: Sequence[str]) -> str:
    """Return the content of ``kprof.toml``."""
    lines = [f"arch = {json.dumps(list(gpus))}", f'baseline = "{BASELINE}"']
    for name in found.kernels:
        lines += ["", "[[kernel]]", f"target = {json.dumps(name)}"]
    for name in found.programs:
        lines += ["", "[[program]]", f'command = ["python", {json.dumps(name)}]']
    for name in found.functions:
        lines += ["", f"# {name} has Triton functions only; to check one:"]
        lines += ["# [[kernel]]", f'# target = "{name}::FUNCTION"', '# signature = "*fp16:16,*fp16,4096"']
        lines += ["# grid = [64]"]
    return "\n".join(lines) + "\n"


def workflow_text() -> str:
    """Return a GitHub workflow that runs the check and keeps one comment of a pull request up to date.

    The workflow installs the same Triton and torch as this environment. It installs the same kprof if the repository of
    this kprof is known; otherwise it contains a variable for the address.
    """
    pins = [f"{name}=={version(name).partition('+')[0]}" for name in ("triton", "torch") if _is_installed(name)]
    address = kprof_address()
    packages = " ".join(json.dumps(one) for one in (f"kprof @ {address or '$KPROF'}", *pins))
    variable = "" if address else _VARIABLE
    return f"""\
name: kprof
on: [push, pull_request]
permissions:
  contents: read
  pull-requests: write
{variable}jobs:
  kernels:
    runs-on: ubuntu-latest
    steps:
      - uses: actions/checkout@11d5960a326750d5838078e36cf38b85af677262  # v4.4.0
      - uses: actions/setup-python@a26af69be951a213d495a4c3e4e4022e16d87065  # v5.6.0
        with:
          python-version: "3.12"
      - run: pip install {packages} --extra-index-url https://download.pytorch.org/whl/cpu
      - run: kprof check --github --markdown comment.md
      - name: Post the comment, or update it
        if: always() && github.event_name == 'pull_request' && hashFiles('comment.md') != ''
        # A pull request from a fork may not comment.
        continue-on-error: true
        env:
          GH_TOKEN: ${{{{ github.token }}}}
        run: gh pr comment ${{{{ github.event.number }}}} --edit-last --create-if-none --body-file comment.md
"""


_VARIABLE = """\
env:
  # Where pip gets kprof: git+https://HOST/OWNER/kprof@REVISION, set among the repository's variables.
  KPROF: ${{ vars.KPROF }}
"""


def kprof_address() -> str | None:
    """Return the address, a repository with a commit, from which pip can install this kprof; ``None`` if not known."""
    url, commit = installed_from()
    return f"git+{url}@{commit}" if commit and url.startswith(("https://", "ssh://")) else None


def _is_installed(name: str) -> bool:
    try:
        version(name)
    except PackageNotFoundError:
        return False
    return True


def _python_files(folder: Path) -> Iterator[Path]:
    count = 0
    for place, folders, files in os.walk(folder):
        folders[:] = sorted(one for one in folders if one not in _SKIPPED and not one.startswith("."))
        for name in sorted(files):
            if name.endswith(".py") and not name.startswith("test_"):
                count += 1
                if count > _MAX_FILES:
                    return
                yield Path(place, name)


def _assigns_kernel(tree: ast.Module) -> bool:
    named = (target for node in tree.body if isinstance(node, ast.Assign) for target in node.targets)
    annotated = (node.target for node in tree.body if isinstance(node, ast.AnnAssign))
    return any(isinstance(target, ast.Name) and target.id == "KERNEL" for target in (*named, *annotated))


def _runs(tree: ast.Module) -> bool:
    """Return whether running the file has an effect: a top-level call, or an ``if __name__ == ...`` block."""
    statements = [node for node in tree.body if isinstance(node, ast.Expr | ast.For | ast.With | ast.While)]
    guards = [node for node in tree.body if isinstance(node, ast.If) and "__name__" in ast.unparse(node.test)]
    return bool(guards) or any(isinstance(each, ast.Call) for node in statements for each in ast.walk(node))


def _has_function(tree: ast.Module) -> bool:
    functions = (node for node in tree.body if isinstance(node, ast.FunctionDef))
    return any(ast.unparse(each).split("(")[0].endswith("jit") for node in functions for each in node.decorator_list)
