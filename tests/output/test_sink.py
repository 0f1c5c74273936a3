"""What reaches a terminal: compared with Unicode's own tables, GitHub's rules and the encodings that Python has."""

import io
import json
import sys
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kprof.output.csv_cells import guarded
from kprof.output.sink import (
    CleanStream,
    StyledStream,
    clean,
    clean_streams,
    command_stream,
    document,
    encodable,
    no_commands,
    one_line,
)
from kprof.output.status_line import StatusLine
from kprof.output.terminal import terminal

HOSTILE = "k\x1b]0;gone\x07\x9b31m\u202etxt\n::error file=x::boom"
# Invisible and ignored, though Unicode's category does not say so.
FILLERS = "\u034f\u115f\u1160\u3164\uffa0\ufe0f\U000e0100"


def test_every_control_and_format_character_is_escaped():
    """Against ``unicodedata``: Cc but tab and newline, Cf, Cs, Zl and Zp, and nothing that can be seen."""
    for code in range(sys.maxunicode + 1):
        character = chr(code)
        category = unicodedata.category(character)
        escaped = clean(character) != character
        if category in {"Cc", "Cf", "Cs", "Zl", "Zp"} and character not in "\t\n":
            assert escaped, hex(code)
        elif (category[0] in "LNPS" and category != "Lo") or character in "\t\n ":
            assert not escaped, hex(code)
    assert all(clean(character) != character for character in FILLERS)


@given(st.text())
def test_clean_text_stays_clean_and_printable(text):
    """Once is enough, what it makes can be printed, and plain text is left alone."""
    assert clean(clean(text)) == clean(text)
    assert all(c.isprintable() or c in "\t\n" or not c.isascii() for c in clean(text))
    assert "\n" not in one_line(text)
    clean(text).encode()


def test_escapes():
    """As Python writes them; a byte of a file name that is not UTF-8 as that byte."""
    assert one_line(HOSTILE) == r"k\x1b]0;gone\x07\x9b31m\u202etxt\n::error file=x::boom"
    assert clean(b"caf\xe9".decode(errors="surrogateescape")) == r"caf\xe9"
    assert clean("\U000e0041") == r"\U000e0041"


@pytest.mark.parametrize(
    ("character", "escape"),
    [
        ("\t", r"\t"),
        ("\xad", r"\xad"),
        ("\u061c", r"\u061c"),
        ("\ufeff", r"\ufeff"),
        ("\udc7f", r"\udc7f"),
        ("\udc80", r"\x80"),
        ("\udcff", r"\xff"),
        ("\udd00", r"\udd00"),
        ("\U000110bd", r"\U000110bd"),
    ],
    ids=ascii,
)
def test_the_escape_of_a_character(character, escape):
    """As long as the code point needs; Python reads it back, but for bytes of file names."""
    assert one_line(character) == escape
    if not escape.startswith(r"\x8") and escape != r"\xff":
        assert escape.encode().decode("unicode_escape") == character


@pytest.mark.parametrize("code", [0x7F, 0xAD, 0x61C, 0xFEFF, 0x110BD, 0x13430, 0x1D173, 0xE0041, 0xE01EF])
def test_json_s_escape_of_a_character(code):
    """Beyond 16 bits it is a pair of surrogates."""
    shown = document(json.dumps(chr(code), ensure_ascii=False))
    assert shown.isascii()
    assert json.loads(shown) == chr(code)


@given(st.dictionaries(st.text(), st.text()))
def test_json_on_standard_output_says_the_same(found):
    """Whatever is escaped, a reader of JSON gets it back."""
    text = json.dumps(found, ensure_ascii=False)
    shown = document(text)
    assert json.loads(shown) == json.loads(text)
    assert clean(shown) == shown


@pytest.mark.parametrize(
    ("line", "shown"),
    [
        ("::error::boom", r"\::error::boom"),
        ("  \t::error file=x::boom", "  \t\\::error file=x::boom"),
        ("\x1b[31m::stop-commands::t", "\x1b[31m\\::stop-commands::t"),
        ("one\n::add-mask::two\nthree", "one\n\\::add-mask::two\nthree"),
        ("a ##[error]b", r"a #\#[error]b"),
        ("##vso[task.complete]", r"#\#vso[task.complete]"),
        ("at::native::copy", "at::native::copy"),
        ("# heading ## [x]", "# heading ## [x]"),
    ],
)
def test_commands_of_ci_services(line, shown):
    """GitHub takes a line whose first characters but blanks are two colons; Azure's marks may stand anywhere."""
    assert no_commands(line) == shown


@pytest.mark.parametrize("encoding", ["ascii", "latin-1", "cp1252", "cp437", "utf-8"])
def test_every_encoding_takes_every_text(encoding):
    """Boxes, bars and arrows become ASCII where the encoding lacks them; the rest becomes escapes."""
    text = "512 → 168  ██░░  ├─┤ ≤ 3 \u00b5s … 漢 · \u00d7"
    shown = encodable(text, encoding)
    shown.encode(encoding)
    if encoding == "ascii":
        assert shown == "512 -> 168  ##..  +-+ <= 3 us ... \\u6f22 - x"
    if encoding == "utf-8":
        assert shown == text


def test_what_rich_draws_with_is_one_character_in_ascii():
    """Tables stay aligned: boxes, rules and bars have an ASCII character of the same width; checks are words."""
    from rich import box

    names = ("ROUNDED", "HEAVY_HEAD", "SIMPLE", "MINIMAL", "SQUARE", "HEAVY")
    drawn = {character for name in names for character in str(getattr(box, name))} - set(" \n")
    assert {encodable(character, "ascii") for character in drawn} == {"-", "|", "+"}
    assert encodable("─│┼▁▊✓✗", "ascii") == "-|+#=okx"
    signs = {
        "→": "->", "←": "<-", "…": "...", "·": "-", "\u00d7": "x", "◄": "<", "≤": "<=", "≥": ">=", "±": "+-", "µ": "u",
        "μ": "u", "\u2013": "-", "█": "#", "▉": "#", "▓": "#", "▒": "=", "░": ".", "▏": "|", "●": "*", "○": "o",
        "■": "#",
    }  # fmt: skip
    assert {sign: encodable(sign, "ascii") for sign in signs} == signs
    assert encodable("~", "cp037") == "~"


def test_encodings_that_are_not_known_and_streams_without_one():
    """ASCII is written to the first; a stream in memory takes all; any other what its encoding has."""
    assert encodable("µ → 漢", "no-such-encoding") == "u -> \\u6f22"
    assert encodable("µ → 漢", None) == "µ → 漢"
    behind = io.TextIOWrapper(io.BytesIO(), encoding="latin-1")
    StyledStream(behind).write("\u00b5 → 3")
    behind.flush()
    assert behind.buffer.getvalue() == b"\xb5 -> 3"


def test_streams_clean_what_they_are_given(monkeypatch):
    """``print`` cannot forget it; commands of our own have their way out; the streams are put back."""
    out = io.StringIO()
    monkeypatch.setattr(sys, "stdout", out)
    with clean_streams():
        assert isinstance(sys.stdout, CleanStream)
        print("name", HOSTILE)
        sys.stdout.writelines([HOSTILE, "\n"])
        command_stream(sys.stdout).write("::error::ours\x1b\n")
        StyledStream(sys.stdout).write("\x1b[31mred\x1b[0m\n")
    assert sys.stdout is out
    shown = r"k\x1b]0;gone\x07\x9b31m\u202etxt" + "\n\\::error file=x::boom\n"
    assert out.getvalue() == f"name {shown}{shown}::error::ours\\x1b\n\x1b[31mred\x1b[0m\n"


class _Screen(io.StringIO):
    def isatty(self):
        return True


def test_consoles_style_and_take_no_orders(monkeypatch):
    """Styles become sequences, sequences in text are shown; in tables and in plain lines."""
    from rich.table import Table
    from rich.text import Text

    screen = _Screen()
    monkeypatch.setattr(sys, "stdout", screen)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.delenv("NO_COLOR", raising=False)
    console = terminal()
    table = Table.grid()
    table.add_row(Text(HOSTILE, style="red"))
    console.print(table)
    console.print(HOSTILE, style="bold", markup=False)
    shown = screen.getvalue()
    assert "\x1b[31m" in shown
    assert "\x1b[1m" in shown
    assert "\x1b]" not in shown
    assert not set("\x07\x9b\u202e") & set(shown)
    assert not any(line.lstrip("\x1b[0123456789;m ").startswith("::") for line in shown.splitlines())


def test_status_lines_draw_names_as_text():
    """The line is ours to draw and to clear; the name in it is not."""
    screen = _Screen()
    with StatusLine(screen) as line:
        line.draw(f"3 of 4: {HOSTILE}")
    assert screen.getvalue().count("\r\x1b[K") == 2
    assert not {"\x07", "\x9b", "\u202e", "\n"} & set(screen.getvalue())


@pytest.mark.parametrize(
    ("value", "cell"),
    [
        ("=cmd|' /C calc'!A0", "'=cmd|' /C calc'!A0"),
        ("@SUM(A1)", "'@SUM(A1)"),
        ("+1+1", "'+1+1"),
        ("-kernel", "'-kernel"),
        ("\tx", "'\tx"),
        ("\rx", "'\rx"),
        ("-1.5e3", "-1.5e3"),
        ("+2", "+2"),
        (-2, -2),
        (None, None),
        ("softmax", "softmax"),
    ],
)
def test_cells_that_a_spreadsheet_would_run(value, cell):
    """Guarded as OWASP says; numbers stay numbers."""
    assert guarded(value) == cell
