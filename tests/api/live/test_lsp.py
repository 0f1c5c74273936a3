"""``kprof serve lsp``, driven by pygls' own client over standard input and output."""

import asyncio
import sys
from pathlib import Path
from typing import Any

import pytest

import kprof
from kprof.api.live.editor import SourceLineCost, add_costs, remark_of, remarks
from kprof.errors import CompileError

types = pytest.importorskip("lsprotocol.types")
client_module = pytest.importorskip("pygls.lsp.client")

SOFTMAX = Path(__file__).parents[3] / "kernels" / "softmax.py"
SLOW = "result = power / total[:, None]"


async def _driven(folder: Path) -> dict[str, Any]:
    """One editor's session with a copy of the bundled softmax: what came back at each step."""
    file = folder / "softmax.py"
    text = SOFTMAX.read_text(encoding="utf-8")
    file.write_text(text, encoding="utf-8")
    uri, found = file.as_uri(), {}
    client = client_module.LanguageClient("test", "1")
    published: asyncio.Queue[Any] = asyncio.Queue()
    said: asyncio.Queue[Any] = asyncio.Queue()

    @client.feature(types.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS)
    def publish(params: Any) -> None:
        published.put_nowait(params)

    @client.feature(types.WINDOW_SHOW_MESSAGE)
    def say(params: Any) -> None:
        said.put_nowait(params)

    await client.start_io(
        sys.executable, "-m", "kprof", "serve", "lsp", "--arch", "MI300X", "--jobs", "1", "--budget", "5"
    )
    try:
        await client.initialize_async(types.InitializeParams(types.ClientCapabilities()))
        client.initialized(types.InitializedParams())
        item = types.TextDocumentItem(uri, types.LanguageKind.Python, 1, text)
        client.text_document_did_open(types.DidOpenTextDocumentParams(item))
        document = types.TextDocumentIdentifier(uri)

        async def save(content: str) -> Any:
            file.write_text(content, encoding="utf-8")
            client.text_document_did_save(types.DidSaveTextDocumentParams(document))
            return await asyncio.wait_for(published.get(), 120)

        def at(line: int) -> Any:
            return types.Position(line - 1, 8)

        slow = next(number for number, line in enumerate(text.splitlines(), 1) if SLOW in line)
        found["line"] = slow
        found["before"] = await client.text_document_hover_async(types.HoverParams(document, at(slow)))
        found["saved"] = await save(text)
        found["hover"] = await client.text_document_hover_async(types.HoverParams(document, at(slow)))
        found["hover of a comment"] = await client.text_document_hover_async(types.HoverParams(document, at(1)))
        action = types.CodeActionParams(document, types.Range(at(slow), at(slow)), types.CodeActionContext([]))
        (found["offer"],) = await client.text_document_code_action_async(action)
        run = types.ExecuteCommandParams(found["offer"].command, found["offer"].arguments)
        await client.workspace_execute_command_async(run)
        found["said"] = await asyncio.wait_for(said.get(), 60)
        found["actions"] = await client.text_document_code_action_async(action)
        found["broken"] = await save(text.replace(SLOW, "result = power / totl[:, None]"))
    finally:
        await client.shutdown_async(None)
        client.exit(None)
        await asyncio.wait_for(client.stop(), 30)
    return found


@pytest.fixture(scope="module")
def driven(tmp_path_factory):
    pytest.importorskip("triton")
    return asyncio.run(_driven(tmp_path_factory.mktemp("editor")))


@pytest.mark.triton
def test_findings_are_diagnostics_on_save(driven):
    """Those of ``kprof.analyze``, each on its line, and one that says what the kernel comes to."""
    (own,) = kprof.analyze("softmax", arch="MI300X").kernels
    found = {(one.code, one.range.start.line + 1) for one in driven["saved"].diagnostics if one.code}
    assert found == {(one.rule, one.location.line) for one in own.findings}
    (whole,) = [one.message for one in driven["saved"].diagnostics if not one.code]
    assert whole.startswith("softmax: 34.9 µs modelled on MI300X") or f"{own.resources.vgpr} VGPRs" in whole
    assert driven["before"] is None


@pytest.mark.triton
def test_a_line_tells_what_it_costs(driven):
    """The division is ten instructions and more; a docstring is none."""
    words = driven["hover"].contents.value
    assert "% of the predicted time" in words
    assert "instructions, none moves a spilled register" in words
    assert driven["hover of a comment"] is None


@pytest.mark.triton
def test_a_configuration_is_looked_for_and_pasted(driven):
    """The offer is to look; once something is found, its line of code is inserted."""
    assert driven["offer"].command == "kprof.search"
    assert driven["said"].message.startswith("kprof: ")
    pasted = [one for one in driven["actions"] if isinstance(one, types.CodeAction)]
    assert bool(pasted) == ("no faster" not in driven["said"].message)
    for one in pasted:
        ((edit,),) = one.edit.changes.values()
        assert edit.new_text.startswith("triton.Config({")
        assert edit.range.start.line == driven["line"] - 1


@pytest.mark.triton
def test_an_error_of_the_compiler_stands_on_its_line(driven):
    (one,) = driven["broken"].diagnostics
    assert one.severity == types.DiagnosticSeverity.Error
    assert one.range.start.line == driven["line"] - 1
    assert "totl" in one.message


def test_instructions_count_for_each_line_of_an_inlined_call_once():
    """Spills are LLVM's comments; what comes from other files counts for its callers here."""
    spill = [["k", "scratch_store_dword"], ["c", "; 4-byte Folded Spill"]]
    lines = [
        [1, [["k", "v_add_f32"]], [[1, 7], [0, 3]], 0.25, "valu", "", 1],
        [2, spill, [[0, 3], [0, 3]], 0.5, "scratch", "", 1],
        [None, [["na", ".LBB0_1:"]], [], None, "", "", None],
    ]
    costs: dict[int, SourceLineCost] = {}
    add_costs(costs, {"files": ["/a/k.py", "/a/other.py"], "lines": lines}, "/a/k.py")
    assert costs == {3: SourceLineCost(2, 1, 0.75)}
    assert costs[3].words == "75 % of the predicted time, 2 instructions, 1 of them move spilled registers"


def test_a_finding_elsewhere_stands_at_the_kernel():
    finding = {
        "rule": "KP301",
        "name": "spill-in-loop",
        "severity": "warning",
        "message": "spills",
        "location": {"file": "/lib/x.py", "line": 9},
    }
    kernel = {"name": "k", "arch": "gfx942", "source": {"file": "/a/k.py", "line": 4}, "findings": [finding]}
    whole, found = remarks(kernel, "/a/k.py")
    assert (whole.line, whole.message) == (4, "k: no figures are known")
    assert (found.line, found.rule, found.message) == (4, "KP301", "spills. [/lib/x.py:9]")


def test_an_error_without_a_place_stands_at_the_top():
    assert remark_of(CompileError("no Triton", hint="pip install triton")).line == 1
    assert remark_of(CompileError("bad", place="line 12")).line == 12


PROGRAM = """
import torch, triton, triton.language as tl

@triton.jit
def scale(x, y, n, B: tl.constexpr):
    at = tl.program_id(0) * B + tl.arange(0, B)
    tl.store(y + at, tl.load(x + at, at < n) * 2, at < n)

x = torch.empty(4096, device="cuda")
scale[(4,)](x, torch.empty_like(x), 4096, B=1024)
"""


@pytest.mark.triton
def test_a_program_without_a_kernel_is_recorded_on_request(tmp_path):
    """Saving runs nothing of it but its import; the action runs it and shows its launches."""
    pytest.importorskip("torch")
    from kprof.api.live.editor import Editor
    from kprof.api.live.session import Session

    file = tmp_path / "program.py"
    file.write_text(PROGRAM)
    with Session(jobs=1, timeout=300) as session:
        editor = Editor(session, "MI300X")
        saved = asyncio.run(editor.look(str(file)))
        assert saved.runs
        assert [one.severity for one in saved.remarks] == ["note"]
        recorded = asyncio.run(editor.record(str(file)))
        assert any(one.message.startswith("scale: ") and "modelled on" in one.message for one in recorded.remarks)
        assert 7 in recorded.lines
        assert not recorded.runs
