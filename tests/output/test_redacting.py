"""Secrets in command lines."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kprof.output.redacting import MARK, redacted, redacted_text


@pytest.mark.parametrize(
    "command",
    [
        ["--token=S3CRET"],
        ["--hf-token", "S3CRET"],
        ["--hf_token=S3CRET"],
        ["-password", "S3CRET"],
        ["--password", "S3CRET"],
        ["--wandb.api_key", "S3CRET"],
        ["env", "WANDB_API_KEY=S3CRET", "python"],
        ["AWS_SECRET_ACCESS_KEY=S3CRET"],
        ["OPENAI_KEY=S3CRET"],
        ["logging.wandb_token=S3CRET"],
        ["https://me:S3CRET@host/path"],
        ["--url=https://S3CRET@host/path?x=1"],
        ["https://host/path?api_key=S3CRET&x=1"],
        ["-H", "Authorization: Bearer S3CRET"],
        ["hf_S3CRETS3CRET"],
        ["--data=ghp_S3CRETS3CRET0000"],
    ],
    ids=" ".join,
)
def test_a_secret_is_not_kept(command):
    """Options, variables, URLs, headers, the tokens of services."""
    found = redacted(command)
    assert "S3CRET" not in " ".join(found)
    assert MARK in " ".join(found)
    assert len(found) == len(command)
    assert "S3CRET" not in redacted_text(" ".join(command))


@pytest.mark.parametrize(
    "command",
    [
        ["python", "train.py", "--max-tokens", "4096"],
        ["--max_new_tokens=128", "--tokenizer", "gpt2", "--num-tokens=8", "--tokens-per-step", "4"],
        ["--pad-token-id=0", "--author", "me", "--key-dim=64"],
        ["https://host/path?x=1", "a@b.c", "M=4096", "--arch=gfx942", "-k", "v"],
    ],
    ids=" ".join,
)
def test_what_is_no_secret_is_kept(command):
    """Language models have tokens and attention has keys."""
    assert redacted(command) == command


@pytest.mark.parametrize(
    ("command", "kept"),
    [
        (["--token", "a", "b", "--secret=c"], ["--token", "<redacted>", "b", "--secret=<redacted>"]),
        (["--token", "--verbose", "a"], ["--token", "--verbose", "a"]),
        (["--token", "-v", "a", "--auth"], ["--token", "-v", "a", "--auth"]),
        (["--max-tokens", "a", "-max-token", "b"], ["--max-tokens", "a", "-max-token", "b"]),
        (["+token=a", "++trainer.api_key=b"], ["+token=<redacted>", "++trainer.api_key=<redacted>"]),
        (["MY_PAT=a", "PAT=b", "PATH=c", "KEY=d"], ["MY_PAT=<redacted>", "PAT=<redacted>", "PATH=c", "KEY=<redacted>"]),
        (["s3://a:b@c/d?x=1"], ["s3://<redacted>@c/d?x=1"]),
        (["http://h/?u=1&token=a&v=2"], ["http://h/?u=1&token=<redacted>&v=2"]),
        (["--header=X-Api-Key: a"], ["--header=X-Api-Key: <redacted>"]),
        (["say sk-abcdefgh now"], ["say <redacted> now"]),
        (["sk-short", "task-12345678"], ["sk-short", "task-12345678"]),
    ],
    ids=" ".join,
)
def test_what_becomes_of_a_command_line(command, kept):
    """The value goes; its name, and what comes before and behind it, stay."""
    assert redacted(command) == kept


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("run  --token a\t--lr 3\n", "run  --token <redacted>\t--lr 3\n"),
        ("Authorization: Bearer abc, next", "Authorization: Bearer <redacted>, next"),
        ("authorization:Basic abc", "authorization:Basic <redacted>"),
        ("with bearer abc", "with bearer <redacted>"),
        ("x-api-key: abc", "x-api-key: <redacted>"),
        ("curl -H PRIVATE-TOKEN: abc x", "curl -H PRIVATE-TOKEN: <redacted> x"),
        ("{'X-Auth-Token': 'abc', 'b': 1}", "{'X-Auth-Token': '<redacted>', 'b': 1}"),
        ('{"Cookie": "abc"}', '{"Cookie": "<redacted>"}'),
        (
            "unexpected token: (, authorization failed, the key: 3",
            "unexpected token: (, authorization failed, the key: 3",
        ),
        ("['--token', 'a b', '--lr', '3']", "['--token', '<redacted>', '--lr', '3']"),
        ("['-token=a b', 'c']", "['-token=<redacted>', 'c']"),
        ('["--lr", "3", "--hf-token", "a"]', '["--lr", "3", "--hf-token", "<redacted>"]'),
    ],
)
def test_what_becomes_of_a_text(text, kept):
    """Blanks and quotation marks stay where they are."""
    assert redacted_text(text) == kept


@given(st.lists(st.text(max_size=30), max_size=6))
def test_any_command_line(command):
    """As many arguments as before, and twice is once."""
    once = redacted(command)
    assert len(once) == len(command)
    assert len(redacted(once)) == len(once)
    for part in once:
        assert len(part) <= 200


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("Command '['train.py', '--token=S3CRET', '--lr=3']' failed", "--lr=3"),
        ("Command '['train.py', '--token', 'S3CRET word', '--lr', '3']' failed", "'--lr', '3'"),
        ('raise ValueError("--api-key=S3CRET")', '")'),
        ("('WANDB_API_KEY=S3CRET S3CRET', 'x')", "'x'"),
        ("['--max-tokens=64', '--hf-token=S3CRET']", "--max-tokens=64"),
    ],
)
def test_words_in_quotes_of_an_error(text, kept):
    """As subprocess and tracebacks write a command line."""
    found = redacted_text(text)
    assert "S3CRET" not in found
    assert kept in found
    assert redacted_text(found) == found


@pytest.mark.parametrize(
    "piece", ["a-", "a.", "--a-", "token-", "'--a', ", "bearer ", "http://", "&x=token", "a-token:"]
)
def test_a_long_text_takes_no_longer_than_its_length(piece):
    """A dump of a compiler has megabytes. Eight times as much takes about eight times as long, not sixty-four."""
    seconds = []
    for count in (4_000, 32_000):
        began = time.process_time()
        redacted_text(piece * count)
        seconds.append(time.process_time() - began)
    assert seconds[1] < 24 * max(seconds[0], 0.02)
